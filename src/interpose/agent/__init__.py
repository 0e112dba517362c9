"""The reference agent: a small coding agent that uses only the public names of Interpose."""
