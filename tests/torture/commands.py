"""The commands that are tortured, with what each must leave behind when it has ended well."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

OLD = b"what was there before"


class Trial(NamedTuple):
    """A command, the file that it writes, and how to read all of that file that must not depend on the day."""

    name: str
    words: tuple[str, ...]
    out: str
    content: Callable[[Path], Any]
    checkpoints: bool = False  # whether it goes on from where it was killed


def model(path: Path) -> Any:
    """All that is learnt: not how long it took."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return {name: value for name, value in found.items() if name not in ("training", "version")}


def page(path: Path) -> Any:
    return path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def arrow(path: Path) -> Any:
    with pa.ipc.open_file(path) as reader:
        return reader.read_all().to_pydict()


def parquet(path: Path) -> Any:
    return pq.read_table(path).to_pydict()


def archive(path: Path) -> Any:
    with zipfile.ZipFile(path) as content:
        return {name: content.read(name) for name in content.namelist()}


def text(path: Path) -> Any:
    return path.read_text(encoding="utf-8")


DATA = ("rows.csv", "--target", "y", "--no-cache")
FITS = {  # solvers that can go on, with what they need
    "exact": ("--alpha", "0.01", "--tol", "0", "--max-passes", "15"),
    "best-k": ("--k", "4"),
    "online": ("--alpha", "0.01", "--max-passes", "4"),
    "ftrl": ("--alpha", "0.01", "--max-passes", "4"),
    "svrg": ("--alpha", "0.01", "--tol", "0", "--max-passes", "10"),
    "saga": ("--alpha", "0.01", "--tol", "0", "--max-passes", "10"),
    "l0-sgd": ("--k", "4", "--max-passes", "6"),
}


def trials() -> list[Trial]:
    """All of them."""
    found = [
        Trial(
            f"fit by {solver} with checkpoints",
            ("fit", *DATA, "--solver", solver, *how, "--out", "m.json", "--quiet",
             "--checkpoint", "states", "--every", "0", "--resume"),
            "m.json", model, checkpoints=True,
        )
        for solver, how in FITS.items()
    ]  # fmt: skip
    return [
        *found,
        Trial("fit", ("fit", *DATA, "--k", "4", "--out", "m.json", "--quiet"), "m.json", model),
        Trial("selection", ("fit", *DATA, "--k", "auto", "--out", "m.json", "--quiet"), "m.json", model),
        Trial("report", ("fit", *DATA, "--k", "4", "--out", "m.json", "--quiet", "--report", "p.html"), "p.html", page),
        Trial("path", ("path", *DATA, "--n-alphas", "20", "--json", "--out", "path.csv"), "path.csv", text),
        Trial("convert", ("convert", *DATA, "rows.arrow"), "rows.arrow", arrow),
        Trial("statistics", ("statistics", *DATA, "rows.npz"), "rows.npz", archive),
        Trial("predict as CSV", ("predict", "model.json", "rows.csv", "--no-cache", "--out", "p.csv"), "p.csv", text),
        Trial("predict as Parquet", ("predict", "model.json", "rows.csv", "--out", "p.parquet"), "p.parquet", parquet),
    ]  # fmt: skip


def make_rows(folder: Path) -> None:
    """The rows that all of them read."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 12))
    rows = np.column_stack([X, X[:, :5] @ np.arange(1.0, 6.0) + rng.normal(size=3000)])
    np.savetxt(folder / "rows.csv", rows, fmt="%.5f", delimiter=",", header=",".join("abcdefghijkly"), comments="")
