"""What the papers contain, and what became of it here."""
