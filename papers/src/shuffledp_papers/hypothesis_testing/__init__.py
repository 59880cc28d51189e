"""Liu et al. (2024): personal budgets by hypothesis tests."""
