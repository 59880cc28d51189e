"""The certified upper bound: theorems, and the integrals and sums they come to."""
