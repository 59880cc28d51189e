"""What tables and figures of the paper compute."""
