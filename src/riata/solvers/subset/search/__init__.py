"""The search for k columns by steps that add, drop and swap them."""
