"""Prompt templates, a folder per format and one for the jury."""
