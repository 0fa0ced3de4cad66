"""Pages: for reading debates, for looking at what is public, for labelling."""
