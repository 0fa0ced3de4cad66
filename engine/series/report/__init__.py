"""The report of a series: what it took, what it found, and what that cannot say."""
