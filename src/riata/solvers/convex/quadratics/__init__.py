"""Penalised quadratics whose matrix is in memory, and the ways to their minimum."""
