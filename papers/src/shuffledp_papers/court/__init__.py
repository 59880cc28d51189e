"""Every published claim against exact attacks on concrete collections."""
