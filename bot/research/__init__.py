"""Experiments, and what is learned from them."""
