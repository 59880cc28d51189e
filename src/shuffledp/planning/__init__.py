"""Which protocol to use: predicted errors and certified guarantees, side by side."""
