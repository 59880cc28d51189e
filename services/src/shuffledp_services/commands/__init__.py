"""Commands of the services, for `shuffledp` (entry points `shuffledp.commands`)."""
