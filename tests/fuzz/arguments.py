"""python -m fuzz.arguments: `riata fit` with odd values of its options, in all of its kinds of fits.

Whatever is asked for, there is a model of finite numbers, which predicts, or one sentence and exit code 2; nothing else
is written. Options that start other processes, wait for rows or name files to write are left out.
"""

import argparse
import contextlib
import io
import os
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import platformdirs

from fuzz.tries import FINE, REFUSED, Verdict, _numbers, _place_of

NOT_TRIED = {
    "--follow", "--scheduler", "--engine", "--workers", "--report", "--out", "--json", "--help", "--checkpoint",
    "--resume", "--device", "--plot", "--cache", "--no-cache", "--memory", "--config",
}  # fmt: skip
ROWS = 120
NUMBERS = (
    "nan", "inf", "-inf", "-1", "0", "1", "2", "0.5", "-0.0", "1e308", "1e-320", "1e400", "1e9", "99999999999999999999",
    "0x10", "1_000", "1,2", "1;2", "½", "9" * 400,
)  # fmt: skip
NAMES = (
    "a", "y", "nosuch", "a,a", "a,b", "level", "day", "all", "columns", "", ",", "a,", "*", "a^b", "a=1", "a=nan",
    "a=-1", "a=1e308", "a=1e-320", "=1", "a==", "a=1..0", "a=..", "a=inf..inf", "level=increasing",
    "level=l0<l0", "level<", "\x1b[2J", "ü", "x" * 300, "/dev/null", "${HOME}", "{a}", "[a]", "%s", "-", "--", "\udcff",
)  # fmt: skip
KINDS = (
    *(f"{name}:{value}"
      for name in ("huber", "quantile", "tweedie", "negative-binomial", "mcp", "scad", "lq", "adaptive")
      for value in ("", "0", "1", "0.5", "1.5", "-1", "nan", "inf", "1e-320", "1e308", "a", "0.9,0.1", "1:2")),
    "poisson", "gamma", "binomial", "cox", "softmax", "logistic", "squared-hinge", "squared", "unilasso", "riata",
)  # fmt: skip
OTHERS = (
    "auto", "balanced", "pos=2", "pos=nan", "neg=1e308", "cv", "bic", "validation", "1s", "-1s", "1e400s", "english",
    "decimal=,", "decimal=x", "separator=", "quote=a", "encoding=klingon", "header=no", "true", "None",
)  # fmt: skip
BESIDE = "y,other,cls,cls3,time,event,trials,succ,wgt,strata,entry"
FITS = {
    "alpha": ("y", "--alpha 0.1"),
    "k": ("y", "--k 2"),
    "chosen k": ("y", "--k auto --cv 3"),
    "chosen alpha": ("y", "--alpha auto --cv 3"),
    "certify": ("y", "--k 2 --ridge 0.1 --certify"),
    "classes": ("cls", "--alpha 0.05"),
    "softmax": ("cls3", "--alpha 0.05"),
    "targets": ("y,other", "--alpha 0.1"),
    "cox": ("time", "--event event --strata strata --entry entry --alpha 0.05"),
    "binomial": ("succ", "--trials trials --alpha 0.05"),
    "one pass": ("cls", "--solver online --alpha 0.01 --one-pass"),
    "polish": ("cls", "--solver online --alpha 0.01 --polish"),
    "sketch": ("cls", "--solver sketch --k 3"),
    "huber": ("y", "--alpha 0.1 --loss huber:0.5"),
    "quantile": ("y", "--alpha 0.1 --loss quantile:0.3"),
    "groups": ("y", "--alpha 0.1 --groups columns"),
    "cross": ("y", "--alpha 0.1 --cross level,word --interaction a,level"),
    "mcp": ("y", "--alpha 0.1 --penalty mcp"),
    "by day": ("cls", "--solver online --alpha 0.01 --one-pass --time day"),
}


def make_rows(folder: Path) -> None:
    rng = np.random.default_rng(0)
    lines = ["a,b,c,word,level,day," + BESIDE]
    for i, x in enumerate(rng.normal(size=(ROWS, 6)).round(3)):
        words = ("red sky", "blue sea at dawn", "green")[i % 3]
        known = [*x[:3], words, f"l{i % 5}", f"2024-01-{1 + i % 28:02}", 2 * x[0] + x[3], x[1] - x[2]]
        more = ["pos" if x[0] + x[4] > 0 else "neg", "uvw"[i % 3], abs(x[5]) + 0.1, i % 2, i % 4 + 1, min(i % 3, i % 4)]
        lines.append(",".join(map(str, [*known, *more, 1 + i % 3, "st"[i % 2], abs(x[5]) / 3])))
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")


