"""Penalised quadratics whose matrix is in memory, and the ways to their minimum.

`curvature` makes them of data and sends each to what serves its penalty. Read `quadratic` first, for L1 penalties, and
`on_device`, which does the same on a GPU.
"""
