"""Labelling: people read debates blind on pages, and say who debated better."""
