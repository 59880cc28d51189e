"""Sets of items among Poisson blanket messages."""
