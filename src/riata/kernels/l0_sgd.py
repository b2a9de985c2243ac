"""SGD with hard thresholding on the rows of a chunk: after every step the k largest weights stay.

The weights that can be non-zero after a step are the support (at most k) and the row's features, so on a sparse row
the choice costs what k and the row cost.
"""

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import entries
from riata.kernels.steps import Steps, descend, safe_step, slopes_of


@compiled()
def kth_largest(values: np.ndarray, k: int) -> float:
    """The k-th largest of `values` (k >= 1), which it reorders."""
    low, high, target = 0, values.shape[0] - 1, k - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if target <= j:
            high = j
        elif target >= i:
            low = i
        else:
            break
    return values[target]


@compiled()
def merge(support: np.ndarray, features: np.ndarray | None, out: np.ndarray) -> int:
    """The union of two increasing lists, in order, into `out`; returns its length. No features: nothing to do."""
    if features is None:
        return 0
    n = a = f = 0
    while a < support.shape[0] or f < features.shape[0]:
        if f == features.shape[0] or (a < support.shape[0] and support[a] < features[f]):
            out[n] = support[a]
            a += 1
        else:
            if a < support.shape[0] and support[a] == features[f]:
                a += 1
            out[n] = features[f]
            f += 1
        n += 1
    return n


@compiled()
def narrow(features: np.ndarray | None, n: int, w: np.ndarray, smallest: float, k: int, candidates: np.ndarray) -> int:
    """The candidates on a dense row (features is None): weights of `smallest` or more, if those are k; else all.

    The others become zero. On a sparse row the n candidates at hand are few already.
    """
    if features is not None:
        return n
    n = 0
    for j in range(w.shape[0]):
        n += abs(w[j]) >= smallest
    if n < k:
        smallest = 0.0
    n = 0
    for j in range(w.shape[0]):
        if abs(w[j]) >= smallest:
            candidates[n] = j
            n += 1
        else:
            w[j] = 0.0
    return n


@compiled()
def keep_largest(
    w: np.ndarray, candidates: np.ndarray, k: int, scratch: np.ndarray, support: np.ndarray
) -> tuple[int, float]:
    """Zero all candidates but the k largest; of equals the first stay. Lists them in `support`.

    Returns how many there are and the smallest magnitude kept.
    """
    n = candidates.shape[0]
    threshold, equals = 0.0, 0
    if n > k:
        for c in range(n):
            scratch[c] = abs(w[candidates[c]])
        threshold = kth_largest(scratch[:n], k)
        equals = k
        for j in candidates:
            equals -= abs(w[j]) > threshold
    kept = 0
    for j in candidates:
        size = abs(w[j])
        if size > threshold:
            support[kept] = j
            kept += 1
        elif equals > 0 and size == threshold and size > 0.0:
            support[kept] = j
            kept += 1
            equals -= 1
        else:
            w[j] = 0.0
    return kept, threshold


@compiled()
def l0_sgd_sweep(steps: Steps, k: int, w: np.ndarray, b: float, learn_b: float, largest: float) -> tuple[float, float]:
    """Steps over `visits`, `batch` rows each, updating w and margins in place; returns b and the largest row norm.

    With `safe`, eta_t is divided by the curvature along the largest row so far.
    """
    rows, y, weight, visits, batch, loss, etas, safe, margins = steps
    d = w.shape[0]
    candidates, union = np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64)
    scratch, slopes = np.empty(d), np.empty(batch)
    support = np.empty(k, dtype=np.int64)
    kept, threshold = keep_largest(w, np.flatnonzero(w), k, scratch, support)
    for t in range(etas.shape[0]):
        members = visits[t * batch : (t + 1) * batch]
        slope = slopes_of(rows, members, y, weight, loss, w, b, slopes, margins[t * batch : (t + 1) * batch])
        eta, largest = safe_step(rows, members, weight, learn_b, safe, etas[t], largest)
        descend(rows, members, eta, slopes, w)
        b -= learn_b * eta * slope
        n = kept
        candidates[:n] = support[:n]
        for i in members:
            features, _ = entries(rows, i)
            n = merge(candidates[:n], features, union)
            candidates, union = union, candidates
        # The last step's threshold is close to this one's, so few weights have to be compared.
        features, _ = entries(rows, members[0])
        n = narrow(features, n, w, 0.9 * threshold, k, candidates)
        kept, threshold = keep_largest(w, candidates[:n], k, scratch, support)
    return b, largest
