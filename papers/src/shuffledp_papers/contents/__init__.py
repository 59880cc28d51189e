"""Contents of the papers, and the state of each item in this library."""
