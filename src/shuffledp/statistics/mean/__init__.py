"""The mean of bounded numbers."""
