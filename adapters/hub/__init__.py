"""A dataset hub: where an export is published. Needs the extra `hub`."""
