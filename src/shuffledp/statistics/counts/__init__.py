"""Counts of people per bucket, in groups of buckets, at central targets."""
