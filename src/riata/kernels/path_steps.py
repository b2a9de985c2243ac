"""A Newton step over the active columns of a path (`column_path`): the quadratic, its sweeps, and how far to go."""

from riata.kernels.compiled import compiled
from riata.kernels.coordinate import add_column, along_column, move_along_column, sums_along_column
from riata.kernels.losses import Coded
from riata.kernels.path_columns import OfColumns, penalty_of
from riata.kernels.path_rows import OfRows, Terms, look_at_rows
from riata.kernels.quadratic import best_value, violation
from riata.kernels.rows import FAST, Rows, parts

SWEEPS_OVER_PRODUCTS, NO_GAIN = 100, 1e-12  # at most; and a share of all gains
SUFFICIENT, HALVINGS = 0.1, 30  # of the gain that slopes promise: a step that brings less is cut back
F_ROUNDING, EPSILON = 1e-14, 2.2e-16  # of F: what rounding makes at least, and of each of the rows


@compiled(nogil=True)
def look_along_columns(
    columns: Rows, terms: Terms, n_active: int, rows: OfRows, place: OfColumns
) -> tuple[float, float]:
    """What the quadratic is along the active columns, with slopes t of rows, and of columns in `gains`: the constant
    that goes with them, and by how much of its threshold the most violated condition is off, which is about the gap, as
    a share of F."""
    _, curved, up, _, down, _ = rows.totals
    D, sums, means, curvatures, l1, l2, lower, upper = place.quadratic
    starts, features, values = parts(columns)
    centred, squares = terms.centred and curved > 0.0, place.squares
    constant = -(up + down) / curved if centred else 0.0
    for i in range(rows.u.shape[0]):
        rows.t[i] = rows.u[i] + constant * rows.D[i]
    worst = abs(up + down) / max(up, -down, 1e-300) if terms.centred else 0.0
    for k in range(n_active):
        j = place.active[k]
        if not (terms.constant and squares[j] >= 0.0):
            sums[j], squares[j] = sums_along_column(starts, features, values, j, D)
        means[j] = sums[j] / curved if centred else 0.0
        curvatures[j] = squares[j] + l2[j] - sums[j] * means[j]
        slope = along_column(starts, features, values, j, rows.t) + l2[j] * place.v[j]
        place.gains[k] = slope
        worst = max(worst, violation(slope, place.v[j], l1[j], lower[j], upper[j]) / l1[j])
    return constant, worst


@compiled(nogil=True)
def multiply(columns: Rows, n_active: int, rows: OfRows, place: OfColumns) -> float:
    """The products of the active columns with one another; returns the entries visited."""
    weighted, visited = rows.step, 0.0
    starts, features, values = parts(columns)
    D, sums, means, _, _, _, _, _ = place.quadratic
    for i in range(weighted.shape[0]):
        weighted[i] = 0.0
    for k in range(n_active):
        j = place.active[k]
        move_along_column(starts, features, values, j, 1.0, D, weighted)
        for other in range(k + 1):
            i = place.active[other]
            product = along_column(starts, features, values, i, weighted) - means[j] * sums[i]
            place.among[k, other] = product
            place.among[other, k] = product
            visited += place.stored[i]
        move_along_column(starts, features, values, j, -1.0, D, weighted)
    return visited


@compiled(nogil=True, fastmath=FAST)
def sweeps_over_products(n_active: int, place: OfColumns) -> tuple[float, float]:
    """Sweeps over the active columns, by their products, to the far coefficients: what the constant changes by, and how
    many products were added."""
    _, _, means, curvatures, l1, l2, lower, upper = place.quadratic
    far, slopes, change, all_gained, moved = place.far, place.gains, 0.0, 0.0, 0
    for _ in range(SWEEPS_OVER_PRODUCTS):
        gained = 0.0
        for k in range(n_active):
            j, products = place.active[k], place.among[k]
            curvature = products[k] + l2[j]
            if not (curvature > 0.0 and curvatures[j] > 0.0):
                continue
            new = best_value(curvature * far[j] - slopes[k], l1[j], lower[j], upper[j], curvature)
            move = new - far[j]
            if move != 0.0:
                gained += curvature * move * move
                change -= move * means[j]
                far[j] = new
                moved += 1
                for other in range(n_active):
                    slopes[other] += move * products[other]
                slopes[k] += move * l2[j]
        all_gained += gained
        if gained <= NO_GAIN * all_gained:
            break
    return change, float(moved * n_active)


@compiled(nogil=True)
def move(
    columns: Rows, loss: Coded, terms: Terms, n_active: int, rows: OfRows, place: OfColumns, constant: float, F: float
) -> float:
    """Go to the far coefficients, or part of the way, if that lowers F: the share. There rows are looked at."""
    z, step, v, far, active = rows.z, rows.step, place.v, place.far, place.active
    starts, features, values = parts(columns)
    for i in range(z.shape[0]):
        step[i] = constant
    for k in range(n_active):
        j = active[k]
        if far[j] != v[j]:
            add_column(starts, features, values, j, far[j] - v[j], step)
    penalty = penalty_of(n_active, place, v)
    promised = penalty - penalty_of(n_active, place, far)
    for i in range(z.shape[0]):
        promised -= rows.u[i] * step[i]
    share, rounding = 1.0, max(F_ROUNDING, z.shape[0] * EPSILON) * F  # near the minimum gains are no more than that
    for _ in range(HALVINGS):
        for k in range(n_active):
            j = active[k]
            far[j] = far[j] if share == 1.0 else v[j] + 0.5 * (far[j] - v[j])
        look_at_rows(loss, terms, rows, share)
        F_new = rows.totals[0] + penalty_of(n_active, place, far)
        if F - F_new >= SUFFICIENT * share * promised - rounding:
            for i in range(z.shape[0]):
                z[i] += share * step[i]
            for k in range(n_active):
                v[active[k]] = far[active[k]]
            return share
        share *= 0.5
    return 0.0


@compiled(nogil=True)
def drop_rounding(columns: Rows, n_active: int, no_effect: float, rows: OfRows, place: OfColumns) -> bool:
    """Coefficients that leave no trace become zero: of a column and its copy, what the second has may be rounding.
    Whether there were any."""
    dropped, largest, (starts, features, values) = False, 0.0, parts(columns)
    for k in range(n_active):
        j = place.active[k]
        largest = max(largest, place.deviation[j] * abs(place.v[j]))
    for k in range(n_active):
        j = place.active[k]
        now = place.v[j]
        if now != 0.0 and place.deviation[j] * abs(now) <= no_effect * largest:
            add_column(starts, features, values, j, -now, rows.z)
            place.v[j], dropped = 0.0, True
    return dropped
