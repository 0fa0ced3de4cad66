"""What people read in a thread, as Markdown for every platform."""
