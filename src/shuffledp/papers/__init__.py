"""What papers state: their bounds, tables and figures, and a court that tries them."""
