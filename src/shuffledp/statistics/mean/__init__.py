"""What the mean of bounded numbers is."""
