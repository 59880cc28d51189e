"""Numbers of people who hold each string of a list."""
