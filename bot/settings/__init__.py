"""Settings: sources, sections, and what contradicts what."""
