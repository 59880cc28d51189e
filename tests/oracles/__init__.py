"""Slow and obvious computations to compare with; no line is shared with the package."""
