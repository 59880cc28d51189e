"""The auditor of a running collection: canaries, records, evidence and verification."""
