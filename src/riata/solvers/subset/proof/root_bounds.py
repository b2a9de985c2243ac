"""Bounds before any branching: the planes of relaxations over all features, and what they screen out.

Relaxations are among some candidates; those that a plane wants join them, until it wants none.
"""

from collections.abc import Iterator

import numpy as np

from riata.objective import Problem, first_order
from riata.solvers.iterate import Options
from riata.solvers.subset.local.local_quadratic import LocalQuadratic, products_of
from riata.solvers.subset.local.refit import Fitted, cut_to
from riata.solvers.subset.proof.deadline import Deadline
from riata.solvers.subset.proof.global_bound import RelaxedPoint, Size, relaxed_planes, relaxed_point
from riata.solvers.subset.proof.planes import Costs, tangent
from riata.solvers.subset.proof.proof_so_far import ProofSoFar
from riata.solvers.subset.proof.relaxation import Node, Quadratic, diagonal_shift
from riata.solvers.subset.search.candidates import room_for

MORE = 128  # candidates that are added at a time,
MORE_FROM_DISK = 512  # where that takes two passes over files
ROUNDS = 20  # of candidates that the relaxation wants
SHRINKS = 0.9  # of the columns: screening goes on while no more of them are left


def quadratic_root(model: LocalQuadratic, fit: Fitted, known: ProofSoFar, options: Options) -> Iterator[None]:
    """Planes from the products of candidates, more of them until the relaxation wants no others."""
    k, d = model.problem.cardinality.k, len(model.w)
    there = np.isin(fit.support, model.problem.always_in, invert=True)
    chosen = fit.support[there]
    size = Size(k, chosen, fit.coef[there] * model.unit[chosen])
    if model.hessian.keeps_rows:
        model.hessian.require(chosen)
    room = room_for(k, d, options).candidates - max(len(model.candidates), model.hessian.n_rows)
    more = MORE if model.problem.data.cheap_passes else min(MORE_FROM_DISK, max(MORE, room // 2))
    rounds = ROUNDS if model.problem.data.cheap_passes else min(ROUNDS, room // more)
    for found in relaxed_planes(model, size, 0.0, more, rounds):
        known.learn(found.costs, found.plane, k, fit.objective, slice(None))
        yield


def true_root(problem: Problem, fit: Fitted, known: ProofSoFar, deadline: Deadline) -> Iterator[None]:
    """Planes of another loss, from relaxations among some columns and then those that it wants: a pass each."""
    k, d = problem.cardinality.k, problem.data.n_features
    costs, w, b, price = Costs.of(problem), np.zeros(d), fit.intercept, 0.0
    w[fit.support] = fit.coef
    columns = np.arange(d) if d <= MORE else fit.support
    for _ in range(ROUNDS):
        plane = tangent(problem, first_order(problem, w, b))
        known.learn(costs, plane, k, fit.objective, slice(None))
        yield
        reliefs = costs.reliefs(plane.slopes)
        reliefs[columns] = 0.0
        wanted = np.argsort(-reliefs, kind="stable")[:MORE]
        wanted = wanted[reliefs[wanted] > price]
        if price and len(wanted) == 0:
            return
        columns = np.union1d(columns, wanted)
        start = RelaxedPoint(w[columns], b, price)
        near = cut_to(problem, columns)
        found = relaxed_point(near, k, start, deadline=deadline)
        w[columns], b, price = found.w, found.b, found.price


def quadratic_left(
    near: Problem, fit: Fitted, known: ProofSoFar, left: np.ndarray, deadline: Deadline
) -> tuple[Quadratic, np.ndarray]:
    """The products of the columns that are left, and which are after screening by their own planes."""
    model = products_of(near)
    whole, k = model.among_candidates(), near.cardinality.k
    kept = model.others(np.arange(len(left)))
    start = np.zeros(len(left))
    there = np.isin(fit.support, left)
    places = np.searchsorted(left, fit.support[there])
    start[places] = fit.coef[there] * model.unit[places]
    while True:
        part = whole.among(kept)
        quadratic = part.shifted(diagonal_shift(part.G, deadline))
        if not quadratic.costs.bounding:
            return quadratic, left[kept]
        found = quadratic.relaxed(Node(np.zeros(len(kept)), start[kept]), k)
        known.learn(quadratic.costs, quadratic.plane(found.w, found.r), k, fit.objective, left[kept])
        start[kept] = found.w
        still = ~known.out[left[kept]]
        if known.bound >= fit.objective or np.count_nonzero(still) > SHRINKS * len(kept):
            return quadratic.among(np.flatnonzero(still)), left[kept[still]]
        kept = kept[still]
