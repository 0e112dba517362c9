"""What a command of the command line costs, from its start to its end; and loading many hooks."""
