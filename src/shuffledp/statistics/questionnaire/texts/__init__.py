"""Unlisted texts: a search over hashed prefixes, and a test of what it finds."""
