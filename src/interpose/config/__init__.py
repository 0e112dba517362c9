"""Configuration: what people write about hooks, to hooks."""
