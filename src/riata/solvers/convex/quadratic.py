"""The minimum of a penalised quadratic over a working set, to the last digits if need be."""

from contextlib import nullcontext

from riata.kernels.quadratic import minimise
from riata.threads import one_blas_thread

LARGE = 3000  # coordinates from which on several threads pay for a factorisation


def minimise_quadratic(H, slope, l1, lower, w, precision):
    """See `kernels.quadratic.minimise`."""
    with one_blas_thread() if len(w) < LARGE else nullcontext():
        return minimise(H, slope, l1, lower, w, precision)
