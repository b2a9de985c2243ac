"""How a fit ended, as types that code can read, and as sentences that are made of these for people.

- Why it stopped: `reasons` has the names, `stop` one of them with its numbers.
- What was proved: `proofs`, of the model alone or of all others (bounds); `rest` is about features that were never
  looked at.
- How a model of a path was chosen: `choices`, with `folds_used` and `score_names`; why a path ended: `path_end`.
- In words: `sentences` and `choice_sentences`. As plain values for files: `plain`.
"""