def odd_words(chance: random.Random) -> list[str]:
    """A fit of one kind with one to three odd options."""
    from riata.cli import main

    target, asked = FITS[chance.choice(list(FITS))]
    words = asked.split()
    drop = ",".join(name for name in BESIDE.split(",") if name not in (*target.split(","), *words))
    words = ["fit", "rows.csv", "--target", target, "--drop", drop, *words]
    words += ["--quiet", "--max-passes", "6", "--memory", "64MB", "--no-cache", "--out", "model.json"]
    fit = main.get_command(click.Context(main), "fit")
    options = [one for one in fit.params if isinstance(one, click.Option) and not NOT_TRIED & set(one.opts)]
    for _ in range(chance.choice([1, 1, 1, 2, 2, 3])):
        option = chance.choice(options)
        name = chance.choice([*option.opts, *option.secondary_opts])
        pools = [NUMBERS] if option.type.name in ("integer", "float") else [NUMBERS, NAMES, NAMES, KINDS, OTHERS]
        pools = [KINDS] if name in ("--loss", "--penalty") else pools
        words += [name] if option.is_flag else [name, chance.choice(chance.choice(pools))]
    return words


def run(words: list[str]) -> Verdict:
    """A command as users give it."""
    from riata.cli import main

    err, code = io.StringIO(), 0
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            main(words, prog_name="riata")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1 if end.code else 0
    except BaseException as error:
        return Verdict("traceback", _place_of(error))
    said = [line for line in err.getvalue().splitlines() if not line.startswith(("note: ", "next: "))]
    if code == 0:
        return Verdict(FINE)
    usage = said and said[0].startswith("Usage:") and said[-1].startswith("Error:")  # click's own: how to call it, too
    sentence = len(said) == 1 and said[0].startswith("riata: ")
    return Verdict(REFUSED if code == 2 and (usage or sentence) else f"exit code {code}", " / ".join(said)[:300])


def tried(words: list[str], folder: Path) -> Verdict:
    """What came of a fit, of predictions by its model, and of the folder."""
    verdict = run(words)
    if verdict.kind == FINE:
        verdict = run(
            ["predict", "model.json", "rows.csv", "--memory", "64MB", "--no-cache", "--out", "predictions.csv"]
        )
    if verdict.kind == FINE:
        verdict = _numbers(folder)
    left = {path.name for path in folder.iterdir()} - {"rows.csv", "cache", "model.json", "predictions.csv"}
    if left or (verdict.kind == REFUSED and (folder / "predictions.csv").exists()):
        verdict = Verdict("files left", str(left))
    for name in {"model.json", "predictions.csv"} | left:
        (folder / name).unlink(missing_ok=True)
    return verdict


def odd_arguments(seed: int, folder: Path) -> Iterator[tuple[list[str], Verdict]]:
    """Odd fits without end, made and run in the folder, which is to be the working folder."""
    make_rows(folder)
    chance = random.Random(seed)
    while True:
        words = odd_words(chance)
        yield words, tried(words, folder)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.arguments", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="riata-arguments-") as place, contextlib.chdir(place):
        os.environ["RIATA_CACHE"] = str(Path(place) / "cache")
        end = time.monotonic() + 60.0 * asked.minutes
        for words, verdict in odd_arguments(asked.seed, Path(place)):
            counts[verdict.kind] += 1
            if not verdict.good:
                sys.stdout.write(f"{verdict.kind}: {verdict.detail}\n  riata {' '.join(map(repr, words))}\n")
                sys.stdout.flush()
            if time.monotonic() >= end:
                break
    sys.stdout.write(f"{sum(counts.values())} command lines: {dict(counts)}\n")
    return 0 if set(counts) <= {FINE, REFUSED} else 1


if __name__ == "__main__":
    os.environ.setdefault("NUMBA_CACHE_DIR", platformdirs.user_cache_dir("riata"))
    sys.exit(main())
