"""What a chat command is and what it answers: values, and the same in words."""
