"""The blanket bound as integrals of a complex function, with all their errors."""
