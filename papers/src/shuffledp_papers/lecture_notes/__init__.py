"""Lecture notes on the local and the shuffle model."""
