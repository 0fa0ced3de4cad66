"""One debate on this machine, in a terminal."""
