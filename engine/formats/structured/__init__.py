"""`structured`: claims, cross-examination, closing, trace table."""
