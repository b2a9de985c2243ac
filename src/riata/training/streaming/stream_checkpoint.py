"""Checkpoints of files that become more: all that a learner knows after a file, and which files these were.

A checkpoint is written between two files, so that each of them is learnt once, whenever a fit is killed: what a fit
learnt of a file that it did not finish is learnt again, from the checkpoint before it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from riata.data.dataset import Dataset
from riata.data.opening.growing import GrowingRows
from riata.data.saved_profile import restored_profile, saved_profile
from riata.errors import OptionError
from riata.solvers.iterate import Saved
from riata.solvers.online.progressive_validation import ProgressiveValidation
from riata.solvers.saved_checks import check_facts, restoring
from riata.solvers.stochastic.method import resumed_state
from riata.training.checkpoint import Checkpoints
from riata.training.driver import history_of
from riata.training.shaping_options import shaping_options
from riata.training.spec import Spec
from riata.training.streaming.label_order import LabelOrder
from riata.training.streaming.stream_history import StreamHistory
from riata.training.streaming.streams import Learner
from riata.units import parse_seconds

MANY = 3  # files that a note names


def check_saving(data: Dataset, spec: Spec) -> None:
    """Refuse checkpoints that would not know where to go on."""
    if spec.checkpoint is None:
        return
    if not isinstance(data, GrowingRows):
        raise OptionError(
            "a stream that is not kept has no checkpoints; files of a folder or a pattern have: open them with "
            "growing, or leave checkpoint out"
        )
    if spec.batch not in (None, 1):
        raise OptionError("a checkpoint between files has no rows that wait for a batch: leave batch or checkpoint out")


class StreamCheckpoints:
    """Saves a learner after files, and lets another one go on from there."""

    def __init__(self, data: GrowingRows, spec: Spec) -> None:
        """With `resume`, the files to come are read as those before were."""
        assert spec.checkpoint is not None
        self.data = data
        mark = {"files that become more": True} | shaping_options(spec) | data.asked.shaping
        self._kept = Checkpoints(Path(spec.checkpoint), mark, parse_seconds(spec.every, "every"))
        self._saved = self._kept.load() if spec.resume else None
        if self._saved is not None:
            self._restore_data(self._saved)
        self._n_known = len(data.files)

    def begin(self, learner: Learner, history: StreamHistory) -> None:
        """Let a learner go on from what was saved, if anything was, and save it from now on."""
        if self._saved is not None:
            _restore_learner(learner, self._saved, self.data.n_features)
            history.go_on(history_of(self._saved), self._saved.facts["seconds"])
            self._saved = None  # which takes as much memory as the learner

        def save(last: bool) -> None:
            if last or self._kept.due:
                self._kept.save(self._state(learner, history))

        self.data.when_learnt = save

    def notes(self) -> Iterator[str]:
        """What should not pass silently, in sentences."""
        if self._n_known and len(self.data.files) == self._n_known:
            yield "no file is new since the checkpoint: the model is as it was"
        if left := self.data.files.incomplete:
            more = f" and {len(left) - MANY} more" if len(left) > MANY else ""
            yield f"{', '.join(left[:MANY])}{more}: not complete yet, and left for the next time"

    def _state(self, learner: Learner, history: StreamHistory) -> Saved:
        """All that a learner knows, and the files that it has learnt."""
        assert self.data.profile is not None
        plain, arrays = saved_profile(self.data.profile)
        margins, streams = learner.margins, []
        for i, stream in enumerate(margins.streams):
            of_stream, facts = stream.state.saved()
            arrays |= {f"stream.{i}.{name}": values for name, values in of_stream.items()}
            streams.append(facts | {"rows": stream.rows, "weight": stream.weight})
        scores, arrays["scores"] = margins.scores.saved()
        days = {}
        for day, one in margins.by_day.of_days.items():
            days[str(day)], arrays[f"day.{day}"] = one.saved()
        return Saved(arrays, {
            "profile": plain, "files": self.data.files.saved(), "batch_rows": self.data.batch_rows,
            "rows_before": self.data.rows_before, "loss": str(margins.spec.loss), "offsets": margins.offsets,
            "streams": streams, "progressive": margins.progressive, "scores": scores, "days": days,
            "classes": None if learner.classes is None else learner.classes.tolist(), "order": learner.order.saved(),
            "history": [vars(record) for record in history.records], "passes": 1.0, "seconds": history.seconds,
        })  # fmt: skip

    @restoring()
    def _restore_data(self, saved: Saved) -> None:
        """Give the data the features of those before, and the files that are known."""
        facts = saved.facts
        check_facts(facts, {"profile": dict[str, Any], "batch_rows": int, "rows_before": int})
        profile = restored_profile(facts["profile"], saved.arrays)
        if facts["batch_rows"] < 1 or facts["rows_before"] < 0:
            raise ValueError("it counts fewer than no rows")
        self.data.files.restore(facts["files"])
        self.data.continue_with(profile, facts["batch_rows"], facts["rows_before"])


@restoring()
def _restore_learner(learner: Learner, saved: Saved, n_features: int) -> None:
    """Give a learner what was saved of another."""
    arrays, facts = saved
    kinds = {"loss": str, "offsets": bool, "streams": list[dict[str, Any]], "progressive": list[float]}
    kinds |= {"scores": list[float], "days": dict[str, list[float]], "order": list[int]}
    check_facts(facts, kinds)
    margins = learner.margins
    margins.go_on(facts["loss"], facts["offsets"], len(facts["streams"]), n_features)
    for i, (stream, its) in enumerate(zip(margins.streams, facts["streams"], strict=True)):
        check_facts(its, {"rows": int, "weight": float})
        start = f"stream.{i}."
        own = {name.removeprefix(start): values for name, values in arrays.items() if name.startswith(start)}
        stream.state = resumed_state(Saved(own, its), stream.stepper.method, n_features)
        stream.rows, stream.weight = its["rows"], its["weight"]
    rows, *sums = facts["progressive"]
    margins.progressive = ProgressiveValidation(int(rows), *sums)
    margins.scores.restore(facts["scores"], arrays["scores"])
    for day, of_day in facts["days"].items():
        margins.by_day.restore(int(day), of_day, arrays[f"day.{day}"])
    if learner.classes is not None:
        learner.classes = np.array(facts["classes"]) if facts["classes"] else learner.classes
        learner.order = LabelOrder.restored(facts["order"])
