"""The decorator of every kernel."""

from collections.abc import Callable
from typing import Any

from numba import njit

from riata.kernels.disk_cache import DiskCache


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit(**options)`, with machine code that is kept on disk under a hash of all kernels' code.

    Functions whose names begin with an underscore are for other kernels only. They, and all, go without wrappers that
    nobody calls: a wrapper takes a tenth of the time to compile.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        private = function.__name__.startswith("_")
        kernel: Any = njit(no_cpython_wrapper=private, no_cfunc_wrapper=True, **options)(function)
        # with NUMBA_DISABLE_JIT it is the function itself; a numba that keeps its cache elsewhere compiles every time
        if hasattr(kernel, "_cache"):
            kernel._cache = DiskCache(f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}")
        return kernel

    return decorate
