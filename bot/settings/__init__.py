"""Settings: sources, values, sections, and contradictions."""
