"""Batches and uniform permutations of messages and levels."""
