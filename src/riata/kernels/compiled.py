"""The decorator of every kernel: compiled by numba at its first call, or interpreted where compiling is not worth it.

Numba is imported when something is compiled, not before: its import and its machine code cost more processor time than
a whole fit of small data. Both ways run the same function, whose globals are replaced: other kernels by what they are
that way, and `uint64` by numba's type or by int.
"""

import sys
import threading
from collections.abc import Callable
from functools import cached_property, update_wrapper, wraps
from types import CodeType, FunctionType
from typing import Any

from riata.kernels.disk_cache import DiskCache
from riata.small_work import of_thread, run
from riata.uninterrupted import uninterrupted

_creating = threading.RLock()
_before_compiling: list[Callable[[], None]] = []


def uint64(number: Any) -> int:
    """In a kernel: numba's type of that name, for positions that cannot be negative, when compiled; else an int."""
    return int(number)


def numba_is_here() -> bool:
    """Whether numba has been imported, so that a kernel costs no more than to load it."""
    return "numba" in sys.modules


def before_compiling(register: Callable[[], None]) -> Callable[[], None]:
    """Decorates what tells numba of things that kernels use: called once, when numba is imported anyway."""
    _before_compiling.append(register)
    return register


def compiled(*, interpretable: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit(**options)`, with machine code that is kept on disk under a hash of all kernels' code.

    Functions whose names begin with an underscore are for other kernels only. They, and all, go without wrappers that
    nobody calls: a wrapper takes a tenth of the time to compile. An interpretable kernel, and all that it calls, is
    also right, and silent, as plain Python on arrays; `small_work` says when it runs so.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        return Kernel(function, interpretable, options)

    return decorate


class Kernel:
    """A function over arrays; what is not here is an attribute of numba's dispatcher."""

    def __init__(self, function: Callable[..., Any], interpretable: bool, options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._function: Any = function
        self._interpretable = interpretable
        self._options = options
        self._machine: Any = None

    def __call__(self, *args: Any) -> Any:
        if self._interpretable and (work := of_thread.work) is not None and work.takes(args):
            return run(self.interpreted, args)
        return (self._machine or self.machine)(*args)

    @property
    def machine(self) -> Any:
        """Numba's dispatcher, which compiles for the types of its first arguments when it is called."""
        if self._machine is None:
            with _creating, uninterrupted():
                self._machine = self._machine or self._dispatcher()
        return self._machine

    def _dispatcher(self) -> Any:
        import numba

        while _before_compiling:
            _before_compiling.pop()()
        function = self._with_globals(lambda kernel: kernel.machine, numba.uint64)
        private = function.__name__.startswith("_")
        kernel: Any = numba.njit(no_cpython_wrapper=private, no_cfunc_wrapper=True, **self._options)(function)
        # with NUMBA_DISABLE_JIT it is the function itself; a numba that keeps its cache elsewhere compiles every time
        if hasattr(kernel, "_cache"):
            kernel._cache = DiskCache(f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}")
            kernel.compile = _uninterrupted(kernel.compile)  # which also loads what was kept
        return kernel

    @cached_property
    def interpreted(self) -> Callable[..., Any]:
        """The function as it stands, calling others that are as they stand."""
        return self._with_globals(lambda kernel: kernel.interpreted, int)

    def _with_globals(self, chosen: Callable[["Kernel"], Any], position: Any) -> Any:
        """The function with globals of its own, in which kernels and `uint64` are replaced."""
        function = self._function
        names = dict(function.__globals__)
        for name in _names_in(function.__code__):
            value = names.get(name)
            if isinstance(value, Kernel):
                names[name] = chosen(value)
            elif value is uint64:
                names[name] = position
        copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
        return update_wrapper(copy, function)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python looks for is no reason to import numba
            raise AttributeError(name)
        return getattr(self.machine, name)

    def __reduce__(self) -> str:
        """By name: pickled by value, each process would compile it again."""
        return self.__qualname__


def _uninterrupted(compile_for: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(compile_for)
    def compile_now(*args: Any) -> Any:
        with uninterrupted():
            return compile_for(*args)

    return compile_now


def _names_in(code: CodeType) -> set[str]:
    """The globals that a function, and functions in it, may use."""
    inner = (_names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)
