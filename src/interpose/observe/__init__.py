"""What happened: told to whoever listens, and never in the way of a firing."""
