"""`rostrum init`: asks for tokens and a backend, tries them, and writes `.env`."""
