"""What the command line prints."""
