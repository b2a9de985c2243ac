"""Which model of a path was chosen, and why."""

from dataclasses import dataclass
from enum import Enum

from riata.outcome.folds_used import FoldsUsed


@dataclass(frozen=True)
class PathModel:
    """A model of a path, by its value of k or alpha."""

    by: str  # "k" or "alpha"
    value: float
    n_selected: int  # features
    debias: float | None = None  # how far it was moved towards a fit without the penalty
    ridge: float = 0.0  # beside k
    chosen_under: float | None = None  # the ridge that its features were chosen under


class ScoredOn(Enum):
    """Which rows the models were scored on."""

    FOLDS = "folds"
    HELD_OUT_ROWS = "held-out-rows"
    TRAINING_ROWS = "training-rows"  # by a criterion, which adds a price for every parameter


@dataclass(frozen=True)
class Scores:
    """A score by its name, and what it was measured on: folds, held-out rows, or the training rows by a criterion."""

    name: str
    on: ScoredOn
    count: int  # of folds, of held-out rows, or of models compared by a criterion
    folds: FoldsUsed | None = None  # where it was measured on folds


@dataclass(frozen=True)
class LeastScore:
    """The model of least score."""

    model: PathModel
    scores: Scores
    score: float
    more_may_be_better: bool = False  # it is the last of the path, which could have gone on
    all_but_shrinkage: bool = False  # it is the last of a path that ended as hardly any loss was left


@dataclass(frozen=True)
class WithinOneStandardError:
    """The sparsest model whose score is within one standard error of the least."""

    model: PathModel
    scores: Scores
    score: float
    error: float
    least_model: PathModel
    least_score: float
    more_may_be_better: bool = False  # the least is that of the last of the path, which could have gone on
    all_but_shrinkage: bool = False  # and the same of a path that ended as hardly any loss was left
    gives_up_most: bool = False  # of what the least gains over the first model of the path: the rows tell too little
    half_of_gain: bool = False  # sparser ones were as near, and were left for having less than half of that gain


@dataclass(frozen=True)
class LastWithinSize:
    """The last model of a path of alphas before one of more than k features."""

    model: PathModel
    k: int
    more_may_be_better: bool = False  # it is the last of the path, which could have gone on


Choice = LeastScore | WithinOneStandardError | LastWithinSize
