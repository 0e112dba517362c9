"""What a tool call of 1 ms costs with hooks in an agent of a framework, beside the same agent without them."""
