"""Methods that step on single rows or batches of them."""
