"""The composition root: settings, wiring, command line."""

__version__ = "0.1.0"
