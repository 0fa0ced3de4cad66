"""The blind panel: who sits, what they say, and what it amounts to."""
