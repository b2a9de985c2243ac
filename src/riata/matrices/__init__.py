"""Rows that lie on a device such as a GPU, and the few things that passes ask of them."""
