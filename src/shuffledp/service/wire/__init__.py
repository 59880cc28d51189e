"""What devices, shuffler and analyst send to each other."""
