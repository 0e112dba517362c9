"""The time that a hook adds to each tool call in real coding agents."""
