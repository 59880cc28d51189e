"""How many people hold each string of a list."""
