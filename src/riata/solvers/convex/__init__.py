"""Solvers of convex problems, each with its certificate."""
