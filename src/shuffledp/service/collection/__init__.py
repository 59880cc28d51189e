"""What each party does next: no sockets, no clocks, no entropy of its own."""
