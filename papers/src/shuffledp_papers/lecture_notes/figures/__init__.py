"""Tables and figures of the lecture notes, one file each."""
