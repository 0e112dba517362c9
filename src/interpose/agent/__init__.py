"""The reference agent: a small, real coding agent on the public names of Interpose."""
