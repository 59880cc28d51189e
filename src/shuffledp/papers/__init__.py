"""What papers state: bounds as printed, their tables and figures, and a court that tries them."""
