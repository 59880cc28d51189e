"""State machines of shuffler and analyst, without sockets, clocks or randomness."""
