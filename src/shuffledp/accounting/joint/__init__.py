"""Certification of several protocols that the same people take part in."""
