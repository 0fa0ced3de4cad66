"""What `rostrum bench` runs; a wheel has no other benchmark."""
