"""Loaders of real data, with checksums."""
