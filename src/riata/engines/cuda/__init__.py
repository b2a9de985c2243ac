"""Passes on a GPU."""
