"""Messages between devices, shuffler, analyst and enroller."""
