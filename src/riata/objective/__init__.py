"""The objective, once:

    F(w, b) = (1 / sum_i s_i) sum_i s_i loss(y_i, x_i . w + b) + penalty(w)

A mean, never a sum; the intercept b is never penalised. Coefficients are in the units of the data: with
standardisation the penalty is that of the coefficients `scale * w` of columns of unit standard deviation, and
`elastic_net` puts the scales into the penalty, so that nothing here or below has to know.

Certificate. Let u_i = loss'(y_i, z_i) and g = X'(s u) / sum(s). Every u for which |g_j| <= l1_j (and sum s u = 0,
where there is an intercept) bounds the minimum from below by
    D(u) = -mean conjugate(y, u) - sum_j max(|g_j| - l1_j, 0)^2 / (2 l2_j).
A bound of a coefficient limits what its slope can gain, and so takes the place of |g_j| <= l1_j on its side.
The u of the current model is made feasible by shrinking: its positive and its negative part each by a factor that
balances their sums, then all of it until every |g_j| <= l1_j. A conjugate is convex and at most 0 at 0 (`Loss`: no
value is negative), so that conjugate(t u) <= t conjugate(u) for 0 <= t <= 1: one pass, which sums over the two parts
separately, gives a valid bound whatever the factors turn out to be.

Several margins. With `loss.n_outputs` = K > 1, w is features x K, as one long vector, b has K entries, and z_i = x_i .
w + b is a row of K margins, for each of which the loss has a derivative. Slopes come in the shape of w. To make the
sums of u over the rows 0 the loss knows a way of its own, from the empty model (`SeveralMargins.balanced`).

There `FirstOrder` does not separate the two signs of u: everything is on its positive side.

Rows that go together. With `loss.couples_rows` the loss is f(z) of all margins and no sum over rows, and u_i is its
slope in z_i. All that was said holds for it: u is shrunk as a whole, and f is convex and never negative. Two passes
give its means, see `riata.losses.coupled`. An intercept changes nothing, so that sum s u = 0 everywhere.

A kink. With `loss.smoothed` the slopes are those of a smoothed loss, which are slopes of the loss itself, too. The
bound is made with the conjugate of the loss itself, and so holds for it, however far it was smoothed.
"""

from riata.objective.certificate import (
    FREE_REACH,
    alpha_max,
    at_best_intercept,
    best_slopes,
    duality_gap,
    has_dual_bound,
    pulls,
    slope_unit,
    stationarity,
)
from riata.objective.empty_model import empty_intercept, empty_loss, empty_start, gap_unit
from riata.objective.passes import first_order, first_order_part, mean_loss, objective, summarise
from riata.objective.problem import FirstOrder, Problem, Side, Start, elastic_net
from riata.objective.smoothed_passes import smoothed_part, summarise_smoothed

__all__ = [
    "FREE_REACH",
    "FirstOrder",
    "Problem",
    "Side",
    "Start",
    "alpha_max",
    "at_best_intercept",
    "best_slopes",
    "duality_gap",
    "elastic_net",
    "empty_intercept",
    "empty_loss",
    "empty_start",
    "first_order",
    "first_order_part",
    "gap_unit",
    "has_dual_bound",
    "mean_loss",
    "objective",
    "pulls",
    "slope_unit",
    "smoothed_part",
    "stationarity",
    "summarise",
    "summarise_smoothed",
]
