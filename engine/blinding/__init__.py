"""What jurors and voters may read: neutral names, and no model's own."""
