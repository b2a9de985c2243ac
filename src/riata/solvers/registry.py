"""The solvers by name: what each can solve, and its defaults.

Their code is imported when one is started: nobody waits for the loops of solvers that nobody asked for.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from riata.errors import OptionError
from riata.near_misses import did_you_mean
from riata.objective import Problem
from riata.solvers.iterate import Iterate, Options
from riata.solvers.stochastic.method import Method

ALIKE = frozenset({"uniform", "no bounds", "one margin a row", "sum over rows"})  # the same penalty for every feature
ELASTIC_NET = ALIKE | {"strengths"}
LASSO = ELASTIC_NET | {"no l2 part"}
BOUNDED = frozenset({"bounded curvature"})
WORKING_SET = frozenset({"separable step or block step", "second derivative or smoothing", "kinks by strengths"})
SWEEPS = frozenset({"compiled", "no kink"})  # over single rows or columns
ONLINE = frozenset(
    {"uniform", "no bounds", "sum over rows", "strengths or cardinality", "no l2 part", "no groups"}
    | {"one margin a row or steps of classes", "compiled or steps of classes"}
)
BEST_K = frozenset(
    {"no bounds", "cardinality", "second derivative", "one margin a row or no groups", "sum over rows or no groups"}
    | {"one margin a row or uniform", "sum over rows or uniform"}
)
AT_MOST_K = ALIKE | {"cardinality", "no l2 part", "no groups"}


def at(place: str) -> Callable[..., Any]:
    """The function, or the class, at "module:name" of this package, which is imported when it is first called."""
    module, name = place.split(":")

    def call(*args: Any, **named: Any) -> Any:
        return getattr(import_module(f"riata.solvers.{module}"), name)(*args, **named)

    return call


@dataclass(frozen=True)
class Solver:
    """How to start a solver, what it can solve, and its defaults."""

    start: Callable[[Problem, Options], Iterator[Iterate]]
    takes: str  # "alpha", "k" or "alpha or k"
    needs: frozenset[str]  # properties of the penalty and the loss, see `capabilities`
    max_passes: int  # by default
    stochastic: bool = False  # whether it uses the options batch, step, order and seed
    finds_alpha: bool = False  # whether it finds an alpha, and scales of the columns, while it learns
    saves: bool = False  # whether it can save its state after a pass; those with a `method` can after a chunk
    vectors: int = field(kw_only=True)  # of a number for each feature, held at once: `torture.widths` (in tests) tells
    vectors_of_stream: int = 0  # the same where rows are learnt as they come, of those with a `method`
    width_free: bool = False  # whether its memory does not depend on the number of features
    shared_out: bool = False  # whether workers of a cluster can learn parts of the rows, though it is stochastic
    method: Callable[[Any], Method] | None = None  # from a penalty, for learning from a stream


def by_steps(
    module: str, method: str, takes: str, needs: frozenset[str], *strengths: str, vectors: int = 16, of_stream: int = 4
) -> Solver:
    """A solver that runs a `Method`, which is made of these strengths of a penalty; its module has its name."""
    make = at(f"{module}:{method}")

    def method_of(penalty: Any) -> Method:
        return make(*(getattr(penalty, name) for name in strengths))

    solver = at(f"{module}:{module.rpartition('.')[2]}")
    return Solver(
        solver, takes, needs | SWEEPS, 20, vectors=vectors, vectors_of_stream=of_stream, stochastic=True,
        method=method_of,
    )  # fmt: skip


SOLVERS = {
    "exact": Solver(
        at("convex.exact:exact"),
        "alpha",
        WORKING_SET,
        100,
        vectors=18,
        saves=True,
    ),
    "cd": Solver(at("convex.cd:cd"), "alpha", ELASTIC_NET | BOUNDED | SWEEPS, 10_000, vectors=16),
    "subgradient": by_steps("stochastic.subgradient", "Subgradient", "alpha", LASSO | BOUNDED, "l1"),
    "fobos": by_steps("stochastic.fobos", "Fobos", "alpha", ELASTIC_NET | BOUNDED, "l1", "l2"),
    "ftrl": by_steps("online.ftrl", "Ftrl", "alpha", ELASTIC_NET, "l1", "l2", vectors=18, of_stream=6),
    "rda": by_steps("online.rda", "Rda", "alpha", ELASTIC_NET | BOUNDED, "l1", "l2", of_stream=6),
    "truncated": by_steps("online.truncated", "Truncated", "alpha", LASSO | BOUNDED, "l1"),
    "online": Solver(
        at("online.online:online"),
        "alpha or k",
        ONLINE,
        1,
        vectors=23,
        vectors_of_stream=16,
        stochastic=True,
        finds_alpha=True,
        shared_out=True,
        method=at("online.online:online_method"),
    ),
    "sketch": Solver(
        at("online.sketch:sketch"),
        "k",
        AT_MOST_K | SWEEPS,
        1,
        vectors=0,
        stochastic=True,
        finds_alpha=True,
        width_free=True,
        shared_out=True,
        method=lambda penalty: at("online.sketch:Sketch")(k=penalty.k),
    ),
    "svrg": Solver(
        at("stochastic.svrg:svrg"), "alpha", LASSO | BOUNDED | SWEEPS, 100, vectors=24, stochastic=True, saves=True
    ),
    "saga": Solver(
        at("stochastic.saga:saga"), "alpha", LASSO | BOUNDED | SWEEPS, 100, vectors=16, stochastic=True, saves=True
    ),
    "hsg-ht": Solver(
        at("stochastic.hsg_ht:hsg_ht"), "k", AT_MOST_K | BOUNDED | SWEEPS, 50, vectors=22, stochastic=True, saves=True
    ),
    "svrg-ht": Solver(
        at("stochastic.svrg_ht:svrg_ht"), "k", AT_MOST_K | BOUNDED | SWEEPS, 20, vectors=24, stochastic=True, saves=True
    ),
    "best-k": Solver(at("subset.best_k:best_k"), "k", BEST_K, 100, vectors=26, saves=True),
    "omp": Solver(at("pursuits.omp:omp"), "k", AT_MOST_K | BOUNDED, 10**9, vectors=16),
    "iht": Solver(at("pursuits.iht:iht"), "k", AT_MOST_K | BOUNDED, 1000, vectors=22),
    "htp": Solver(at("pursuits.htp:htp"), "k", AT_MOST_K | BOUNDED, 100, vectors=22),
    "cosamp": Solver(at("pursuits.cosamp:cosamp"), "k", AT_MOST_K | BOUNDED, 100, vectors=18),
    "subspace-pursuit": Solver(
        at("pursuits.subspace_pursuit:subspace_pursuit"), "k", AT_MOST_K | BOUNDED, 100, vectors=16
    ),
    "l0-sgd": by_steps("stochastic.l0_sgd", "L0Sgd", "k", AT_MOST_K | BOUNDED, "k"),
}
AUTO = {"alpha": "exact", "k": "best-k"}


def choose_solver(name: str, takes: str) -> str:
    """The name of a solver that takes an alpha, or a k; an error names those that do."""
    if name == "auto":
        return AUTO[takes]
    fitting = sorted(s for s, solver in SOLVERS.items() if takes in solver.takes.split(" or "))
    if name not in SOLVERS:
        hint = did_you_mean(name, SOLVERS) or f"; there are auto, {', '.join(sorted(SOLVERS))}"
        raise OptionError(f"there is no solver {name!r}{hint}")
    if name not in fitting:
        raise OptionError(
            f"solver {name!r} takes {SOLVERS[name].takes}, not {takes}; for {takes} there are {', '.join(fitting)}"
        )
    return name
