"""Learning from rows as they come: one stream per margin, side by side, and labels that may appear on the way.

Labels count in the order in which they appear. Two share one margin, whose positive side is the second. When a third
appears each gets a margin of its own: that of the second is the one there was, that of the first its mirror image, and
that of the third begins with the row that brought it, since no row before can be learnt again.
"""

import time
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from riata.data.chunk import Chunk
from riata.errors import OptionError
from riata.solvers.online.progressive_validation import Tally, tally
from riata.solvers.online.stream import Stream, mirrored
from riata.solvers.registry import SOLVERS
from riata.solvers.stochastic.method import first_state, make_stepper
from riata.training.checks import check_spec
from riata.training.driver import GROWTH, Record, met_in
from riata.training.spec import Spec

PATIENCE = 1.0  # seconds in which somebody wants to see something new


def open_stream(spec: Spec, n_features: int) -> Stream:
    """A stream that learns this spec from rows as they come."""
    check_spec(spec, n_features)
    sentence = None
    solver = SOLVERS[spec.solver_name]
    if spec.k is None and spec.alpha is None and (spec.alpha_ratio is not None or not solver.own_alpha):
        sentence = "a stream has no alpha_max to take a share of: give partial_fit an alpha or a k"
    elif spec.rounds:
        sentence = "rounds are halves of a known number of steps, and a stream has none: leave rounds=False"
    elif spec.batch == "full":
        sentence = "a stream has no full batch: give batch a number"
    if sentence:
        raise OptionError(sentence)
    loss = spec.loss_function
    penalty = spec.family.at(spec.alpha or 0.0) if spec.k is None else spec.family
    if solver.method is None:
        raise OptionError(f"solver {spec.solver_name!r} cannot learn from a stream")
    method: Any = solver.method(penalty)
    if solver.own_alpha:
        method = replace(method, standardize=spec.standardize, half_life=spec.half_life)
    if solver.any_width and spec.memory is not None:
        method = replace(method, budget=spec.memory)
    stepper = make_stepper(method, loss, spec.step, int(spec.batch or 1), spec.fit_intercept)
    return Stream(stepper, first_state(stepper.method, n_features), n_features)


@dataclass
class Margins:
    """The streams of all margins of a model, opened when the first row comes."""

    spec: Spec
    streams: list[Stream] = field(default_factory=list)
    met: Tally = field(default_factory=Tally)

    def learn(self, chunk: Chunk, targets: list[np.ndarray]) -> None:
        """Learn rows that have one target per margin; how they were predicted is added to `met`."""
        if not self.streams:
            self.streams = [open_stream(self.spec, chunk.X.shape[1]) for _ in targets]
        learnt = [stream.learn(chunk._replace(y=target)) for stream, target in zip(self.streams, targets, strict=True)]
        self.met = self.met.plus(self._met(learnt))

    def _met(self, learnt) -> Tally:
        """Of the margins' losses the mean, of several labels the one of the largest margin."""
        loss = self.spec.loss_function
        tallies = [tally(loss, y, z, weight) for y, z, weight in learnt]
        if len(tallies) == 1:
            return tallies[0]
        ys, zs = (np.stack([one[i] for one in learnt]) for i in (0, 1))
        right = float(learnt[0][2] @ (ys.argmax(axis=0) == zs.argmax(axis=0)))
        return tallies[0]._replace(loss=float(np.mean([one.loss for one in tallies])), right=right)

    def for_classes(self, n_classes: int) -> None:
        """Make room for new labels."""
        if not self.streams or n_classes < 3:
            return
        if len(self.streams) == 1:
            self.streams.insert(0, mirrored(self.streams[0]))
        width = self.streams[0].n_features
        self.streams += [open_stream(self.spec, width) for _ in range(n_classes - len(self.streams))]


def targets_of(codes: np.ndarray, n_classes: int) -> list[np.ndarray]:
    """-1 and +1 for every margin: one against the rest, or the second class against the first."""
    return [np.where(codes == c, 1.0, -1.0) for c in ([1] if n_classes <= 2 else range(n_classes))]


def runs_of_known_labels(labels: np.ndarray, known: list):
    """(rows, labels known up to them): the rows cut before every label that has not been there."""
    places = {label: i for i, label in enumerate(known)}
    found, first = np.unique(labels, return_index=True)
    news = sorted((int(i), label) for label, i in zip(found.tolist(), first, strict=True) if label not in places)
    cuts = [0, *(i for i, _ in news), len(labels)]
    for n_new, (start, stop) in enumerate(pairwise(cuts)):
        if n_new:
            known = [*known, news[n_new - 1][1]]
        if stop > start:
            yield slice(start, stop), known


class Diary:
    """The records of a stream: a new one when the rows have grown enough, and the last."""

    def __init__(self, progress=None):
        self._started = self._looked = time.perf_counter()
        self._progress = progress
        self.history: list[Record] = []

    def due(self, steps: int) -> bool:
        """Whether it is time to look at the model, which costs as much as it has features."""
        return time.perf_counter() - self._looked > PATIENCE or steps >= GROWTH * self._before

    @property
    def _before(self) -> int:
        return self.history[-1].steps if self.history else 0

    def note(self, met: Tally, steps: int, n_selected: int, last=False) -> None:
        self._looked = time.perf_counter()
        seconds = self._looked - self._started
        record = met_in(Record(1.0, steps, seconds, None, None, n_selected, whole=last), met, met.rows)
        if self._progress is not None:
            self._progress(record)
        if last and self._before == steps and self.history:
            self.history[-1] = record
        elif last or steps >= GROWTH * self._before:
            self.history.append(record)
