"""What it costs to fire a trusted configuration, and whether hooks run from its snapshot as they run in place."""
