"""The rows of a chunk, however they are stored and wherever they lie: one protocol for all that passes ask of them."""
