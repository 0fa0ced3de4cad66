"""`rostrum check`: what would keep a debate from being held, and what to do."""
