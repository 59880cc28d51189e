"""Loaders of tables and public data sets, with checksums, and synthetic data."""
