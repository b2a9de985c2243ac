"""A try by the library alone: what a command adds to it is the same for all tries, and dearer than most of them.

A file is opened as its commands would open it. Where it is read, and says what no file before it has said, a model is
fitted to its rows and predicts them. Rows, models and words of commands that were met before are not tried again.
"""

import math
import warnings
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np

from fuzz.parsing import parsed

SEEN_AT_MOST = 100_000


class NotFinite(Exception):
    """A number of a model, or of a prediction, that is none."""


class Library:
    """What one process has met so far."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()
        self._rows = cache(_open)

    def use(self, commands: list[list[str]]) -> None:
        """Do what the commands do, but for what they print and write."""
        asked = [(words[0], parsed(tuple(words))[1].params) for words in commands]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if asked[0][0] in ("predict", "inspect"):
                self._try_model(asked[0][1])
            elif asked[0][1]["resume"]:
                _fitted(self._rows(tuple(commands[0])), asked[0][1])
            else:
                self._try_rows(tuple(commands[0]), asked[0][1], predict=len(asked) > 1)

    def _try_rows(self, words: tuple[str, ...], options: dict[str, Any], predict: bool) -> None:
        rows = _open(words)
        if rows.is_summary or self._is_new(*_meaning(rows)):
            model = _fitted(rows, options)
            if predict:
                _predict(model, options["data"], options["memory"])

    def _try_model(self, options: dict[str, Any]) -> None:
        from riata.model.quality import quality
        from riata.model.saved_model import load_model

        model = load_model(options["model_file"])
        if "data" in options and self._is_new(repr(model).encode(), model.coef, model.intercept):
            _predict(model, options["data"], options["memory"])
            quality(model, model.rows(options["data"]))

    def _is_new(self, *parts: Any) -> bool:
        digest = blake2b(digest_size=16)
        for part in parts:
            digest.update(part if isinstance(part, bytes) else np.ascontiguousarray(part).data)
        key = digest.digest()
        if key in self._seen:
            return False
        if len(self._seen) < SEEN_AT_MOST:
            self._seen.add(key)
        return True


def _open(words: tuple[str, ...]) -> Any:
    """The rows that a fit is asked for, without a profile from an earlier look at them."""
    from riata.cli.rows import opening
    from riata.engines.open import open_data

    options = parsed(words)[1].params
    return open_data(options["data"], **opening(options | {"cache": False}))


def _meaning(rows: Any) -> list[Any]:
    """All that a fit sees of rows."""
    known = [rows.task, rows.feature_names, None if rows.classes is None else rows.classes.tolist()]
    parts: list[Any] = [repr(known).encode()]
    for chunk in rows.visit():
        parts += [*chunk.X.parts().values(), chunk.y, chunk.weight]
    return parts


def _fitted(rows: Any, options: dict[str, Any]) -> Any:
    """A model whose numbers are finite."""
    from riata.cli.rows import make_spec
    from riata.small_work import IN_A_COMMAND
    from riata.training.small_fits import interpreting_if_small
    from riata.training.train import train

    spec = make_spec(rows, options | {"validation": None}, verbose=False)
    with interpreting_if_small(rows, spec, IN_A_COMMAND):
        model = train(rows, spec, warn=lambda sentence: None).to_model()
    if not (np.isfinite(model.coef).all() and np.isfinite(model.intercept).all()):
        raise NotFinite("a coefficient")
    return model


def _predict(model: Any, data: str, memory: Any) -> None:
    """Predictions of the rows of a file, all of which are finite."""
    from riata.model.predictions import predictions
    from riata.small_work import interpreting

    rows = model.rows(data, need_target=False, memory=memory, cache=False)
    with interpreting(rows):
        for table in predictions(model, rows):
            for name, column in zip(table.column_names, table.columns, strict=True):
                values = column.to_pylist()
                if any(isinstance(v, float) and not math.isfinite(v) for v in values) and name not in _labels(model):
                    raise NotFinite(f"a prediction under {name!r}")


def _labels(model: Any) -> list[str]:
    """The columns that hold labels, of which one may be called nan."""
    return [] if model.classes is None else ["prediction"]
