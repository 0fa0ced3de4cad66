"""Answers to chat commands: values that render themselves as Markdown."""
