"""What a session costs a host whose tools take a millisecond and that has no hooks."""
