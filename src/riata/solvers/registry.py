"""The solvers by name: what each can solve, and its defaults."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from riata.errors import OptionError
from riata.objective import Problem
from riata.solvers.convex.cd import cd
from riata.solvers.convex.exact import exact
from riata.solvers.iterate import Iterate, Options
from riata.solvers.online.ftrl import Ftrl, ftrl
from riata.solvers.online.online import online, online_method
from riata.solvers.online.rda import Rda, rda
from riata.solvers.online.sketch import Sketch, sketch
from riata.solvers.online.truncated import Truncated, truncated
from riata.solvers.pursuits.cosamp import cosamp
from riata.solvers.pursuits.htp import htp
from riata.solvers.pursuits.iht import iht
from riata.solvers.pursuits.omp import omp
from riata.solvers.pursuits.subspace_pursuit import subspace_pursuit
from riata.solvers.stochastic.fobos import Fobos, fobos
from riata.solvers.stochastic.hsg_ht import hsg_ht
from riata.solvers.stochastic.l0_sgd import L0Sgd, l0_sgd
from riata.solvers.stochastic.method import Method
from riata.solvers.stochastic.saga import saga
from riata.solvers.stochastic.subgradient import Subgradient, subgradient
from riata.solvers.stochastic.svrg import svrg
from riata.solvers.stochastic.svrg_ht import svrg_ht
from riata.solvers.subset.best_k import best_k

ALIKE = frozenset({"uniform", "any sign"})  # the same penalty for every feature
ELASTIC_NET = ALIKE | {"strengths"}
LASSO = ELASTIC_NET | {"no l2 part"}
BOUNDED = frozenset({"bounded curvature"})
SWEEPS = frozenset({"compiled"})  # over single rows or columns
BEST_K = ALIKE | {"cardinality", "second derivative"}
AT_MOST_K = ALIKE | {"cardinality", "no l2 part", "no groups"}


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
    width_free: bool = False  # whether its memory does not depend on the number of features
    method: Callable[[Any], Method] | None = None  # from a penalty, for learning from a stream


SOLVERS = {
    "exact": Solver(exact, "alpha", frozenset({"separable step", "second derivative"}), 100, saves=True),
    "cd": Solver(cd, "alpha", ELASTIC_NET | BOUNDED | SWEEPS, 10_000),
    "subgradient": Solver(
        subgradient,
        "alpha",
        LASSO | BOUNDED | SWEEPS,
        20,
        stochastic=True,
        method=lambda penalty: Subgradient(penalty.l1),
    ),
    "fobos": Solver(
        fobos,
        "alpha",
        ELASTIC_NET | BOUNDED | SWEEPS,
        20,
        stochastic=True,
        method=lambda penalty: Fobos(penalty.l1, penalty.l2),
    ),
    "ftrl": Solver(
        ftrl, "alpha", ELASTIC_NET | SWEEPS, 20, stochastic=True, method=lambda penalty: Ftrl(penalty.l1, penalty.l2)
    ),
    "rda": Solver(
        rda,
        "alpha",
        ELASTIC_NET | BOUNDED | SWEEPS,
        20,
        stochastic=True,
        method=lambda penalty: Rda(penalty.l1, penalty.l2),
    ),
    "truncated": Solver(
        truncated, "alpha", LASSO | BOUNDED | SWEEPS, 20, stochastic=True, method=lambda penalty: Truncated(penalty.l1)
    ),
    "online": Solver(
        online,
        "alpha or k",
        ALIKE | {"strengths or cardinality", "no l2 part", "no groups", "compiled"},
        1,
        stochastic=True,
        finds_alpha=True,
        method=online_method,
    ),
    "sketch": Solver(
        sketch,
        "k",
        AT_MOST_K | SWEEPS,
        1,
        stochastic=True,
        finds_alpha=True,
        width_free=True,
        method=lambda penalty: Sketch(k=penalty.k),
    ),
    "svrg": Solver(svrg, "alpha", LASSO | BOUNDED | SWEEPS, 100, stochastic=True, saves=True),
    "saga": Solver(saga, "alpha", LASSO | BOUNDED | SWEEPS, 100, stochastic=True, saves=True),
    "hsg-ht": Solver(hsg_ht, "k", AT_MOST_K | BOUNDED | SWEEPS, 50, stochastic=True, saves=True),
    "svrg-ht": Solver(svrg_ht, "k", AT_MOST_K | BOUNDED | SWEEPS, 20, stochastic=True, saves=True),
    "best-k": Solver(best_k, "k", BEST_K, 100, saves=True),
    "omp": Solver(omp, "k", AT_MOST_K | BOUNDED, 10**9),
    "iht": Solver(iht, "k", AT_MOST_K | BOUNDED, 1000),
    "htp": Solver(htp, "k", AT_MOST_K | BOUNDED, 100),
    "cosamp": Solver(cosamp, "k", AT_MOST_K | BOUNDED, 100),
    "subspace-pursuit": Solver(subspace_pursuit, "k", AT_MOST_K | BOUNDED, 100),
    "l0-sgd": Solver(
        l0_sgd, "k", AT_MOST_K | BOUNDED | SWEEPS, 20, stochastic=True, method=lambda penalty: L0Sgd(penalty.k)
    ),
}
AUTO = {"alpha": "exact", "k": "best-k"}


def choose_solver(name: str, takes: str) -> str:
    """The name of a solver that takes an alpha, or a k; an error names those that do."""
    if name == "auto":
        return AUTO[takes]
    fitting = sorted(s for s, solver in SOLVERS.items() if takes in solver.takes.split(" or "))
    if name not in SOLVERS:
        raise OptionError(f"there is no solver {name!r}; there are auto, {', '.join(sorted(SOLVERS))}")
    if name not in fitting:
        raise OptionError(
            f"solver {name!r} takes {SOLVERS[name].takes}, not {takes}; for {takes} there are {', '.join(fitting)}"
        )
    return name
