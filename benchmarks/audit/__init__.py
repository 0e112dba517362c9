"""What it costs to record firings and to count them; see the README one level up."""
