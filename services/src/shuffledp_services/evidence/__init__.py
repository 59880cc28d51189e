"""The audit of a running collection: canaries, observations, evidence."""
