"""python -m torture.models: what models of very many features take when they are used, with a budget of 64 MB.

A command is measured as it is run, in a process of its own, and above another that did the same with a small model and
few rows: both load the same code, which no budget counts.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from torture.cap_cases import Case
from torture.caps import Files, write

SOLVERS = ("fobos", "saga", "truncated")  # whose models of this shape have tens of thousands of features
KINDS = ("csv", "parquet", "jsonl")
SHAPE, BUDGET_MB, TO_FIT_MB = "categories", 64, 256


def main() -> int:
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="riata-models-") as folder:
        files = Files(Path(folder))
        for solver in SOLVERS:
            of_size = {small: _fitted(solver, small, files) for small in (True, False)}
            for kind in KINDS:
                for command in ("evaluate", "predict"):
                    peaks = {
                        small: _peak_mb(command, of_size[small], files.of(SHAPE, kind, small)) for small in of_size
                    }
                    more = peaks[False] - peaks[True]
                    worst = max(worst, more)
                    write(f"{solver:12} {kind:8} {command:9} {more:5.0f} MB of {BUDGET_MB}")
    return int(worst > BUDGET_MB)


def _fitted(solver: str, small: bool, files: Files) -> Path:
    out = files.folder / f"{solver}-{small}.json"
    words = Case(solver, SHAPE, "csv").words(files.of(SHAPE, "csv", small), TO_FIT_MB)
    words[words.index("--out") + 1] = str(out)
    subprocess.run([sys.executable, "-m", "riata", *words], check=True, capture_output=True)
    return out


def _peak_mb(command: str, model: Path, rows: Path) -> float:
    words = [command, str(model), str(rows), "--memory", f"{BUDGET_MB}MB", "--no-cache"]
    words += ["--out", str(model.parent / "predictions.csv")] if command == "predict" else []
    began = subprocess.Popen([sys.executable, "-m", "riata", *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(began.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(words)} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    sys.exit(main())
