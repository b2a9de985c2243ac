"""Where passes run that do not run here: each a kind of dataset, which solvers cannot tell from any other."""
