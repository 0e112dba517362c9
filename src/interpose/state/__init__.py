"""Files in the user's own directories that outlive a process: where they are, and locked JSON files per session."""
