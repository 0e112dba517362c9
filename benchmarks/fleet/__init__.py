"""What a fleet costs: forwarding the record while hooks fire, hooks of type nats, and pushes to many nodes."""
