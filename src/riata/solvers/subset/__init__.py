"""The best model of at most k features."""
