"""The best model of at most k features.

Read `best_k` first, and then what it calls:

- `local` has what a loss is about a point, as a quadratic over some of the features, and its minimum over chosen ones.
- `search` adds, drops and swaps features by that quadratic.
- `proof` has the bound on all other models of k features, and the search that closes what it leaves (`certified`).
- `best_k_refits` is for losses that are not quadratic, `best_groups` for whole groups, and `best_coupled` for losses
  with several margins a row, or whose rows go together. `best_per_size`, `coupled_per_size` and `rough_per_size` make
  models of every size up to k.
"""
