"""A path of one margin along alpha: models for falling alphas on all rows, the sparsest first."""

from collections.abc import Callable, Sequence

import numpy as np

from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.losses.several_margins import n_features_in
from riata.objective import gap_unit
from riata.outcome.path_end import EndReason, PathEnd
from riata.outcome.proofs import DualityGap, Stationary
from riata.outcome.stop import Stop
from riata.solvers.convex.alpha_path import alpha_path
from riata.solvers.convex.compiled_paths.path_models import AlphaModel, PathOptions
from riata.solvers.convex.judge import Judge
from riata.solvers.convex.screened_path import can_be_screened, screened_path
from riata.threads import one_blas_thread
from riata.training.checks import check_spec
from riata.training.fitting import bare_problem, with_start
from riata.training.paths.model_events import model_made
from riata.training.paths.model_path import ModelPath
from riata.training.spec import Spec
from riata.training.stages.first_fit import with_first_fit
from riata.training.stages.univariate import second_stage, single_fits
from riata.training.targets.outputs import of_coefficients

MOST_ALPHAS = 10_000
LENGTH = 100  # alphas of a path
REACH_TALL, REACH_WIDE = 1e-4, 1e-2  # the last alpha as a share of the first, with more rows than features or not
MOST_EXPLAINED = 0.999  # of the empty model's loss, beyond which models only learn the rows by heart
LEAST_GROWTH = 1e-5  # of what is explained, from one model to the next
FEWEST_MODELS = 5  # of a path that ends because it hardly grows


def usual_reach(data: Dataset) -> float:
    """How far a path goes, as a share of its first alpha: with many rows far smaller ones may be the best."""
    return REACH_TALL if data.n_observed > data.n_features else REACH_WIDE


def path_of_margin(
    data: Dataset,
    spec: Spec,
    alphas: Sequence[float] | np.ndarray | None = None,
    *,
    length: int = LENGTH,
    reach: float | None = None,
    max_features: int | None = None,
    progress: Callable[[float, int], None] | None = None,
) -> ModelPath:
    """Models for decreasing alphas: those given, or `length` of them from alpha_max to `reach` times it.

    By default `reach` is 0.0001 with more rows than features, and 0.01 otherwise, as in glmnet.
    It ends early with the first model of at least `max_features` features, and, with alphas of its own, where a model
    explains nearly all of the target or hardly more than the one before: `ended` says so.
    """
    check_spec(spec, data.n_features)
    if alphas is None and not (1 <= length <= MOST_ALPHAS and (reach is None or 0 < reach <= 1)):
        raise OptionError(
            f"a path has 1 to {MOST_ALPHAS} alphas and reaches a share in (0, 1], not {length} and {reach}"
        )
    growing = GrowingPath(data, spec, alphas, length=length, reach=reach)
    while growing.grow():
        model_made(growing.n_models, len(growing.alphas))
        if progress is None and max_features is None:
            continue
        n_features = n_features_in(growing.last.w, spec.loss_function.n_outputs)
        if progress is not None:
            progress(growing.alphas[growing.n_models - 1], n_features)
        if max_features is not None and n_features >= max_features:
            growing.end(EndReason.FEATURES)
    return growing.models()


