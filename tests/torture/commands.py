"""The commands that are tortured, with what each must leave behind when it has ended well."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import reproduction

OLD = b"what was there before"


class Trial(NamedTuple):
    """A command, the file that it writes, and how to read all of that file that must not depend on the day."""

    name: str
    words: tuple[str, ...]
    out: str
    content: Callable[[Path], Any]
    checkpoints: bool = False  # whether it goes on from where it was killed
    grows: bool = False  # whether files of its folder appear while it is tortured
    ends_as: tuple[str, ...] = ()  # what is run instead where nothing is to end it, if it would wait for ever

    @property
    def undisturbed(self) -> "Trial":
        return self._replace(words=self.ends_as or self.words)


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


def experiment(path: Path) -> Any:
    """All that the fits of the experiment say but for how long they took, which files there are, and a whole page."""
    fits = {file.name: json.loads(file.read_bytes()) for file in path.parent.glob("cells/fit-*.json")}
    for fit in fits.values():
        fit.pop("seconds", None)
        fit["trace"] = [
            {name: value for name, value in note.items() if name != "seconds"} for note in fit.get("trace", [])
        ]
    names = sorted(str(file.relative_to(path.parent)) for file in path.parent.rglob("*"))
    return fits, names, page(path)


READ = ("--no-cache", "--drop", "other,trials,successes")
DATA = ("rows.csv", "--target", "y", *READ)
ALPHA = ("--alpha", "0.01")
ENDLESS = ("--tol", "0", "--max-passes", "10")
FITS = {  # that can go on, with what they are asked
    "exact": (*DATA, *ALPHA, *ENDLESS),
    "best-k": ("hard.csv", "--target", "y", "--no-cache", "--k", "6", "--loss", "huber"),
    "online": (*DATA, "--solver", "online", *ALPHA, "--max-passes", "4"),
    "ftrl": (*DATA, "--solver", "ftrl", *ALPHA, "--max-passes", "4"),
    "svrg": (*DATA, "--solver", "svrg", *ALPHA, *ENDLESS),
    "saga": (*DATA, "--solver", "saga", *ALPHA, *ENDLESS),
    "l0-sgd": (*DATA, "--solver", "l0-sgd", "--k", "4", "--max-passes", "6"),
    "hsg-ht": (*DATA, "--solver", "hsg-ht", "--k", "4", "--max-passes", "6"),
    "svrg-ht": (*DATA, "--solver", "svrg-ht", "--k", "4", "--max-passes", "6"),
    "sketch": (*DATA, "--solver", "sketch", "--k", "4", "--max-passes", "3"),
    "interactions": (*DATA, *ALPHA, "--interaction", "a,b,c,d"),
    "groups that overlap": (*DATA, *ALPHA, *ENDLESS, "--groups", "a,b,c", "--groups", "c,d,e"),
    "quantiles": (*DATA, *ALPHA, "--loss", "quantile", "--max-passes", "12"),
    "mcp": (*DATA, "--alpha", "0.1", "--penalty", "mcp"),
    "several targets": ("rows.csv", "--target", "y,other", "--no-cache", "--drop", "trials,successes", *ALPHA),
    "binomial": ("rows.csv", "--target", "successes", "--trials", "trials", "--no-cache", "--drop", "y,other", *ALPHA),
    "certify": ("hard.csv", "--target", "y", "--no-cache", "--k", "6", "--ridge", "0.01", "--certify"),
}
OTHERS = {  # that begin anew
    "fit": (*DATA, "--k", "4"),
    "selection": (*DATA, "--k", "auto"),
    "selection of alpha": (*DATA, "--alpha", "auto", "--cv", "3"),
    "polish": (*DATA, "--solver", "online", *ALPHA, "--polish"),
    "debias": (*DATA, *ALPHA, "--debias"),
}
LOG = "log"
FOLDER = ("fit", LOG, "--target", "y", "--solver", "online", "--checkpoint", "states", "--resume")
EXPERIMENT = ("reproduce", "--data", "uci", "--out", "run", "--quick")


def trials() -> list[Trial]:
    """All of them."""
    to = ("--out", "m.json", "--quiet")
    states = ("--checkpoint", "states", "--every", "0", "--resume")
    report = ("fit", *DATA, "--k", "4", *to, "--report", "p.html")
    return [
        *(Trial(f"fit by {one}, saved", ("fit", *words, *to, *states), "m.json", model, True)
          for one, words in FITS.items()),
        *(Trial(one, ("fit", *words, *to), "m.json", model) for one, words in OTHERS.items()),
        Trial("folder that grows", (*FOLDER, "--growing", *to), "m.json", model, True, True),
        Trial("folder that is followed", (*FOLDER, "--follow", *to), "m.json", model, True, True,
              (*FOLDER, "--growing", *to)),
        Trial("report", report, "p.html", page),
        Trial("path", ("path", *DATA, "--n-alphas", "20", "--json", "--out", "path.csv"), "path.csv", text),
        Trial("convert", ("convert", *DATA, "rows.arrow"), "rows.arrow", arrow),
        Trial("statistics", ("statistics", *DATA, "rows.npz"), "rows.npz", archive),
        Trial("reproduce", EXPERIMENT, "run/index.html", experiment, True),
        Trial("predict as CSV", ("predict", "model.json", "rows.csv", "--no-cache", "--out", "p.csv"), "p.csv", text),
        Trial("predict as Parquet", ("predict", "model.json", "rows.csv", "--out", "p.parquet"), "p.parquet", parquet),
    ]  # fmt: skip


def make_rows(folder: Path) -> None:
    """The rows that all of them read; those of the hard file are few, and alike, so that a search of them lasts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 12))
    signal = X[:, :5] @ np.arange(1.0, 6.0)
    trials = rng.integers(1, 9, 1000)
    more = [signal + rng.normal(size=1000), X[:, 6] - signal, trials, rng.binomial(trials, 0.3)]
    _write(folder / "rows.csv", [*"abcdefghijkl", "y", "other", "trials", "successes"], np.column_stack([X, *more]))
    X = np.sqrt(0.5) * (rng.normal(size=(80, 1)) + rng.normal(size=(80, 60)))
    y = 0.3 * X[:, :12].sum(axis=1) + rng.normal(size=80)
    _write(folder / "hard.csv", [*(f"x{j}" for j in range(60)), "y"], np.column_stack([X, y]))
    reproduction.write_uci(folder / "uci")


def make_log(folder: Path) -> None:
    """The files that appear in a folder one after the other: with levels that are new in each."""
    rng = np.random.default_rng(1)
    folder.mkdir()
    for number in range(8):
        X = rng.normal(size=(400, 4))
        place = [f"p{i}" for i in rng.integers(0, 20 * (number + 1), 400)]
        y = np.where(X[:, 0] - X[:, 1] + rng.normal(size=400) > 0, "yes", "no")
        table = {name: X[:, j] for j, name in enumerate("abcd")} | {"place": place, "y": y}
        pq.write_table(pa.table(table), folder / f"{number:02}.parquet", row_group_size=50)


def _write(path: Path, names: list[str], rows: np.ndarray) -> None:
    np.savetxt(path, rows, fmt="%.5f", delimiter=",", header=",".join(names), comments="")
