"""What a fleet costs, and how much it carries."""
