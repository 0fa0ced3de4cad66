"""Statistics: how far people and jury agree, and how models are rated; pure."""
