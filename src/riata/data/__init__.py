"""Rows: what solvers see of them, and how they come about.

Read `dataset` first, the interface between data and solvers. Rows are read a `chunk` at a time; `facts` are what is
known of them, and `ledger` counts what was read.

- Kinds of datasets: `in_memory`; `out_of_core`, encoded a chunk at a time from a file (with `encoded_file`,
  `read_ahead` and `parallel`); `remote`, in other processes; `statistics`, sums in place of rows (by `gram`).
- From a source to a dataset: `opening` finds out what its columns are. `columns` has what makes features of one
  column, by its kind, and `encoding` is all of these together, as a model keeps them. `formats` reads files and
  tables, and `cells` tells what text in them means. `opened` remembers how to do it again.
- Targets: `target`, learnt by `target_learners`; `survival` and `trials` are kinds of them.
- What rows have beside: `offset`, and `row_marks`, which say what belongs together.
- Some rows of many: `folds`, by `fold_rules`, and `sample`. Some features of many: `features`, `some_features`.
- `budget` divides the memory among all of them.
"""
