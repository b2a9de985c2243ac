"""All that the report of a fit tells, gathered in one place before anything is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from riata.data.columns.hashed import SPACE
from riata.data.opening.profile import Profile
from riata.model.model import Model
from riata.model.quality import Quality
from riata.model.training_facts import PerClass, TrainingFacts
from riata.reporting.html.numbers import count
from riata.training.driver import Record
from riata.training.selection.path_choice import PathChoice
from riata.training.selection.stability import Stability
from riata.training.trained import Trained


@dataclass(frozen=True)
class Origin:
    """Where a fit came from, as far as it is known: its data by name, how it was opened, how to repeat it."""

    data: str | None = None
    opened: Mapping[str, Any] = field(default_factory=dict)  # options of riata.open that are not the defaults
    test: str | None = None
    command: str | None = None
    code: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)  # by what was done


@dataclass(frozen=True)
class Facts:
    """A fitted model, and what is known of how it came about; a model from a file knows less than a fit."""

    model: Model
    origin: Origin
    quality: Quality | None = None
    stability: Stability | None = None
    paths: Sequence[PathChoice] = ()
    names: Sequence[str] = ()  # of all features, where there are paths
    scale: np.ndarray | None = None  # and their standard deviations
    histories: Sequence[tuple[str, Sequence[Record]]] = ()  # by the label of the class, where there are several
    profile: Profile | None = None
    class_count: np.ndarray | None = None
    on_training: Quality | None = None  # quality on training rows

    @property
    def training(self) -> TrainingFacts:
        return self.model.training

    @property
    def parameters(self) -> dict[str, Any]:
        return self.training.parameters

    @property
    def k(self) -> PerClass:
        """How many features were allowed, where that was said: a number, or one for each class."""
        return _said(self.training.k)

    @property
    def ridge(self) -> PerClass:
        """The strength of a ridge beside k, where there is one: a number, or one for each class."""
        known = _said(self.training.ridge)
        return _said(self.parameters.get("ridge") or None) if known is None else known

    @property
    def alpha(self) -> PerClass:
        """The strength of the penalty, where there was one: a number, or one for each class."""
        return _said(self.training.alpha)

    @property
    def of_features(self) -> str:
        """How many features there were to choose from."""
        n = self.model.n_features
        return "any number of features" if n == SPACE else count(n, "feature")

    @property
    def data(self) -> str:
        """The name of the data."""
        return self.origin.data or self.training.data or "the data"

    @property
    def target(self) -> str:
        """What is predicted."""
        return str(self.origin.opened.get("target") or self.training.target or "the target")


def _said(value: PerClass) -> PerClass:
    """The value, or None where some class has none."""
    return None if isinstance(value, list) and None in value else value


def gather(
    fitted: Any, origin: Origin, quality: Any = None, stability: Stability | None = None, on_training: Any = None
) -> Facts:
    """The facts of a fitted estimator, of what training left behind, or of a `Model` on its own."""
    if isinstance(fitted, Model):
        return Facts(fitted, origin, quality, stability, on_training=on_training)
    trained = trained_by(fitted)
    course = trained.course
    searched = [] if course is None else course.searched
    return Facts(
        model=trained.to_model(),
        origin=origin,
        quality=quality,
        stability=stability,
        paths=searched,
        names=trained.all_names if searched else (),
        scale=trained.scale if searched else None,
        histories=() if course is None else list(zip(trained.labels_of_fits, course.histories, strict=True)),
        profile=trained.profile,
        class_count=trained.class_count,
        on_training=on_training,
    )


def trained_by(fitted: Any) -> Trained:
    """What training left behind, of a fitted estimator or of itself."""
    return fitted if isinstance(fitted, Trained) else fitted.trained_
