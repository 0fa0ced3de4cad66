"""What pages show, as frozen values, from the database or from an export; no HTML."""
