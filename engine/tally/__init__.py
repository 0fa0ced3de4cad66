"""What votes amount to: questions and their options, the fold of a log, the count. Pure."""
