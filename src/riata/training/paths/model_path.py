"""The result of a path: its models, as arrays."""

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
    """The models of a regularisation path; every array has one row or entry per model.

    Attributes
    ----------
    by : "alpha" or "k".
    values : the alphas, or the ks.
    coefs : models x features; with several margins, those of a feature stand next to each other.
    intercepts : the intercepts of the models.
    losses, objectives : the mean loss without the penalty, and with it.
    gaps : certified duality gaps, relative to the loss of the empty model, before debias; None along k.
    stop : why the last fit stopped, and what was proved.
    passes : number of passes over the data.
    n_choices : the number of features, or of groups, to choose from.
    bounds : along k, for each size, a bound that no objective is below; None if not asked for.
    ended : along alpha, why the path has fewer models than alphas were asked for.
    n_outputs : number of margins of each model, if they are fitted together.
    copies : with overlapping groups, the feature that each column is a copy of; None without copies.
    debias : the share of the way to the fit without the penalty; None without debias.
    ridge : along k, the ridge of all models.
    chosen_under : along k, the ridge under which features were chosen, if it is another one.

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
        """A sentence that says why the path ended."""
        said = f"{why(self.stop)}{', before debias' if self.debias else ''}"
        return said if self.ended is None else f"{said}; {self.ended.sentence}"

    @property
    def certified(self) -> bool:
        """Whether every model is certified."""
        return self.stop.reason.certified

    @property
    def bound_values(self) -> np.ndarray | None:
        """For each k, a number that no objective is below; None without such bounds."""
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
        """The number of features of each model."""
        return np.count_nonzero(self._used.any(axis=2), axis=1)

    @property
    def n_coefficients(self) -> np.ndarray:
        """The number of non-zero coefficients of each model; copies of a feature count once."""
        return np.count_nonzero(self._used, axis=(1, 2))

    @property
    def n_choosable(self) -> int:
        """The number of coefficients to choose from; copies of a feature count once."""
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
