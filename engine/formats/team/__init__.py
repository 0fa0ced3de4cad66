"""`team`: four against four in four stages."""
