"""Sums of independent coins, at any number of people."""
