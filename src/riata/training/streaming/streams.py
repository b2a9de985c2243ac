"""Learning from rows as they come: one stream per margin, side by side, and labels that may appear on the way.

`Learner` takes rows in portions; `stream_fit.py` gives it those of a dataset that can be read only once.

Labels count in the order in which they appear. Two share one margin, whose positive side is the second. When a third
appears each gets a margin of its own: that of the second is the one there was, that of the first its mirror image, and
that of the third begins with the row that brought it, since no row before can be learnt again. The model has them in
the order of their names, as that of a file has.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from riata.data.chunk import Chunk
from riata.data.days import NO_DAY
from riata.data.offset import Offset
from riata.errors import DataError, OptionError
from riata.losses import log_odds
from riata.solvers.online.progressive_scores import ProgressiveScores, ScoresByDay, ScoresSoFar
from riata.solvers.online.progressive_validation import ProgressiveValidation, progressive_validation
from riata.solvers.online.stream import Learnt, Stream, mirrored
from riata.solvers.registry import SOLVERS
from riata.solvers.stochastic.method import first_state, make_stepper
from riata.training.checks import check_spec
from riata.training.coefficients import coefficients, known_features
from riata.training.driver import check_finite
from riata.training.offsets import loss_with_offset, offset_rule
from riata.training.spec import Spec
from riata.training.streaming.label_order import LabelOrder
from riata.training.streaming.stream_labels import codes_among, runs_of_known_labels, targets_of
from riata.training.targets.number_by_spread import number_by_rows
from riata.training.targets.several_classes import check_labels
from riata.training.trained import Trained


def open_stream(spec: Spec, n_features: int) -> Stream:
    """A stream that learns this spec from rows as they come."""
    check_spec(spec, n_features)
    sentence = None
    solver = SOLVERS[spec.solver_name]
    if spec.k is None and spec.alpha is None and (spec.alpha_ratio is not None or not solver.finds_alpha):
        sentence = "a stream has no alpha_max to take a share of: give partial_fit an alpha or a k"
    elif spec.rounds:
        sentence = "rounds are halves of a known number of steps, and a stream has none: leave rounds out"
    elif spec.batch == "full":
        sentence = "a stream has no full batch: give batch a number"
    if sentence:
        raise OptionError(sentence)
    loss = spec.loss_function
    penalty = spec.family.at(spec.alpha or 0.0) if spec.k is None else spec.family
    if solver.method is None:
        raise OptionError(f"solver {spec.solver_name!r} cannot learn from a stream")
    method: Any = solver.method(penalty)
    if loss.n_outputs > 1:
        method = method.of_outputs(loss.n_outputs)
    if solver.finds_alpha:
        method = replace(method, standardize=spec.standardize, half_life=spec.half_life)
    if solver.finds_alpha and spec.memory_bytes is not None:
        method = replace(method, budget=spec.memory_bytes)
    stepper = make_stepper(method, loss, spec.step, int(spec.batch or 1), spec.fit_intercept)
    return Stream(stepper, first_state(stepper.method, n_features), n_features)


@dataclass
class Margins:
    """The streams of all margins of a model, opened when the first row comes."""

    spec: Spec
    streams: list[Stream] = field(default_factory=list)
    progressive: ProgressiveValidation = field(default_factory=ProgressiveValidation)
    offsets: bool = False  # whether rows have an offset, which the first ones tell
    scores: ScoresSoFar = field(default_factory=ScoresSoFar)  # of probabilities, while there is one margin
    n_classes: int = 0  # whose margins are learnt together, by softmax; 0: each by itself
    days_of: Callable[[Chunk], np.ndarray] | None = None  # the days of rows, where they have a date
    by_day: ScoresByDay = field(default_factory=ScoresByDay)

    def learn(self, chunk: Chunk, targets: list[np.ndarray]) -> None:
        """Learn rows that have one target per margin; how they were predicted is added to `progressive`."""
        has_offset = chunk.offset is not None
        if not self.streams:
            self.offsets = has_offset
            self.spec = number_by_rows(self.spec, chunk.y, chunk.weight)
            self.streams = [open_stream(self._seen, chunk.X.shape[1]) for _ in targets]
        if has_offset != self.offsets:
            raise OptionError("some rows have an offset and others have none: give one for all of them, or for none")
        rows = [chunk._replace(y=target) for target in targets]
        if has_offset:
            rows = list(map(offset_rule(self.spec.loss_function), rows))
        learnt = [stream.learn(its) for stream, its in zip(self.streams, rows, strict=True)]
        self.progressive = self.progressive.plus(self._validated(learnt))
        if len(learnt) == 1 and not self.n_classes and self._seen.loss_function.link.probabilities:
            y, z, weight = learnt[0]
            loss = self._seen.loss_function
            labels, z = loss.targets(y), loss.whole_margins(y, z)
            z = log_odds(loss.link, z)
            self.scores.add(labels, z, weight)
            if self.days_of is not None and self.spec.batch in (None, 1):  # else rows wait, and their days with them
                counts = chunk.weight > 0
                days = self.days_of(chunk if counts.all() else chunk.rows(counts))
                dated = days != NO_DAY
                self.by_day.add(days[dated], labels[dated], z[dated], weight[dated])

    def go_on(self, loss: str, offsets: bool, n_streams: int, n_features: int) -> None:
        """Open the streams of an earlier fit, whose loss may have got its number from its first rows."""
        if n_streams:
            numbered = isinstance(self.spec.loss, str) and loss.partition(":")[0] == self.spec.loss
            self.spec, self.offsets = replace(self.spec, loss=loss) if numbered else self.spec, offsets
            self.streams = [open_stream(self._seen, n_features) for _ in range(n_streams)]

    @property
    def _seen(self) -> Spec:
        """What is asked for, of a loss that sees the offsets of rows."""
        loss = self.spec.loss_function
        if self.n_classes:
            loss = loss.of_classes(self.n_classes)
            return replace(self.spec, loss=loss_with_offset(loss) if self.offsets else loss)
        return replace(self.spec, loss=loss_with_offset(loss)) if self.offsets else self.spec

    def _validated(self, learnt: list[Any]) -> ProgressiveValidation:
        """The mean of the margins' losses; the predicted label is that of the largest margin."""
        loss = self._seen.loss_function
        parts = [progressive_validation(loss, y, z, weight) for y, z, weight in learnt]
        if len(parts) == 1:
            return parts[0]
        ys, zs = (np.stack([one[i] for one in learnt]) for i in (0, 1))
        ys = loss.targets(ys)
        right = float(learnt[0][2] @ (ys.argmax(axis=0) == zs.argmax(axis=0)))
        return parts[0]._replace(loss=float(np.mean([one.loss for one in parts])), right=right)

    def for_classes(self, n_classes: int) -> None:
        """Make room for new labels."""
        if not self.streams or n_classes < 3 or self.n_classes:
            return
        if len(self.streams) == 1:
            if self.offsets:
                raise OptionError(
                    "a third class has come, and offsets were those of a margin between two: name all classes at first"
                )
            self.streams.insert(0, mirrored(self.streams[0]))
        width = self.streams[0].n_features
        self.streams += [open_stream(self._seen, width) for _ in range(n_classes - len(self.streams))]


