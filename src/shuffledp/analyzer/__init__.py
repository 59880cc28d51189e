"""From shuffled messages to estimates with standard errors."""
