"""Programs of five lines, printed and run as they stand."""
