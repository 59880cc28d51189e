"""Operators' side: sets tasks up, signs them, rotates keys and runs services."""
