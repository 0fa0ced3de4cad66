"""`rostrum bench votes`: crowds vote on a platform's double, and the bot is given a hard time."""
