"""Chen, Cao, Ge (2023): E-APES."""
