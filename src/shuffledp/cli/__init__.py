"""The command line: thin commands over the same functions."""
