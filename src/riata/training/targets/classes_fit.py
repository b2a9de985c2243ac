"""A fit of classes: of all at once, of their order, or of each against the rest."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from riata.data.dataset import Dataset
from riata.data.folds import Folds
from riata.losses import Loss
from riata.training.joined_fits import joined
from riata.training.offsets import with_offsets_beside
from riata.training.one_margin import fit_margin
from riata.training.spec import Spec
from riata.training.targets.class_moments import ClassMoments
from riata.training.targets.ordered_classes import cutpoints_of
from riata.training.targets.risk_sets import centred
from riata.training.targets.several_classes import one_against_rest, weighted
from riata.training.trained import Trained
from riata.user_warnings import Warn, each_once


@dataclass(frozen=True)
class ClassesFit:
    """What the three kinds of fit need."""

    data: Dataset  # whose target is the place of each row's class
    spec: Spec
    chosen_by: Dataset | None  # rows that k or alpha is chosen by
    folds: Folds | None
    classes: np.ndarray
    weights: np.ndarray  # of the classes
    passes_before: float
    warn: Warn

    def trained(self, loss: Loss) -> Trained:
        """The fit with this loss of all classes, or of one of them against the rest."""
        if loss.n_outputs > 1:
            return self._all_at_once(loss)
        return self._in_order(loss) if loss.ordered else self._each_against_the_rest(loss)

    def _all_at_once(self, loss: Loss) -> Trained:
        """A margin for each class, in one problem."""
        spec = replace(self.spec, loss=loss)
        chosen_by = self.chosen_by and weighted(self.chosen_by, self.weights)
        fitted = fit_margin(weighted(self.data, self.weights), spec, chosen_by, self.folds, self.warn)
        return joined([fitted], self.data, self.spec, self.passes_before, self.classes)

    def _in_order(self, loss: Loss) -> Trained:
        """One margin, and cutpoints between neighbours."""
        rows = with_offsets_beside(weighted(self.data, self.weights))
        chosen_by = self.chosen_by and with_offsets_beside(weighted(self.chosen_by, self.weights))
        spec = replace(self.spec, loss=loss, fit_intercept=True)  # which keeps margins near 0
        fitted = centred(fit_margin(rows, spec, chosen_by, self.folds, self.warn), self.data.moments.mean)
        trained = joined([fitted], self.data, self.spec, self.passes_before, self.classes)
        cutpoints = cutpoints_of(rows, loss, trained.coef[0], float(trained.intercept[0]))
        return replace(trained, cutpoints=cutpoints)

    def _each_against_the_rest(self, loss: Loss) -> Trained:
        """A problem for each class; of two classes, one of the second against the first."""
        spec, n_classes = self.spec, len(self.classes)
        if loss != spec.loss_function:
            spec = replace(spec, loss=loss.name, shared_support=False)
        shared = ClassMoments(self.data, self.weights)
        moments = shared if shared.worth_sharing else None
        warn, fits = each_once(self.warn), []
        for position in [1] if n_classes == 2 else range(n_classes):
            of_class = spec
            if spec.checkpoint is not None:
                of_class = replace(spec, checkpoint=Path(spec.checkpoint) / str(position))
            rows = one_against_rest(self.data, position, self.weights, moments)
            chosen_by = self.chosen_by and one_against_rest(self.chosen_by, position, self.weights)
            label = f"{self.classes[position]}" + (f" ({position + 1} of {n_classes})" if n_classes > 2 else "")
            fits.append(fit_margin(rows, of_class, chosen_by, self.folds, warn, label))
        return joined(fits, self.data, spec, self.passes_before, self.classes)
