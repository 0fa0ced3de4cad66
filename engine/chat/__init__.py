"""Chat commands: who may do what, on which debate, with which settings."""
