"""Attacks: proven lower bounds, one way of looking at shuffled messages per file."""
