"""Frequencies of categories."""
