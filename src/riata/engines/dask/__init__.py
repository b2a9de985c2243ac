"""Passes on the workers of a Dask cluster.

- Here: `opening` and `collections` make the dataset, which is `on_workers`; `cluster` runs tasks and explains
  failures, `payload` sends functions, `doubts` looks at sums that are not finite.
- There: `worker` has the tasks, `parts` the rows that they are about, `marks` what is read of these for folds.
"""
