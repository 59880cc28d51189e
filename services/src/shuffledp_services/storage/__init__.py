"""Files on disk: databases with an owner and a layout, and parties' key files."""
