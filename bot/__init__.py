"""The composition root: settings, wiring, command line."""
