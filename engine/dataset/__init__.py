"""Exports: the tables, the card, and how both are written."""
