"""Slack's forms: built, opened, and read."""
