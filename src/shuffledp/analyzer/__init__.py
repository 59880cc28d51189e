"""Estimators: estimates with standard errors from shuffled messages."""
