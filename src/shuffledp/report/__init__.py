"""Reports of a collection: terminal tables, pictures, one-file HTML."""
