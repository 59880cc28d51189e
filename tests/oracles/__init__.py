"""Slow, obvious reference computations, which share no line with the package."""
