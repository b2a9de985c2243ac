"""What is searched: which models are tried, and the rule that chooses among them."""

from dataclasses import dataclass
from typing import Any

from riata.data.folds import Folds
from riata.errors import OptionError
from riata.training.spec import Spec


@dataclass(frozen=True)
class Search:
    """Which models are tried, and the rule that chooses among them."""

    by: str  # "alpha" or "k"
    rule: str = "cv-1se"
    cv: Any = 5
    n_alphas: int = 100
    alpha_reach: float | None = None  # the last alpha as a share of the first; None: by the shape of the data
    k_max: int | None = None
    target_k: int | None = None  # of a path of alphas, choose the model with this many features instead
    folds: Folds | None = None  # where they are not by position

    @property
    def needs_folds(self) -> bool:
        """Whether the rule scores models on folds."""
        return self.target_k is None and self.rule in ("cv", "cv-1se")


def search_of(spec: Spec) -> Search | None:
    """What k="auto" or alpha="auto" asks for; None where neither is given."""
    by = next((name for name in ("k", "alpha") if _is_auto(getattr(spec, name))), None)
    if by is None:
        return None
    if spec.alpha_ratio is not None or (by == "k" and spec.alpha is not None):
        raise OptionError(f"{by}='auto' chooses {by} itself: give it no other strength beside it")
    target_k = spec.k if by == "alpha" else None
    return Search(
        by=by,
        rule=spec.select,
        cv=spec.cv,
        n_alphas=spec.n_alphas,
        alpha_reach=spec.alpha_reach,
        k_max=spec.k_max,
        target_k=target_k,
    )


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"
