"""What a command costs as a hook: in each isolation, from a large host, warm, side by side, a thousand at once."""
