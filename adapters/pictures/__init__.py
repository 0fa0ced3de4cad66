"""Pictures as files that every program can show."""
