"""Commands of the papers, for `shuffledp` (entry points `shuffledp.commands`)."""
