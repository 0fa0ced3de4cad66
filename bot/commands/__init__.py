"""The groups of commands. Each command does its own imports, so that help is instant."""
