"""How a fit ended, as types: why it stopped (`reasons`, `stop`), what was proved (`proofs`), and both in words."""
