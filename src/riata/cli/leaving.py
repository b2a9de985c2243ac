"""How the process of a command ends: without Python's own end, while Arrow's threads still read.

A thread of Arrow that asks a Python file for more bytes when Python has ended is ended in the middle of C++ code, which
then aborts the process: exit code 134, after whatever the command had said.
"""

import atexit
import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn

from riata.cli.group import main

FEW_COLLECTIONS = 100_000  # objects: modules make many that stay, and to look for garbage among them takes time


def run() -> NoReturn:
    """The command `riata`, in a process of its own."""
    gc.set_threshold(FEW_COLLECTIONS)
    try:
        main(prog_name="riata")
    except SystemExit as end:
        leave(end.code if isinstance(end.code, int) else 0 if end.code is None else 1)
    leave(0)


def leave(code: int) -> NoReturn:
    """End the process with an exit code, once what waits for its end has been done."""
    if "pyarrow" in sys.modules:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # nobody listens
                stream.flush()
        os._exit(code)
    sys.exit(code)
