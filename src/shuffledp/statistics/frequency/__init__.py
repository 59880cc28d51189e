"""How often each category occurs."""
