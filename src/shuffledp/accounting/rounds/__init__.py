"""Composition of several shuffles."""
