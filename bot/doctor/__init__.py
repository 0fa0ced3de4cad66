"""`rostrum check`: finds what would keep debates from running, and says how to fix it."""
