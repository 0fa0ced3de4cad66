"""Votes: questions, the log of what people choose, what stands, and the close."""
