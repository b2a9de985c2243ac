"""Solvers: one file for each algorithm, by kind.

A solver is a generator of points (`iterate`), one after each pass, that never stops by itself. `registry` lists all of
them with what they need of penalties and losses, which `capabilities` compares with what these have.

- `convex`: the minimum with a certificate (`exact`), and whole paths of them.
- `subset`: the best model of at most k features (`best_k`), with a bound on all others.
- `pursuits`: textbook methods for k features.
- `stochastic`: steps on single rows or batches.
- `online`: one pass over rows as they come.
"""
