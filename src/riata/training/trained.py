"""The result of a fit: the model, its certificate, history and cost. It holds no data, so it can be kept."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from riata.data.columns.kept_names import KeptNames
from riata.data.columns.names import Names
from riata.data.columns.packed_names import MANY
from riata.data.columns.strings import NAMED_AT_ONCE
from riata.data.encoding import Encoding
from riata.data.offset import Offset
from riata.data.opening.profile import Profile
from riata.losses import Loss
from riata.model.hazard import BaselineHazard
from riata.model.model import Model
from riata.model.model_words import in_a_line
from riata.model.training_facts import TrainingFacts
from riata.outcome.choice_sentences import why_all_chosen
from riata.outcome.choices import LastWithinSize
from riata.outcome.folds_used import FoldsUsed
from riata.outcome.proofs import Bound
from riata.outcome.rest import Rest
from riata.outcome.sentences import all_bounds, why_all
from riata.outcome.stop import Stop
from riata.penalties import Penalty
from riata.solvers.iterate import Leads
from riata.solvers.online.progressive_scores import ProgressiveScores
from riata.training.coefficients import dense_part, known_numbers, support_of
from riata.training.driver import Record
from riata.training.parameters import OF_CLASSES, OF_SPEC
from riata.training.selection.path_choice import PathChoice
from riata.training.spec import Spec

Known = dict[int, tuple[str | None, float]]


@dataclass(frozen=True)
class Course:
    """History, certificate and cost of a fit."""

    formula: str  # what was minimised
    alphas: list[float | None]  # of every margin, as are these three
    ks: list[int | None]
    ridges: list[float | None]
    histories: list[list[Record]]
    n_rows: int
    passes: float
    seconds: float
    objective: float
    gap: float | None
    stops: list[Stop]  # why every margin's fit ended
    searched: list[PathChoice] = field(default_factory=list)  # the path of every margin, where k or alpha was "auto"
    counted: str = "features"  # what k counts
    bounds: list[Bound | None] = field(default_factory=list)  # of every margin: how much better k others could be
    progressive: ProgressiveScores | None = None  # of a stream: how good probabilities of rows not learnt yet were
    progressive_by_day: dict[str, ProgressiveScores] = field(default_factory=dict)  # the same, where rows have dates
    rest: Rest | None = None  # what is known of features that were no candidates, where a model was polished

    @property
    def folds(self) -> FoldsUsed | None:
        """The folds that models were scored on, the same for all margins; None where there were none."""
        choices = [one.selection.choice for one in self.searched]
        return next((one.scores.folds for one in choices if not isinstance(one, LastWithinSize)), None)

    @property
    def converged(self) -> bool:
        """Whether the fits of all margins converged."""
        return all(stop.converged for stop in self.stops)

    @property
    def reason(self) -> str:
        """Why they stopped, in words."""
        return why_all(self.stops)

    @property
    def how_much_better(self) -> str | None:
        """What the bounds say, in words; None where there are none."""
        return all_bounds(self.bounds)


@dataclass(frozen=True)
class Trained:
    """The result of `riata.train`: a model with its certificate, history and cost.

    A model has one margin, or with several classes, targets or quantiles one for each.

    Attributes
    ----------
    spec : the parameters, as they were given.
    solver : the solver that was used.
    coef : margins x features; a sparse array if features are known by number only.
    intercept : one number per margin.
    n_iter : iterations of the solver; steps, for rows learnt as they come.
    classes, class_count : the labels and the number of rows of each; None in a regression.
    feature_names : names of all features, if they have names.
    scale, mean : standard deviation and mean of every column, as the model sees it.
    known : name and deviation of features that are known by number only.
    encoding : how columns became features; None if the features were an array.
    profile : what the first pass found in the columns of a file or a table.
    course : history, certificate and cost of the fit; None while a stream goes on.
    baseline : the predictions of the model without features, if known.
    offset : where the offsets of the rows came from, if there were any.
    cutpoints : for classes in an order, the cutpoints between neighbours.
    hazard : for times to an event, the baseline hazard.
    targets : the names of several targets.
    n_crossing : with several quantiles, the number of training rows in which they cross.
    leads : after an online solver, where an exact fit would start.
    learner : after a stream, the state from which it can go on.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> trained = riata.train(riata.open(X, 3 * X[:, 4] - X[:, 7]), riata.Spec(k=2))
    >>> trained.support.tolist(), trained.course.converged
    ([4, 7], True)
    """

    spec: Spec
    solver: str
    coef: Any
    intercept: np.ndarray
    n_iter: int
    classes: np.ndarray | None = None
    class_count: np.ndarray | None = None
    feature_names: Sequence[str] | None = None
    scale: np.ndarray | None = None
    mean: np.ndarray | None = None
    known: Known = field(default_factory=dict)
    encoding: Encoding | None = None
    profile: Profile | None = None
    course: Course | None = None
    baseline: list[float] | None = None
    offset: Offset | None = None
    hazard: BaselineHazard | None = None
    cutpoints: np.ndarray | None = None
    targets: tuple[str, ...] | None = None
    n_crossing: int | None = None
    leads: Leads | None = None
    learner: Any = None

    def __repr__(self) -> str:
        return f"<Trained by solver {self.solver!r}: {in_a_line(self.to_model())[1:]}"

    @property
    def task(self) -> str:
        if self.spec.loss_function.tasks == ("survival",):
            return "survival"
        return "regression" if self.classes is None else "classification"

    @property
    def n_features(self) -> int:
        return int(self.coef.shape[1])

    @property
    def support(self) -> np.ndarray:
        """The numbers of the chosen features."""
        return support_of(self.coef)

    @property
    def labels(self) -> list[str]:
        """What each margin stands for: a class, a target or a quantile; "" if there is only one margin."""
        if self.targets is not None:
            return list(self.targets)
        if levels := self.spec.loss_function.levels:
            return [f"{level:g}" for level in levels]
        if self.classes is None or len(self.intercept) == 1:
            return [""]
        return [str(label) for label in self.classes]

    @property
    def labels_of_fits(self) -> list[str]:
        """The class of each fit; "" if one fit has all margins."""
        return self.labels if self.course is None or len(self.course.stops) > 1 else [""]

    def names_of(self, features: np.ndarray) -> list[str]:
        """The names of some features.

        Parameters
        ----------
        features : array of int
            Their numbers.

        Returns
        -------
        list of str
            A name for each.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(100, 20))
        >>> trained = riata.train(riata.open(X, 3 * X[:, 4] - X[:, 7]), riata.Spec(k=2))
        >>> trained.names_of(trained.support)
        ['x4', 'x7']
        """
        names, numbers = self.feature_names, features.tolist()
        if isinstance(names, Names):
            usual = names.at_all(features)
        else:
            usual = [f"x{j}" if names is None else str(names[j]) for j in numbers]
        return [self.known.get(j, (None,))[0] or name for j, name in zip(numbers, usual, strict=True)]

    def _names_in_blocks(self, features: np.ndarray) -> Iterator[str]:
        """The names of very many features, of which few are strings of Python at a time."""
        for start in range(0, len(features), NAMED_AT_ONCE):
            yield from self.names_of(features[start : start + NAMED_AT_ONCE])

    @property
    def all_names(self) -> list[str]:
        """The names of all features, or of the chosen ones if only those have names."""
        return self.names_of(known_numbers(self.coef, self.n_features))

    @property
    def at_chosen_strength(self) -> Spec:
        """The parameters, with the chosen alpha or k in place of "auto"."""
        searched = [] if self.course is None else self.course.searched
        if len(searched) != 1:  # nothing was searched, or every class has a strength of its own
            return self.spec
        path, chosen = searched[0].path, searched[0].selection.index
        value, debias = path.values[chosen].item(), self.spec.debias if path.debias is None else path.debias
        if path.by == "k":
            return replace(self.spec, alpha=None, k=value, ridge=path.ridge, debias=debias)
        return replace(self.spec, alpha=value, k=None, debias=debias)

    def to_model(self) -> Model:
        """The model alone, to save it as a readable file and to predict.

        Returns
        -------
        Model
            It has the chosen features only.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(100, 20))
        >>> trained = riata.train(riata.open(X, 3 * X[:, 4] - X[:, 7]), riata.Spec(k=2))
        >>> round(trained.to_model().score(X, 3 * X[:, 4] - X[:, 7]), 6)
        1.0
        """
        chosen, spec = self.support, self.spec
        many = len(chosen) >= MANY  # of which objects of Python would take more memory than the fit
        names = KeptNames(self._names_in_blocks(chosen)) if many else self.names_of(chosen)
        encoding = self.encoding
        if encoding is not None and spec.normalize is None:  # the norm of a row needs every column
            listed = not encoding.hashed and encoding.n_features == self.n_features
            encoding = encoding.of_places(chosen) if listed else encoding.of_features(names)
        loss = spec.loss_function
        formula = f"mean {loss.name} loss, learnt from a stream by {self.solver}"
        return Model(
            task=self.task,
            loss=loss.name,
            link=loss.link.name,
            objective=formula if self.course is None else self.course.formula,
            classes=None if self.classes is None else self.classes.tolist(),
            n_features=self.n_features,
            names=names,
            indices=array("q", chosen.astype(np.int64)) if many else chosen.tolist(),
            coef=dense_part(self.coef, chosen),
            deviations=array("d", self._deviations_of(chosen)) if many else self._deviations_of(chosen).tolist(),
            intercept=self.intercept.astype(float),
            normalize=spec.normalize,
            encoding=None if encoding is None else encoding.to_json(),
            training=self._training(),
            threshold=spec.threshold,
            hazard=self.hazard,
            cutpoints=self.cutpoints,
            targets=None if self.targets is None else list(self.targets),
        )

    def _deviations_of(self, features: np.ndarray) -> np.ndarray:
        """The deviations of some columns: those of the data, those a method has kept, or 1 where there are none."""
        if self.scale is not None:
            return np.asarray(self.scale[features], dtype=np.float64)
        return np.array([self.known.get(j, (None, 1.0))[1] for j in features.tolist()], dtype=np.float64)

    def _training(self) -> TrainingFacts:
        """How the model was made, in plain values."""
        course = self.course
        if course is None:
            return TrainingFacts(self.solver, offset=None if self.offset is None else self.offset.role)
        parameters = {
            one.argument: _as_plain(getattr(self.spec, name))
            for name, one in OF_SPEC.items()
            if self.classes is not None or name not in OF_CLASSES
        }
        return TrainingFacts(
            solver=self.solver,
            k=_as_plain(one_or_all(course.ks)),
            ridge=_as_plain(one_or_all(course.ridges)) if any(course.ridges) else None,
            selection=why_all_chosen([(one.label, one.selection.choice) for one in course.searched]),
            alpha=_as_plain(one_or_all(course.alphas)),
            n_rows=course.n_rows,
            objective_value=course.objective,
            gap=course.gap,
            converged=course.converged,
            stopped_because=course.reason,
            passes=round(course.passes, 2),
            seconds=round(course.seconds, 3),
            parameters={name: value for name, value in parameters.items() if _plain(value)},
            stop=[stop.reason for stop in course.stops],
            proof=[stop.proof for stop in course.stops],
            counted=course.counted,
            bound=course.bounds if any(course.bounds) else [],
            how_much_better=course.how_much_better,
            progressive=None if course.progressive is None else course.progressive._asdict(),
            progressive_by_day={day: scores._asdict() for day, scores in course.progressive_by_day.items()},
            rest=course.rest,
            folds=course.folds,
            penalty_factors=self.spec.penalty_factors is not None,
            baseline=self.baseline,
            offset=None if self.offset is None else self.offset.role,
        )


def one_or_all(values: Sequence[Any]) -> Any:
    """The value of the only margin, or a list of those of several."""
    return values[0] if len(values) == 1 else list(values)


def _as_plain(value: Any) -> Any:
    """Numbers of NumPy as Python's own, which JSON can hold; a loss by its name, a penalty as it prints.

    A bound that is infinite is none.
    """
    if isinstance(value, Loss):
        return value.name
    if isinstance(value, Penalty):
        return repr(value)
    if isinstance(value, list | tuple):
        return [_as_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _as_plain(one) for name, one in value.items()}
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _plain(value: Any) -> bool:
    """Whether JSON can hold it."""
    if isinstance(value, dict):
        return all(_plain(one) or (isinstance(one, list) and all(map(_plain, one))) for one in value.values())
    return value is None or isinstance(value, str | bool | int | float)
