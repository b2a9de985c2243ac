"""Minima over a working set whose columns are in memory, and what goes with steps along them."""
