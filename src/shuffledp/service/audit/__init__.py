"""The auditor of a running collection: her canaries, her records, and what she sees."""
