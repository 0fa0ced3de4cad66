"""Series: many debates as one experiment, from one file."""