class Learner:
    """Learns rows as they come: numbers, or labels, of which new ones may appear at any time."""

    def __init__(self, spec: Spec, classes: np.ndarray | None = None, all_classes_known: bool = False) -> None:
        if spec.standardize and not SOLVERS[spec.solver].finds_alpha:
            raise OptionError("rows as they come cannot be standardised by columns not seen yet: set standardize=False")
        if spec.penalty_factors is not None or spec.groups is not None or spec.bounds is not None:
            raise OptionError("penalty_factors, bounds and groups are for 'exact' and 'best-k', not for streams")
        if spec.loss_function.levels:
            raise OptionError("a stream learns one quantile: give one level, such as quantile:0.9, to each of several")
        n_together = 0
        in_order = spec.loss_function.n_outputs > 1 or not spec.loss_function.symmetric
        if classes is not None and in_order and not all_classes_known:
            raise OptionError(
                f"loss {spec.loss_function.name!r} learns rows as they come where all classes are named at first, as "
                "partial_fit can have them: let a file be read more than once (leave one_pass out), or take loss "
                "'logistic'"
            )
        if classes is not None and spec.loss_function.n_outputs > 1:
            of_classes = spec.loss_function.of_classes(len(classes))
            n_together = of_classes.n_outputs if of_classes.n_outputs > 1 else 0
            spec = spec if n_together else replace(spec, loss=of_classes.name)
        self.margins, self.classes, self._all_known = Margins(spec, n_classes=n_together), classes, all_classes_known
        self.offset: Offset | None = None  # where the offsets of rows come from
        self.order = LabelOrder()

    @property
    def spec(self) -> Spec:
        return self.margins.spec

    @property
    def steps(self) -> int:
        """Taken so far."""
        return self.margins.streams[0].state.steps

    def check_classes(self, named: np.ndarray) -> None:
        """Refuse other classes than were named at first."""
        if self._all_known and self.classes is not None and not np.array_equal(named, self.classes):
            raise DataError(
                f"classes are {named.tolist()} here, and were {self.classes.tolist()} at first: name the same, or none"
            )

    def note_offset(self, offset: bool, exposure: bool) -> None:
        """Remember which of these is given beside the rows."""
        if offset or exposure:
            self.offset = Offset(exposure=exposure)

    def learn(self, chunk: Chunk) -> None:
        """Learn rows whose target is a number."""
        self.margins.learn(chunk, [chunk.y])

    def learn_labelled(self, chunk: Chunk, labels: np.ndarray) -> None:
        """Learn rows with labels, of which some may be new."""
        assert self.classes is not None
        if self.spec.class_weight == "balanced":
            raise OptionError("class_weight='balanced' needs all rows; rows as they come take a dict of weights")
        if self._all_known and len(unknown := np.setdiff1d(labels, self.classes)):
            raise DataError(f"y holds {unknown.tolist()[0]!r}, which is not among the classes {self.classes.tolist()}")
        by_label: Any = self.spec.class_weight or {}
        if self._all_known:
            check_labels(by_label, self.classes.tolist())
        for rows, known in runs_of_known_labels(labels, self.classes.tolist()):
            self.classes = np.array(known)
            self.margins.for_classes(len(known))
            codes = codes_among(labels[rows], known)
            self.order.add(codes)
            weights = np.array([by_label.get(label, 1.0) for label in known])[codes]
            part = chunk.rows(rows)
            targets = [codes.astype(np.float64)] if self.margins.n_classes else targets_of(codes, len(known))
            self.margins.learn(part._replace(weight=part.weight * weights), targets)

    def n_chosen(self, n_features: int) -> int:
        """How many features the model has as of now."""
        streams = self.margins.streams
        return streams[0].n_chosen if len(streams) == 1 else len(self.trained(n_features).support)

    @property
    def scores(self) -> ProgressiveScores | None:
        """How good probabilities were before their rows were learnt; None where there are none, or several classes."""
        if len(self.margins.streams) != 1 or self.classes is None or self.margins.n_classes:
            return None
        return self.margins.scores.scores(swapped=self._swapped)

    @property
    def scores_by_day(self) -> dict[str, ProgressiveScores]:
        """The scores by day, where rows have dates."""
        return {} if self.scores is None else self.margins.by_day.scores(swapped=self._swapped)

    @property
    def _swapped(self) -> bool:
        """Whether the second of two classes by name, the positive one, was learnt as the negative one."""
        if self.classes is None or len(self.classes) != 2 or self.margins.offsets:
            return False
        return bool(self.classes[0] > self.classes[1])

    @property
    def _log_odds(self) -> float | None:
        """Those of all rows, where there is one margin of log odds, to which nothing is added."""
        one = len(self.margins.streams) == 1 and self.classes is not None and self.spec.loss_function.link.is_log_odds
        return self.margins.scores.log_odds if one and not self.margins.offsets else None

    def trained(self, n_features: int, feature_names: Sequence[str] | None = None) -> Trained:
        """The model, as of now."""
        models, classes = self._in_order([stream.calibrated(self._log_odds) for stream in self.margins.streams])
        for model in models:
            check_finite(model.coef, model.intercept, self.steps)
        return Trained(
            spec=self.spec,
            solver=self.spec.solver,
            coef=coefficients(models, n_features),
            intercept=np.concatenate([np.atleast_1d(model.intercept) for model in models]),
            n_iter=self.steps,
            classes=classes,
            feature_names=feature_names,
            scale=self.margins.streams[0].deviations,
            known={} if models[0].features is None else known_features(models),
            offset=self.offset,
            leads=self.margins.streams[0].leads if self.spec.polish and len(models) == 1 else None,
        )

    def _in_order(self, models: list[Learnt]) -> tuple[list[Learnt], np.ndarray | None]:
        """The models in the order of the names of their classes; of two, the positive side is the second.

        Offsets were those of a margin between two, and keep its sides.
        """
        if self.classes is None or len(self.classes) < 2 or self.margins.offsets or self.margins.n_classes:
            return models, self.classes
        order = sorted(range(len(self.classes)), key=self.classes.tolist().__getitem__)
        if len(models) == 1 and order != [0, 1]:
            models = [models[0]._replace(coef=-models[0].coef, intercept=-models[0].intercept)]
        elif len(models) > 1:
            models = [models[i] for i in order]
        return models, self.classes[order]
