"""Learning from rows as they come: streams, files that are read once, and folders that grow."""
