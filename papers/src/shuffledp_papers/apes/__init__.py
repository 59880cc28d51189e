"""Liu et al. (2023): APES and S-APES."""
