"""Slack's forms: opened, filled in, and read."""
