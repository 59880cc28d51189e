"""Rehearsals of whole collections on known values, and their results."""
