"""Local randomizers, with their exact densities, covers and moments."""
