"""What an event costs with the resident engine: by its clients, over HTTP, and with many at once."""
