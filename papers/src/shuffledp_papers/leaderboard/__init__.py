"""Published bounds beside certificates and attacks on a fixed grid of collections."""
