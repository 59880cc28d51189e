"""Demonstrations of whole collections on one machine, with audit and sabotage."""
