"""What a hook runs. A handler decides nothing and knows no event."""
