"""Catalogues of what people read, one file a language."""
