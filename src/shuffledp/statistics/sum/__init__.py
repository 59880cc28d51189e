"""How many people say yes."""
