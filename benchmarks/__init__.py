"""How fast Interpose is, measured against the floor of the interpreter and against its peers."""
