"""A platform in memory that passes the venue contract."""
