"""Reports of a collection: terminal tables, pictures, CSV, one-file HTML."""
