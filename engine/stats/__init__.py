"""Statistics: agreement of people and jury, and ratings of models; pure."""
