"""Settings: sources, sections, and contradictions."""
