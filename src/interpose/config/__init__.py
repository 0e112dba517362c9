"""Read configuration files: find them, check trust, parse them with positions, and build hooks."""
