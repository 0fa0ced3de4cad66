"""How a workspace installs Rostrum, and whose token speaks where."""
