"""Certified central guarantees, and the attacks that show how tight they are."""
