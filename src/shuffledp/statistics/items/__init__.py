"""How many people hold each item, of a set each."""
