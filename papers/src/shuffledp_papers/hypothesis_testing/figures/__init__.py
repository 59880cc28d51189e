"""Tables and figures of Liu et al. (2024), one file each."""
