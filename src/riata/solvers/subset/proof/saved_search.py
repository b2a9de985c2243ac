"""A search of all models in a checkpoint: the best model, what is known of all features, and the nodes left."""

from typing import NamedTuple

import numpy as np

from riata.solvers.iterate import Saved
from riata.solvers.saved_checks import check_array, check_facts, check_indices, check_set, restoring
from riata.solvers.subset.local.refit import Fitted
from riata.solvers.subset.proof.frontier import SavedFrontier

NODE_KINDS = {
    "bounds": np.float64, "branches": np.int64, "prices": np.float64, "counts": np.int64, "places": np.int64,
    "weights": np.float64,
}  # fmt: skip


class SavedSearch(NamedTuple):
    """A search as it was."""

    fit: Fitted
    bound: float
    out: np.ndarray
    inside: np.ndarray
    left: np.ndarray  # the columns, or groups, that are searched
    by_candidates: bool  # whether those are all columns, relaxed by candidates
    n_nodes: int
    steps: int
    frontier: SavedFrontier


def is_search(saved: Saved | None) -> bool:
    """Whether a checkpoint is of a search, not of the fit before it."""
    return saved is not None and "search.states" in saved.arrays


def saved_search(search: SavedSearch) -> Saved:
    """What a checkpoint keeps of a search."""
    arrays = {f"search.{name}": getattr(search.frontier, name) for name in (*NODE_KINDS, "states")}
    arrays |= {"search.support": search.fit.support, "search.coef": search.fit.coef, "search.left": search.left,
               "search.out": search.out, "search.inside": search.inside,
               "search.floor": np.array(search.frontier.floor)}  # fmt: skip
    facts = {"b": float(search.fit.intercept), "objective": float(search.fit.objective), "bound": float(search.bound),
             "by_candidates": search.by_candidates, "n_parts": search.n_nodes, "rounds": search.steps}  # fmt: skip
    return Saved(arrays, facts)


@restoring()
def restored_search(saved: Saved, d: int, n_groups: int | None = None) -> SavedSearch:
    """The search that was saved, of d features, or of groups of them, if it is as a search saves it."""
    n_choices = d if n_groups is None else n_groups
    arrays, facts = saved
    kinds = {"b": float, "objective": float, "bound": float, "by_candidates": bool, "n_parts": int, "rounds": int}
    check_facts(facts, kinds)
    support, left = (check_array(arrays, f"search.{name}", np.int64, (None,)) for name in ("support", "left"))
    check_set(support, "search.support", np.arange(d))
    check_set(left, "search.left", np.arange(n_choices))
    coef = check_array(arrays, "search.coef", np.float64, support.shape)
    out, inside = (check_array(arrays, f"search.{name}", np.bool_, (n_choices,)) for name in ("out", "inside"))
    n = len(check_array(arrays, "search.bounds", np.float64, (None,)))
    lengths = dict.fromkeys(NODE_KINDS, n) | dict.fromkeys(("places", "weights"), None)
    found = {name: check_array(arrays, f"search.{name}", kind, (lengths[name],)) for name, kind in NODE_KINDS.items()}
    states = check_array(arrays, "search.states", np.int8, (n, len(left)))
    n_weights = len(left) if n_groups is None else d
    check_indices(found["branches"], "search.branches", 0, len(left))
    check_indices(found["places"], "search.places", 0, n_weights)
    check_indices(states, "search.states", -1, 2)
    check_indices(found["counts"], "search.counts", 0, n_weights + 1)
    if not int(found["counts"].sum()) == len(found["places"]) == len(found["weights"]):
        raise ValueError("the weights of its nodes are not as many as it says")
    floor = float(check_array(arrays, "search.floor", np.float64, (), finite=False))
    fit = Fitted(support, coef, facts["b"], facts["objective"])
    frontier = SavedFrontier(**found, states=states, floor=floor)
    return SavedSearch(
        fit=fit,
        bound=facts["bound"],
        out=out,
        inside=inside,
        left=left,
        by_candidates=facts["by_candidates"],
        n_nodes=facts["n_parts"],
        steps=facts["rounds"],
        frontier=frontier,
    )
