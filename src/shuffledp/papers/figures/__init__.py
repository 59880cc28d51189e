"""Tables and figures of the papers, computed anew; one file each."""
