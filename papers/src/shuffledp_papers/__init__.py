"""Statements of papers: bounds, tables and figures, and checks of their claims."""
