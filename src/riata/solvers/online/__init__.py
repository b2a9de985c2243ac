"""Methods that learn rows as they come, in one pass."""
