"""How workspaces install Rostrum, and their tokens."""
