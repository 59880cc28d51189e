"""What several shuffles reveal together."""
