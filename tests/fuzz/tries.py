"""One try: hostile bytes in a file, riata's commands on it, and whether what came of it may come of anything."""

import contextlib
import csv
import io
import json
import math
import mmap
import os
import resource
import shutil
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fuzz.formats import Format
from fuzz.library import Library, NotFinite
from fuzz.parsing import parsed

FINE, REFUSED, MEMORY = "fine", "refused", "memory"
SPARE_MB = 96.0  # beyond the budget: what Python, Arrow and the archive of a small file take on their way


class Verdict(NamedTuple):
    """What came of a try: `kind` is FINE, REFUSED, or what went wrong."""

    kind: str
    detail: str = ""

    @property
    def good(self) -> bool:
        return self.kind in (FINE, REFUSED)


def content(format: Format, seed: int, number: int) -> bytes:
    """The hostile bytes of a try: always the same for the same numbers."""
    letters = int.from_bytes(format.name.encode(), "little") % 2**62
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return format.make(np.random.default_rng([seed, letters, number]))


def attempt(format: Format, data: bytes, folder: Path) -> Verdict:
    """Give the bytes to the commands of their format, in this process."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "in").mkdir(parents=True)
    path = folder / "in" / format.file
    path.write_bytes(data)
    os.environ["RIATA_CACHE"] = str(folder / "cache")
    verdict = Verdict(FINE)
    for words in format.commands(path, folder):
        verdict = run(words)
        if verdict.kind == MEMORY:  # once more: the peak may be an old one, or of code that was loaded
            verdict = run(words)
        if verdict.kind != FINE:
            return verdict
    return _numbers(folder)


def attempt_by_library(format: Format, data: bytes, folder: Path, library: Library) -> Verdict:
    """Open, fit and predict what the bytes hold, in this process, without the command line."""
    from riata.errors import RiataError

    path = folder / "in" / format.file
    if path.exists():
        path.unlink()  # a new file: the old one may still be mapped
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    commands = format.commands(path, folder)
    before = _most_mb()
    try:
        library.use(commands)
        verdict = Verdict(FINE)
    except RiataError as error:
        verdict = Verdict(REFUSED if "\n" not in str(error) else "no sentence", str(error)[:300])
    except NotFinite as error:
        verdict = Verdict("not finite", str(error))
    except BaseException as error:
        verdict = Verdict("traceback", _place_of(error))
    if _most_mb() - before > 64.0 + SPARE_MB:  # looked at more closely, as a command
        _forget_peak()
        return attempt(format, data, folder)
    return verdict


def run(words: list[str]) -> Verdict:
    """A command of riata in this process."""
    out, err = io.StringIO(), io.StringIO()
    before = _rss_mb()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = _invoke(tuple(words))
    except BaseException as error:
        return Verdict("traceback", _place_of(error))
    said = [line for line in err.getvalue().splitlines() if not line.startswith("note: ")]
    if (more := _peak_mb() - before) > 64.0 + SPARE_MB:
        _forget_peak()
        return Verdict(MEMORY, f"{words[0]} took {more:.0f} MB more")
    if code == 0:
        return Verdict(FINE)
    if code != 2:
        return Verdict(f"exit code {code}", " ".join(said)[:300])
    if len(said) != 1 or not said[0].startswith("riata: ") or "not enough memory" in said[0]:
        return Verdict("no sentence", " / ".join(said)[:300])
    return Verdict(REFUSED, said[0])


def _invoke(words: tuple[str, ...]) -> Any:
    """The exit code of a command, as `riata` would end with it."""
    import click

    from riata.cli.ending import ending_well
    from riata.cli.group import nothing
    from riata.kernels.announce import announcing

    outer, inner = parsed(words)
    try:
        with inner.scope(cleanup=False), ending_well(outer, nothing), announcing(nothing):
            inner.command.invoke(inner)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return 0


def _place_of(error: BaseException) -> str:
    """The type of an error, and the last line of riata that it passed."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if f"{os.sep}riata{os.sep}" in frame.filename
    ]
    where = f"{frames[-1].filename.rpartition('riata' + os.sep)[2]}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {where}: {str(error)[:150]}"


def _numbers(folder: Path) -> Verdict:
    """Whether all numbers of the model and of the predictions are finite."""
    model, predictions = folder / "model.json", folder / "predictions.csv"
    classes: list[Any] = []
    if model.exists():
        document = json.loads(model.read_bytes(), parse_constant=lambda word: math.nan)
        classes = document.get("classes") or []
        values = [*document["intercept"], *(v for feature in document["features"] for v in feature["coef"])]
        if not all(map(math.isfinite, values)):
            return Verdict("not finite", "a coefficient")
    if predictions.exists():
        with open(predictions, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                for name, value in row.items():
                    if value not in classes and value is not None and value.lower() in ("nan", "inf", "-inf", ""):
                        return Verdict("not finite", f"the prediction {value!r} under {name!r}")
    return Verdict(FINE)


def _forget_peak() -> None:
    """Let the system forget the peak of this process's memory: that takes longer than a try, so it is done seldom."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _rss_mb() -> float:
    """What this process takes now."""
    if sys.platform != "linux":
        return 0.0
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE / 1e6


def _most_mb() -> float:
    """The peak of this process so far, as quickly as it is to be had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _peak_mb() -> float:
    from riata.machine import peak_rss_mb

    return (peak_rss_mb() or 0.0) if sys.platform == "linux" else 0.0
