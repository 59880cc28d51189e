"""Published protocols for counts in which people, or the shuffler, send noise messages."""
