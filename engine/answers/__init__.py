"""What a chat command answers: values that say themselves."""
