"""What a format's script may do, and the journaled steps below it."""
