"""The folder of good files that only riata itself writes, from which hostile ones are made."""

import os
from pathlib import Path

from fuzz.formats import fill
from fuzz.tries import run
from riata.solvers.subset.proof import branch_and_bound


def workshop(folder: Path) -> Path:
    """Fill a folder, in a process of its own: this one must start no threads before it forks."""
    folder.mkdir(parents=True)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.environ["RIATA_CACHE"] = str(folder / "cache")
            branch_and_bound.REPORT = 0.0  # a search is to be saved before it is done, however quick the machine
            fill(folder, _checked)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise RuntimeError("the good files could not be made")
    return folder


def _checked(words: list[str]) -> None:
    verdict = run(words)
    if verdict.kind != "fine":
        os.write(2, f"{' '.join(words)}: {verdict}\n".encode())
        raise RuntimeError(str(verdict))
