"""The audit of a running collection: canaries, what was seen of them, evidence."""
