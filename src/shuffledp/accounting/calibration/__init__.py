"""Inverse problems: budgets, people and rounds for wanted central epsilons."""
