"""Which solver can have which penalty and loss: solvers name the properties they need, penalties and losses those they
have, and one function compares.

Of a penalty (`Penalty.has`):
    "separable step"    the minimiser in one coordinate, and the optimality condition there
    "block step"        the same for groups of coordinates, which is that of the group Lasso
    "strengths"         l1 and l2 of every feature, as compiled loops take them
    "dual bound"        a conjugate, which certifies a gap where there are no strengths
    "cardinality"       a number k of features, or of groups of them
    "no l2 part"        no squares of coefficients
    "no groups"         features enter one by one
    "uniform"           no penalty factors
    "no bounds"         coefficients may be of any sign and size

Of a loss (`Loss.has`):
    "second derivative"    for Newton steps
    "smoothing"            a kink, which is smoothed for Newton steps
    "bounded curvature"    the second derivative has a bound, which sets safe steps
    "compiled"             a compiled version in kernels/losses.py, for sweeps over single rows
    "no kink"              a derivative everywhere
    "sum over rows"        a loss that is one: all solvers but 'exact' and 'best-k' need it
    "one margin a row"     one margin for each row: all solvers but 'exact', 'best-k' and 'online' need it
    "steps of classes"     a compiled sweep of all its margins, for solver 'online'

A need may be met in one of two ways: "strengths or cardinality".
"""

from riata.losses import Loss
from riata.penalties import Penalty

EXACT_ONLY = "solver {solver!r} has no penalty_factors, bounds or nonnegative; take solver 'exact'"
SENTENCES = {
    "no l2 part": "solver {solver!r} has no l2 part; leave l1_ratio at 1",
    "no ridge": "ridge goes with k and a solver that takes it; {solver!r} does not",  # the l2 part beside k
    "no groups": "groups go with solvers 'best-k' and 'exact', not with solver {solver!r}",
    "uniform": EXACT_ONLY,
    "nothing always in": "features that are always in (a penalty factor of 0) go with solvers 'best-k' and 'exact', "
    "not with solver {solver!r}",  # "uniform" beside k
    "no bounds": EXACT_ONLY,
    "separable step or block step": "solver {solver!r} takes sums over features or groups, which {penalty} is not",
    "strengths": "solver {solver!r} takes the elastic net, not {penalty}; take solver 'exact'",
    "cardinality": "solver {solver!r} takes a number k of features, not {penalty}",
    "strengths or cardinality": "solver {solver!r} takes the elastic net or k, not {penalty}; take solver 'exact'",
    "one margin a row": "solver {solver!r} takes one margin for each row by itself, and loss {loss!r} does not; take "
    "alpha and solver 'exact'",
    "one margin a row or no groups": "groups beside k go with losses of one margin for each row, and {loss!r} has "
    "several: leave the groups out, or take alpha",
    "sum over rows or no groups": "groups beside k go with losses of single rows, and {loss!r} is one of rows "
    "together: leave the groups out, or take alpha",
    "one margin a row or uniform": "features that are always in (a penalty factor of 0) go beside k with losses of one "
    "margin for each row, and {loss!r} has several: take alpha",
    "sum over rows or uniform": "features that are always in (a penalty factor of 0) go beside k with losses of single "
    "rows, and {loss!r} is one of rows together: take alpha",
    "one margin a row or steps of classes": "solver {solver!r} takes one margin for each row, or softmax, and loss "
    "{loss!r} is neither; take alpha and solver 'exact'",
    "second derivative or smoothing": "solver {solver!r} needs the second derivative of a loss, and {loss!r} has none",
    "kinks by strengths": "loss {loss!r} has a kink, and goes with the elastic net and its bounds, not with {penalty}",
    "sum over rows": "solver {solver!r} takes losses of single rows, and {loss!r} is one of rows together; take alpha "
    "and solver 'exact'",
    "second derivative": "loss {loss!r} goes with alpha, or with k and solver='online': it has a kink, and solver "
    "{solver!r} needs second derivatives",
    "bounded curvature": "solver {solver!r} needs a bound on the curvature, and {loss!r} has none; take solver 'exact'",
    "no kink": "loss {loss!r} has a kink, which solver {solver!r} does not take: take solver 'exact' or 'online'",
    "compiled": "solver {solver!r} needs a compiled loss, which {loss!r} is not; take solver 'exact' or 'best-k'",
    "compiled or steps of classes": "solver {solver!r} needs a compiled loss, which {loss!r} is not; take solver "
    "'exact' or 'best-k'",
}

BESIDE_K = {"no l2 part": "no ridge", "uniform": "nothing always in"}


def why_not(solver: str, needs: frozenset[str], penalty: Penalty, loss: Loss) -> str | None:
    """A sentence that says why a solver with these needs cannot have this penalty or loss; None if it can."""
    there = penalty.has | loss.has
    if "strengths" in there or "smoothing" not in there:
        there |= {"kinks by strengths"}
    for need in SENTENCES:  # in this order: the first that fails is reported
        if need in needs and there.isdisjoint(need.split(" or ")):
            beside_k = BESIDE_K if "cardinality" in penalty.has else {}
            sentence = SENTENCES[beside_k.get(need, need)]
            return sentence.format(solver=solver, penalty=type(penalty).__name__, loss=loss.name)
    return None
