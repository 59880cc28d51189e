"""Counts of buckets among noise messages: exact pairs, their composition, and attacks."""