class GrowingPath:
    """A path along alpha that is made one model at a time.

    With alphas of its own it ends where more models do not pay, as in glmnet (Friedman, Hastie & Tibshirani, 2010):
    where the model explains nearly all, or hardly more than the one before.
    """

    def __init__(
        self,
        data: Dataset,
        spec: Spec,
        alphas: Sequence[float] | np.ndarray | None = None,
        *,
        length: int = LENGTH,
        reach: float | None = None,
        only_scored: bool = False,
    ) -> None:
        """Models that are `only_scored` may be certified over the features that can be in them."""
        check_spec(spec, data.n_features)
        self._data, self._spec, self._passes_before = data, spec, data.passes
        self._singles = single_fits(data, spec) if spec.unilasso else None
        if self._singles is None:
            spec = with_first_fit(data, spec)
        else:
            data, spec = second_stage(data, self._singles, spec)
        problem, largest = with_start(bare_problem(data, spec), spec)
        assert problem.start is not None
        self._may_end = alphas is None
        reach = usual_reach(data) if reach is None else reach
        self.alphas = largest * np.geomspace(1.0, reach, length) if alphas is None else _checked(alphas)
        each = of_coefficients(spec, data.n_features)
        self._penalties = each.penalties_at(self.alphas, problem.scale)
        self._judge = Judge.of(problem, problem.start)
        self._unit = gap_unit(problem)
        self._options = PathOptions(self._judge, self._judge.unit(self._unit), spec.tol, spec.memory_bytes)
        self._first_loss = problem.start.at.loss
        along = screened_path if only_scored and can_be_screened(problem) else alpha_path
        self._left = along(problem, largest, self.alphas, self._penalties, self._options)
        self._models: list[AlphaModel] = []
        self.ended: PathEnd | None = None

    def loosen(self, times: float, most: float) -> None:
        """Make further models to so many times the gap asked for, up to the `most`, of the loss of the last model.

        Slopes, where they stand for a gap, go with the root of one, and may be off by a tenth of that.
        """
        share = 0.1
        if self._judge.has_gap:
            share = min(1.0, self.last.loss / self._unit) if self._models else 1.0
        self._options.loosened = True
        self._options.tol = max(self._spec.tol, min(times * self._spec.tol, most) * share)

    @property
    def n_models(self) -> int:
        return len(self._models)

    @property
    def last(self) -> AlphaModel:
        """The last model so far."""
        return self._models[-1]

    def grow(self) -> bool:
        """Make the next model, unless the path has come to its end; whether there is one."""
        if self.ended is not None or self.n_models == len(self.alphas):
            return False
        model = next(self._left)
        if self._may_end and self._models and model.gap > self._spec.tol:
            self.end(EndReason.UNCERTIFIED)
            return False
        self._models.append(model)
        if self._may_end and self.n_models < len(self.alphas):
            self._end_if_it_stops_paying()
        return True

    def end(self, reason: EndReason) -> None:
        """Make no further models; without effect at the last alpha."""
        if self.n_models < len(self.alphas):
            self.ended = PathEnd(self.n_models, len(self.alphas), reason)

    def _end_if_it_stops_paying(self) -> None:
        explained = (self._first_loss - self.last.loss) / self._unit
        if self.last.loss <= (1.0 - MOST_EXPLAINED) * self._unit:
            self.end(EndReason.SATURATED)
        elif self.n_models >= FEWEST_MODELS:
            growth = (self._models[-2].loss - self.last.loss) / self._unit
            if growth < LEAST_GROWTH * explained:
                self.end(EndReason.FLAT)

    def models(self, first: int = 0) -> ModelPath:
        """The models so far, or those from the first of these on."""
        coefs, intercepts, losses, gaps = (np.array(every) for every in zip(*self._models[first:], strict=True))
        with one_blas_thread():  # of such short sums
            values = [penalty.value(w) for penalty, w in zip(self._penalties[first:], coefs, strict=False)]
        if self._singles is not None:
            coefs, intercepts = self._singles.of_features(coefs, intercepts)
        tol = self._spec.tol
        worst, has_gap = float(gaps.max()), self._judge.has_gap
        reached = DualityGap(worst, tol, of_path=True) if has_gap else Stationary(worst, tol, True)
        return ModelPath(
            by="alpha",
            values=self.alphas[first : self.n_models],
            coefs=coefs,
            intercepts=intercepts,
            losses=losses,
            objectives=losses + values,
            gaps=np.maximum(gaps, 0.0) if has_gap else None,
            stop=Stop.reached(reached),
            passes=self._data.passes - self._passes_before,
            ended=self.ended,
            n_outputs=self._spec.loss_function.n_outputs,
            copies=self._data.facts.copies,
        )


def _checked(alphas: Sequence[float] | np.ndarray) -> np.ndarray:
    alphas = np.asarray(alphas, dtype=np.float64)
    fine = alphas.ndim == 1 and len(alphas) > 0 and bool(np.isfinite(alphas).all() and (alphas >= 0).all())
    if not fine or np.any(np.diff(alphas) > 0):
        raise OptionError("alphas must be finite, zero or more, and lie from large to small")
    return alphas
