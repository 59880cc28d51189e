"""Comparison of protocols: predicted errors beside certified guarantees."""
