"""Solvers 'online' and 'sketch' for k features on workers: they find candidates, and exact passes fit these.

Every part is learnt from the beginning, as if there were no other, and leaves its candidates: of each, the weight
w_p s_p for a column of unit deviation, times the weight T_p of the rows, and the slope z_p / s_p. Both are sums over
rows and add up, so that a feature comes first that many parts found, or few with much evidence. As many of them as one
process would have are then fitted by solver 'best-k', whose passes are over all rows, and over these features alone.

Sums are added in a tree that depends on the parts alone: the model is the same bits for the same parts, whichever
worker did what. A part whose worker died is learnt again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from riata.data.chunk import Chunk
from riata.data.remote import Remote
from riata.objective import Problem
from riata.solvers.iterate import Features, Iterate, Options
from riata.solvers.online.feature_block import of_features
from riata.solvers.online.online import Online
from riata.solvers.online.part_learner import LearntPart, PartLearner
from riata.solvers.online.progressive_validation import ProgressiveValidation
from riata.solvers.subset.best_k import best_k

KEPT = 4  # times as many candidates as one process has, while those of parts are added up
PASSES = 50  # of the last fit, at most: it ends when no exchange of features is a gain


@dataclass(frozen=True)
class Candidates:
    """Features by their numbers, in order, with sums of evidence: T w s and z / s."""

    ids: np.ndarray
    evidence: np.ndarray
    most: int

    def __add__(self, other: "Candidates") -> "Candidates":
        ids, place = np.unique(np.concatenate([self.ids, other.ids]), return_inverse=True)
        evidence = np.zeros((len(ids), 2))
        np.add.at(evidence, place, np.concatenate([self.evidence, other.evidence]))
        return Candidates(ids, evidence, self.most).first(self.most)

    def first(self, n: int) -> "Candidates":
        """The n of largest weight; of those without a weight, the steepest."""
        size, slope = np.abs(self.evidence).T
        best = np.sort(np.lexsort((-slope, -size))[:n])
        return Candidates(self.ids[best], self.evidence[best], self.most)


class Found(NamedTuple):
    """What a part leaves, or several: all of it adds up."""

    candidates: Candidates
    steps: int
    progressive: ProgressiveValidation


def _candidates(method: Online, part: LearntPart) -> Found:
    """Those of a part that has been learnt."""
    memory, lane = part.state.memory, part.state.memory["lane"][0]
    places, _ = method.choose_candidates(memory)
    w, deviation = method.weights(memory)
    s = deviation[places]
    slopes = np.divide(of_features(memory, "z")[places, lane], s, out=np.zeros(len(s)), where=s > 0.0)
    evidence = np.column_stack([memory["total"][0] * w[places, lane] * s, slopes])
    ids = memory["ids"][places] if "ids" in memory else places
    order = np.argsort(ids, kind="stable")
    candidates = Candidates(ids[order], evidence[order], KEPT * method.n_candidates)
    return Found(candidates, part.state.steps, part.progressive)


@dataclass(frozen=True)
class _Narrow:
    """Chunks with some of their features: it is sent to workers."""

    features: np.ndarray

    def __call__(self, chunk: Chunk) -> Chunk:
        return chunk._replace(X=chunk.X.narrowed(self.features))


def shared_candidates(problem: Problem, method: Online, options: Options, by_number: bool) -> Iterator[Iterate]:
    """One pass in which workers find candidates, then those of an exact fit; `by_number`: features are not listed."""
    data = problem.data
    assert isinstance(data, Remote)
    centred = problem.fit_intercept and not data.wide and not by_number
    found: Found = data.sum_long_runs(PartLearner.of(problem, method, options, centred, _candidates))
    candidates = found.candidates.first(method.n_candidates)
    columns = data.map(_Narrow(candidates.ids))
    columns.facts = columns.facts.but(n_features=len(candidates.ids), feature_names=None, encoding=None)
    scale = problem.scale[candidates.ids] if isinstance(problem.scale, np.ndarray) else problem.scale
    fits = best_k(replace(problem, data=columns, scale=scale), replace(options, max_passes=PASSES))
    *_, last = islice(fits, PASSES)
    told = Iterate(last.coef, last.intercept, found.steps, objective=last.objective, progressive=found.progressive)
    if by_number:
        deviations = np.sqrt(columns.moments.squares / columns.moments.weight)
        names = data.names_of(candidates.ids[last.coef != 0.0])
        yield told._replace(features=Features(candidates.ids, names, deviations))
        return
    coef = np.zeros(data.n_features)
    coef[candidates.ids] = last.coef
    yield told._replace(coef=coef)
