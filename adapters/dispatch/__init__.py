"""Where debates are run: in this process."""
