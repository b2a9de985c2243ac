"""Solvers of convex problems, each with its certificate.

Read `exact` first, and then what it calls:

- `newton` makes one Newton step on the working set after the other (`working_set`); `alpha_path` does so for many
  alphas at a time. `judge` certifies their points.
- `inner_method` chooses what minimises over the working set: the curvature of its columns, in `quadratics`, or a
  copy of the columns themselves, in `columns`.
- `compiled_paths` finds the models of small data, one or many, in one compiled loop, before any of these.
- `smoothing`, `from_above`, `smooth_step` and `watched` are for losses and penalties with which plain steps crawl.

`cd` is the paper's coordinate descent.
"""
