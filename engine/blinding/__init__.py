"""What jurors and voters may read: neutral names in place of the models' names."""
