"""Evidence from outside: tests that need nothing but the black box."""
