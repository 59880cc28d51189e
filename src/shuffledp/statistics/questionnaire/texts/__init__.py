"""Texts that nobody listed: a search over hashed prefixes, and a test of what it finds."""
