"""Tables for the terminal, pictures, one-file HTML."""
