"""A choice among very many categories, which a public hash maps to few buckets."""
