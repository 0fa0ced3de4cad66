"""`roundtable`: everyone drafts an answer, reads the others, and revises."""
