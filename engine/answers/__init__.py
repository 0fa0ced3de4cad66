"""What a chat command answers: values, and the same in words."""
