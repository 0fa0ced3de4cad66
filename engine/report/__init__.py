"""A whole debate as a page to read, print or publish."""
