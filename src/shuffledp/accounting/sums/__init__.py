"""Sums of independent Bernoulli draws, at any number of people."""
