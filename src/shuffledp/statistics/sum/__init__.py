"""The number of people who say yes."""
