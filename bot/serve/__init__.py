"""Processes that serve until they are stopped."""
