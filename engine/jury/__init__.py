"""The blind panel: its jurors, their ballots, and the verdict."""
