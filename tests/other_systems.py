"""This process as another system would run it: without what only POSIX has, and with the rules of Windows for files.

    python tests/other_systems.py CODE

runs CODE after that. What other packages need is imported before, since they have ways of their own on each system.
"""

import builtins
import ctypes
import mmap
import os
import pathlib
import select
import signal
import sys
import tempfile
import warnings

POSIX_MODULES = ("resource", "fcntl", "termios", "tty", "pty", "pwd", "grp", "syslog", "crypt", "nis", "spwd")
POSIX_FUNCTIONS = (
    "sched_getaffinity", "fork", "forkpty", "getuid", "geteuid", "getgid", "getegid", "sysconf", "mkfifo", "mknod",
    "pread", "pwrite", "preadv", "posix_fadvise", "posix_fallocate", "nice", "setsid", "killpg", "getpgid", "statvfs",
    "fchmod", "chown", "lchown", "memfd_create", "sendfile", "uname", "getloadavg", "wait", "waitpid", "wait4",
)  # fmt: skip
POSIX_SIGNALS = ("SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGPIPE", "SIGCHLD", "SIGQUIT", "SIGSTOP")
OF_LINUX = ("/proc", "/sys", "/dev", "/etc")


def hide() -> None:
    """From here on nothing of POSIX is there."""
    refuse_names_of_open_files()
    for name in POSIX_MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for module, names in ((os, POSIX_FUNCTIONS), (signal, POSIX_SIGNALS), (mmap, ("MADV_DONTNEED", "MADV_WILLNEED"))):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    builtins.open = _without_linux(builtins.open)
    pathlib.Path.open = _without_linux(pathlib.Path.open)  # type: ignore[method-assign]
    pathlib.Path.read_text = _without_linux(pathlib.Path.read_text)  # type: ignore[method-assign]
    ctypes.CDLL = _no_library(ctypes.CDLL)  # type: ignore[assignment,misc]
    select.select = _sockets_only
    tempfile.TemporaryFile = tempfile.NamedTemporaryFile  # type: ignore[assignment]
    warnings.filterwarnings("error", category=EncodingWarning, module=r"riata\.")


def _without_linux(opener):
    def opened(path, *args, **options):
        if _asked_by_riata() and not isinstance(path, int) and os.fspath(path).startswith(OF_LINUX):
            raise FileNotFoundError(2, "there is no such file here", str(path))
        return opener(path, *args, **options)

    return opened


def _no_library(library):
    def loaded(name, *args, **options):
        if _asked_by_riata():
            raise TypeError("there is no C library without a name")
        return library(name, *args, **options)

    return loaded


def _asked_by_riata() -> bool:
    """Other packages ask for what is there on the system they find."""
    return sys._getframe(2).f_globals.get("__name__", "").startswith("riata.")


def _sockets_only(*streams):
    raise OSError("select is for sockets")


def refuse_names_of_open_files() -> None:
    """A file that is open or mapped can be neither removed nor replaced."""
    links, listdir, readlink, opened = "/proc/self/fd", os.listdir, os.readlink, builtins.open

    def in_use(path) -> bool:
        path = os.path.realpath(path)
        for number in listdir(links):
            try:
                if readlink(f"{links}/{number}") == path:
                    return True
            except OSError:
                continue
        with opened("/proc/self/maps", encoding="utf-8") as maps:
            return any(line.rstrip().endswith(path) for line in maps)

    def checked(function, paths):
        def called(*args, **options):
            for path in args[:paths]:
                if os.path.exists(path) and in_use(path):
                    raise PermissionError(13, "the file is in use", str(path))
            return function(*args, **options)

        return called

    for name, paths in (("unlink", 1), ("remove", 1), ("rename", 2), ("replace", 2)):
        setattr(os, name, checked(getattr(os, name), paths))


if __name__ == "__main__":
    import dask.dataframe  # noqa: F401
    import jinja2  # noqa: F401
    import joblib  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import numba  # noqa: F401
    import pandas  # noqa: F401
    import platformdirs  # noqa: F401
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401
    import rich.console
    import rich.progress  # noqa: F401
    import scipy.optimize  # noqa: F401
    import sklearn.base
    import sklearn.utils.validation  # noqa: F401
    import threadpoolctl  # noqa: F401

    assert not any(name.partition(".")[0] == "riata" for name in sys.modules)
    hide()
    exec(sys.argv[1])
