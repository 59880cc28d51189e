"""Mechanisms: what a device runs, its exact densities, its cover, its moments."""
