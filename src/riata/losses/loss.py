"""The interface of losses: functions of a row's target `y` and its margin `z = x . w + b`.

A loss of your own is a class with a `name`, `value`, `derivative` and `second_derivative`. They take arrays of any
library that follows the array API, since they run where the rows are, such as on a GPU; `riata.arrays.namespace(z)` has
the functions of that library. The loss must be convex in z and never negative: certificates rely on
`conjugate(y, 0) = -min_z value(y, z) <= 0` (`riata.objective`). If its least value for a target is negative, subtract
that: half a deviance is such a loss, a negative log-likelihood need not be.

All other attributes have defaults. They hold everything that riata needs to know about a loss, so that no code tests
for its name.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from riata.arrays import Array, namespace
from riata.errors import OptionError
from riata.losses.link import IDENTITY, Link

CANCELLATION = 1e-6  # of the largest |y z|: how negative a loss may be that is a small difference of large numbers


class Loss(ABC):
    """The base class of all losses: functions of a row's target y and its margin z = x . w + b.

    To write a loss, derive from this class and define a `name`, `value`, `derivative` and `second_derivative`, on
    arrays; the page "A loss and a penalty of your own" shows how. The loss must be convex in z and never negative. Two
    losses of one class with the same parameters are equal.

    Examples
    --------
    >>> import numpy as np, riata
    >>> class LogCosh(riata.Loss):
    ...     name, curvature = "log-cosh", 1.0
    ...     def value(self, y, z):
    ...         return np.logaddexp(z - y, y - z) - np.log(2.0)
    ...     def derivative(self, y, z):
    ...         return np.tanh(z - y)
    ...     def second_derivative(self, y, z):
    ...         return 1.0 - np.tanh(z - y) ** 2
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> model = riata.SparseRegressor(alpha=0.1, loss=LogCosh()).fit(X, 3 * X[:, 4] - X[:, 7])
    >>> model.converged_, [int(j) for j in model.get_support(indices=True)]
    (True, [4, 7])
    """

    name: str
    code: int | None = None  # of its compiled version in kernels/losses.py; None: there are array functions only
    parameter: float | None = None  # what the compiled version is told beside the code
    link: Link = IDENTITY

    # Its targets.
    tasks: tuple[str, ...] = ("regression",)  # which it can be chosen for
    labels: bool = False  # whether targets are -1 or +1 (the two classes)
    symmetric: bool = True  # of labels: whether they may change places where the margin changes its sign
    ordered: bool = False  # of classes: whether they have an order, and one margin with cutpoints between them
    order: tuple[str, ...] = ()  # the labels from the lowest to the highest class, where they were named
    relative: bool = False  # whether it is a function of y - z, so that a constant may be taken from all targets
    refusal: str = "the target has values that the loss cannot take"  # the error message for such targets

    of_shares: bool = False  # whether targets are shares of successes, each of which may stand for several trials
    logarithms: bool = False  # whether margins are logarithms of means: y in other units moves them all alike

    # Its shape.
    quadratic: bool = False  # whether it is (y - z)^2 / 2: then the products of columns determine F
    curvature: float = np.inf  # a bound on the second derivative, which sets safe steps
    power: float | None = None  # where it is half the deviance of a mean exp(z) whose variance goes with mean**power
    least_curvature: float = 0.0  # replaces smaller second derivatives in Newton steps, where they are 0 on an interval
    stiff: bool = False  # whether curvatures of rows differ by many orders, so that descent along columns is slow
    n_outputs: int = 1  # margins of a row; with several, z and the derivative are rows x outputs
    steps_of_classes: bool = False  # whether solver 'online' has a sweep of all its margins
    couples_rows: bool = False  # whether the loss is no sum over rows: see `riata.losses.coupled`

    # The usual name and unit of its mean over rows.
    score: str = "loss"  # such as "mse"
    summed: str = ""  # over what it is a sum within a row, as part of a formula in words
    score_factor: float = 1.0  # the score is so many times the mean loss
    half_deviance: bool = False  # whether it is half a deviance: then there are AIC and BIC

    curvature_by_spread: float = 0.0  # of the mean of a loss with a kink, times the mean distance of targets from it
    level: float | None = None  # of a loss of quantiles: the share of rows that is to lie below predictions
    levels: tuple[float, ...] = ()  # of several quantiles, each of which is fitted by itself,
    each: tuple["Loss", ...] = ()  # and the loss of each of them

    # For reports.
    constant_words: str = "mean"  # what the best constant prediction is, of the targets
    formula: str = ""  # as MathML; where it is empty, the name is shown

    @abstractmethod
    def value(self, y: Array, z: Array) -> Array:
        """The loss of every row, 0 or more."""

    @abstractmethod
    def derivative(self, y: Array, z: Array) -> Array:
        """Its first derivative in z."""

    def second_derivative(self, y: Array, z: Array) -> Array:
        """Its second derivative in z, for Newton steps."""
        raise NotImplementedError(f"loss {self.name!r} has no second derivative")

    def smoothed(self, width: float) -> "Loss":
        """Of a loss with a kink, one with a second derivative that differs from it by a few widths, for Newton steps.

        Its slopes must be slopes of this loss.
        """
        raise NotImplementedError(f"loss {self.name!r} has no kink to smooth")

    def ahead(self, width: float) -> "Loss":
        """Of a smoothed loss: the one whose derivatives make the first step to this smaller width."""
        return self

    def bent_at(self, times: float) -> "Loss | None":
        """Of a loss that bends from a square to a straight line: the one whose bend is so many times as far out, and
        whose slopes are so many times as large; None where there is no bend."""
        return None

    def conjugate(self, y: Array, u: Array) -> Array:
        """sup_z u z - value(y, z), finite at 0 and at every u = derivative(y, z).

        Passes do not call it: at u = derivative(y, z) it is u z - value(y, z) (Fenchel and Young).
        """
        raise NotImplementedError(f"loss {self.name!r} has no conjugate")

    def constant(self, mean_y: Any) -> Any:
        """The constant margin of least loss for targets of this mean; None where that depends on more than the mean."""
        return None

    def of_classes(self, n_classes: int) -> "Loss":
        """The loss of so many classes: itself, which takes one against the rest, unless it has margins for all."""
        return self

    def of_targets(self, n_targets: int) -> "Loss":
        """The loss of so many targets at once: itself for one; for several it needs margins for all."""
        if n_targets > 1:
            raise OptionError(
                f"loss {self.name!r} is of one target, and there are {n_targets}: take loss 'squared', or fit one "
                "target after the other"
            )
        return self

    def balance(self, y: Array) -> tuple[Array, Array]:
        """Two numbers for each row, the logarithm of the ratio of whose weighted sums is the best constant margin.

        Called where there is a `power`, and `constant` does not tell.
        """
        raise NotImplementedError

    def targets(self, y: Array) -> Array:
        """The targets alone, where rows bring something else beside them (`riata.losses.with_offset`)."""
        return y

    def whole_margins(self, y: Array, z: Array) -> Array:
        """The margins z of rows with what else they bring: what predictions are made of."""
        return z

    def takes(self, y: Array) -> Array:
        """Which of these targets it accepts, as a mask."""
        return namespace(y).isfinite(y)

    def check_values(self, y: Array, z: Array, values: Array) -> None:
        """Refuse values that are negative beyond rounding: the certificate of a fit would be wrong."""
        xp = namespace(values)
        if values.shape[0] and float(xp.min(values)) < -CANCELLATION * (1.0 + float(xp.max(xp.abs(y * z)))):
            raise OptionError(
                f"loss {self.name!r} is {float(xp.min(values)):.4g} in a row, and certificates need 0 or more: add "
                "what is missing for each target"
            )

    def mean(self, z: Array) -> Array:
        """The prediction at margin z."""
        return self.link.mean(z)

    def deviance(self, mean_losses: np.ndarray, n_rows: int) -> np.ndarray | None:
        """Minus twice the log-likelihood of n rows with these mean losses, up to a constant; None if it is none."""
        return 2.0 * n_rows * mean_losses if self.half_deviance else None

    def reading(self, of: str | None = None) -> str:
        """What a margin means, in words, where a number is predicted, or the class `of`."""
        return self.link.reading(of)

    @property
    def words(self) -> str:
        """Its name in reports."""
        return f"{self.name} loss"

    @property
    def kinked(self) -> bool:
        """Whether it has a kink, and is minimised by way of what `smoothed` gives."""
        return type(self).smoothed is not Loss.smoothed

    @property
    def has(self) -> frozenset[str]:
        """Its properties, by the names of `riata.solvers.capabilities`."""
        own = type(self)
        facts = {
            "second derivative": own.second_derivative is not Loss.second_derivative,
            "smoothing": self.kinked,
            "no kink": not self.kinked,
            "conjugate": own.conjugate is not Loss.conjugate,
            "bounded curvature": bool(np.isfinite(self.curvature)),
            "compiled": self.code is not None,
            "steps of classes": self.steps_of_classes,
            "one margin a row": self.n_outputs == 1,
            "sum over rows": not self.couples_rows,
        }
        return frozenset(name for name, there in facts.items() if there)

    @property
    def takes_all(self) -> bool:
        """Whether every finite number is a valid target, so that targets need no check."""
        return type(self).takes is Loss.takes

    @property
    def moments_tell_slopes(self) -> bool:
        """Whether slopes at a constant margin are p + q y: then moments give the gradient of the empty model."""
        return self.labels or self.quadratic

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
