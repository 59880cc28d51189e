"""Tables and figures of E-APES, one file each."""
