"""Populations whose messages are of two kinds: bounds that agree with the worst data."""
