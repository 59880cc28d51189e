"""Tables and figures of APES, one file each."""
