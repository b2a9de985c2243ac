"""Machine code of kernels, kept on disk between processes.

Numba's own cache looks at a kernel's own file only: after a change of a function that it calls from another file, old
machine code would run. Here the folder's name is a hash of all files that kernels are made of and of everything that
translates them, so what is found was made from exactly this code, whichever checkout or installation made it first.
Numba is imported by those functions alone that need it: the hash is taken when the first kernel is imported.
"""

import hashlib
import logging
import os
import pickle
import platform
import shutil
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from riata.files import NOWHERE, cache_folder, replacing
from riata.kernels.announce import announce

log = logging.getLogger(__name__)

ROOT = Path(__file__).parents[1]
ROOMS = ("kernels", "losses")  # what ends in machine code; a contract on imports keeps it at that
# settings of numba that change machine code
SETTINGS = ("NUMBA_OPT", "NUMBA_BOUNDSCHECK", "NUMBA_DEBUGINFO", "NUMBA_LOOP_VECTORIZE", "NUMBA_SLP_VECTORIZE")
DAY = 86400.0
UNUSED_DAYS = 60  # folders of other code are removed when nobody used them for so long,
KEPT_FOLDERS = 20  # or when so many newer ones are there


def _content_hash() -> str | None:
    """A hash of the kernels' code; None where there is no code to read (in a zip)."""
    files = [file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))]
    if not files:
        return None
    digest = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.relative_to(ROOT).as_posix()} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


CONTENT = _content_hash()  # of the files as this process imports them


@cache
def kernels_folder() -> Path | None:
    """Where machine code lies: in `$NUMBA_CACHE_DIR`, `$RIATA_CACHE` or the user's cache folder; None: nowhere."""
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or cache_folder())
    if CONTENT is None:
        _note_no_cache("the source code cannot be read")
        return None
    if folder == NOWHERE:
        _note_no_cache("the user has no home folder")
        return None
    import llvmlite
    import numba

    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version, platform.machine())
    of_all = repr((CONTENT, versions, [os.environ.get(name) for name in SETTINGS]))
    return folder.absolute() / "kernels" / hashlib.sha256(of_all.encode()).hexdigest()[:32]


@cache
def _note_no_cache(reason: str) -> None:
    """Say it once."""
    log.warning(
        "Compiled code is not kept (%s): every process compiles anew. $RIATA_CACHE names a folder for it.", reason
    )


class DiskCache:
    """The machine code of one kernel, a file for each signature; what numba's dispatchers ask of a cache.

    Nothing that goes wrong here is an error: the kernel is compiled instead.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def cache_path(self) -> str | None:
        folder = kernels_folder()
        return None if folder is None else str(folder)

    def _file(self, signature: object, codegen: Any) -> Path | None:
        folder = kernels_folder()
        key = repr((signature, codegen.magic_tuple()))  # the latter names the processor
        return None if folder is None else folder / f"{self.name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"

    def load_overload(self, signature: object, context: Any) -> Any:
        """The compiled kernel, or None if there is none for this signature.

        Machine code needs numba's runtime, which counts references to arrays. It does not need what numba learns by
        `context.refresh()`, which takes longer than reading all kernels of a fit: what compiles calls that by itself.
        """
        from numba.core.runtime.nrt import rtsys

        rtsys.initialize(context)
        kernel = self._load(signature, context)
        if kernel is None:
            announce()
        return kernel

    def _load(self, signature: object, context: Any) -> Any:
        from numba.core import compiler

        file = self._file(signature, context.codegen())
        if file is None:
            return None
        try:
            content = file.read_bytes()
            if hashlib.sha256(content[32:]).digest() != content[:32]:
                raise ValueError("damaged")
            kernel = compiler.CompileResult._rebuild(context, *pickle.loads(content[32:]))
        except FileNotFoundError:
            return None
        except Exception as error:  # unpickling raises anything, and the cure is the same
            log.info("Ignoring the unreadable machine code %s (%s).", file, error)
            return None
        _mark_as_used(file.parent)
        return kernel

    def save_overload(self, signature: object, kernel: Any) -> None:
        """Keep a compiled kernel."""
        from numba.core import serialize

        file = self._file(signature, kernel.codegen)
        if file is None or kernel.library.has_dynamic_globals:
            return
        try:
            if _content_hash() != CONTENT:
                return  # the files have changed under this process: what it compiles may be made of old and new ones
            content = serialize.dumps(kernel._reduce())
            if not file.parent.is_dir():
                file.parent.mkdir(parents=True, exist_ok=True)
                _remove_unused(file.parent)
            with replacing(file) as out:
                out.write(hashlib.sha256(content).digest() + content)
        except Exception as error:
            _note_no_cache(str(getattr(error, "strerror", None) or error))

    def flush(self) -> None:
        """Nothing to do: what lies there is never out of date."""

    enable = disable = flush


@cache
def _mark_as_used(folder: Path) -> None:
    """A folder's time says when it was last used, to the day; a folder that we may only read keeps its own."""
    try:
        if time.time() - folder.stat().st_mtime > DAY:
            os.utime(folder)
    except OSError:
        pass


def _remove_unused(current: Path) -> None:
    """Remove the machine code of other versions of the kernels that nobody has used for long."""
    folders = [(f.stat().st_mtime, f) for f in current.parent.iterdir() if len(f.name) == len(current.name)]
    for place, (used, folder) in enumerate(sorted(folders, reverse=True)):
        if folder != current and (place >= KEPT_FOLDERS or time.time() - used > UNUSED_DAYS * DAY):
            shutil.rmtree(folder, ignore_errors=True)
