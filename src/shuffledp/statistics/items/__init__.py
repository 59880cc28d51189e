"""Numbers of people who hold each item, from one set per person."""
