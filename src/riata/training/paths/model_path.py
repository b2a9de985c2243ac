"""What a path gives: its models, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riata.outcome.choice_sentences import named
from riata.outcome.choices import PathModel
from riata.outcome.path_end import PathEnd
from riata.outcome.proofs import Bound, GlobalBound
from riata.outcome.sentences import why
from riata.outcome.stop import Stop


@dataclass(frozen=True)
class ModelPath:
    """The models of a path: each array has a row, or an entry, for every model.

    Attributes
    ----------
    by : "alpha" or "k".
    values : of alpha, or of k.
    coefs : models x features; of several margins, those of each feature one after the other.
    intercepts : of each model.
    losses, objectives : the mean loss, without the penalty, and with it.
    gaps : certified, relative to the loss of the empty model, before debias; None along k.
    stop : why it ended, and what was proved.
    passes : over the data.
    n_choices : how many features, or groups of them, there are for k to count.
    bounds : along k, what no model of each size has an objective below; None: not asked for.
    ended : along alpha, why there are fewer models than alphas were asked for.
    n_outputs : margins that the models have, where they are fitted at once.
    copies : the feature that each column is a copy of; None: each is another.
    debias : how far they were moved towards fits without a penalty; None: not at all.
    ridge : along k, of all models.
    chosen_under : the ridge that their features were chosen under.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> path = riata.k_path(riata.open(X, 3 * X[:, 4] - X[:, 7]), riata.Spec(), 2)
    >>> path.values.tolist(), path.n_selected.tolist(), path.named(2)
    ([0, 1, 2], [0, 1, 2], 'k = 2')
    """

    by: str
    values: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    losses: np.ndarray
    objectives: np.ndarray
    gaps: np.ndarray | None
    stop: Stop
    passes: float
    n_choices: int | None = None
    bounds: list[Bound] | None = None
    ended: PathEnd | None = None
    n_outputs: int = 1
    copies: np.ndarray | None = None
    debias: float | None = None
    ridge: float = 0.0
    chosen_under: float | None = None

    @property
    def converged(self) -> bool:
        return self.stop.converged

    @property
    def reason(self) -> str:
        """Why it ended there, in words."""
        said = f"{why(self.stop)}{', before debias' if self.debias else ''}"
        return said if self.ended is None else f"{said}; {self.ended.sentence}"

    @property
    def certified(self) -> bool:
        """Whether every model has a proof that none of its kind is better."""
        return self.stop.reason.certified

    @property
    def bound_values(self) -> np.ndarray | None:
        """What no model of each k has an objective below; None where there are no such bounds."""
        if self.bounds is None or not all(isinstance(bound, GlobalBound) for bound in self.bounds[1:]):
            return None
        return np.array([bound.value for bound in self.bounds if isinstance(bound, GlobalBound)])

    @property
    def alphas(self) -> np.ndarray:
        """The values of alpha of a path along alpha."""
        if self.by != "alpha":
            raise AttributeError("a path along k has no alphas: its `values` are the numbers of features")
        return self.values

    @property
    def n_selected(self) -> np.ndarray:
        """How many features each model has."""
        n_selected: np.ndarray = np.count_nonzero(self._used.any(axis=2), axis=1)
        return n_selected

    @property
    def n_coefficients(self) -> np.ndarray:
        """How many coefficients of each model are not zero, those of copies counted once."""
        n_coefficients: np.ndarray = np.count_nonzero(self._used, axis=(1, 2))
        return n_coefficients

    @property
    def n_choosable(self) -> int:
        """How many coefficients there are to choose from, those of copies counted once."""
        return int(self._used[0].size)

    @property
    def _used(self) -> np.ndarray:
        """Which features each model uses, for which outputs: models x features x outputs."""
        used: np.ndarray = self.coefs.reshape(len(self.coefs), -1, self.n_outputs) != 0.0
        if self.copies is None:
            return used
        features = np.zeros((len(used), int(self.copies.max()) + 1, self.n_outputs), dtype=bool)
        for place, feature in enumerate(self.copies.tolist()):
            features[:, feature] |= used[:, place]
        return features

    def __len__(self) -> int:
        return len(self.values)

    def of_sizes(self, sizes: Sequence[int]) -> "ModelPath":
        """The empty model and the models of some sizes, of a path along every k.

        Parameters
        ----------
        sizes : sequence of int
            Which, in rising order.

        Returns
        -------
        ModelPath
            A path of these.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(100, 20))
        >>> riata.k_path(riata.open(X, 3 * X[:, 4] - X[:, 7]), riata.Spec(), 3).of_sizes([2]).values.tolist()
        [0, 2]
        """
        kept = [0, *sizes]
        arrays = {name: getattr(self, name)[kept] for name in ("values", "coefs", "intercepts", "losses", "objectives")}
        return replace(self, **arrays, bounds=None if self.bounds is None else [self.bounds[k] for k in kept])

    def named(self, i: int) -> str:
        """A model of the path, in words.

        Parameters
        ----------
        i : int
            Its place.

        Returns
        -------
        str
            Its alpha or k.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(100, 20))
        >>> riata.path(riata.open(X, 3 * X[:, 4] - X[:, 7]), riata.Spec(), alphas=[1.5]).named(0)
        'alpha = 1.5 (1 feature)'
        """
        return named(self.model(i))

    def model(self, i: int) -> PathModel:
        """A model by its alpha or k and its number of features.

        Parameters
        ----------
        i : int
            Its place.

        Returns
        -------
        PathModel
            What it is known by.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(100, 20))
        >>> model = riata.path(riata.open(X, 3 * X[:, 4] - X[:, 7]), riata.Spec(), alphas=[1.5]).model(0)
        >>> model.by, model.value, model.n_selected
        ('alpha', 1.5, 1)
        """
        n_selected = int(self.n_selected[i])
        return PathModel(self.by, self.values[i].item(), n_selected, self.debias, self.ridge, self.chosen_under)
