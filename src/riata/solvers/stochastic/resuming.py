"""How solvers that work pass by pass save their state, and resume from it.

A point is saved when it is yielded. A solver that resumes reads what it needs again, to the same bits, and does not
yield that point a second time.
"""

from typing import Any

import numpy as np

from riata.data.chunk import Chunk
from riata.data.csr import check_entries
from riata.errors import DataError
from riata.matrices.host import from_parts
from riata.solvers.iterate import Options, Saved
from riata.solvers.saved_checks import check_array, check_facts, restoring


def saved(arrays: dict[str, np.ndarray], rng: np.random.Generator | None = None, **facts: Any) -> Saved:
    """The arrays and facts of a point, with the state of a generator where there is one."""
    return Saved(arrays, facts if rng is None else facts | {"rng": rng.bit_generator.state})


@restoring()
def generator(options: Options) -> np.random.Generator:
    """A generator with the seed of the options, or in the state that was saved."""
    rng = np.random.default_rng(options.seed)
    if options.resume is not None:
        rng.bit_generator.state = options.resume.facts["rng"]
    return rng


@restoring()
def weights(options: Options, n_features: int) -> tuple[np.ndarray, float, int]:
    """Weights, intercept and number of steps at the start: zero, or those that were saved."""
    if options.resume is None:
        return np.zeros(n_features), 0.0, 0
    arrays, facts = options.resume
    check_facts(facts, {"b": float, "steps": int})
    return check_array(arrays, "w", np.float64, (n_features,)), facts["b"], facts["steps"]


def chunk_arrays(chunk: Chunk | None) -> dict[str, np.ndarray]:
    """The rows of a chunk as arrays; none where there is no chunk."""
    if chunk is None:
        return {}
    parts = chunk.X.parts() | {"y": chunk.y, "weight": chunk.weight}
    return {f"chunk.{name}": part for name, part in parts.items()}


@restoring()
def chunk_of(arrays: dict[str, np.ndarray], n_features: int) -> Chunk | None:
    """The chunk of these `chunk_arrays`; None where there are none."""
    if "chunk.y" not in arrays:
        return None
    parts = {name.removeprefix("chunk."): part for name, part in arrays.items() if name.startswith("chunk.")}
    y = check_array(arrays, "chunk.y", np.float64, (None, 2) if arrays["chunk.y"].ndim == 2 else (None,))
    weight = check_array(arrays, "chunk.weight", np.float64, y.shape[:1])
    numbers = parts["X" if "X" in parts else "data"]
    kind = np.float32 if numbers.dtype == np.float32 else np.float64
    if "X" in parts:
        check_array(arrays, "chunk.X", kind, (len(y), n_features))
    else:
        check_array(arrays, "chunk.data", kind, (None,))
        try:
            ordered = check_entries(parts["indptr"], parts["indices"], n_features, len(y), len(numbers))
        except DataError:
            ordered = False
        if not ordered:
            raise ValueError("indices of its rows are not as a fit saves them")
    return Chunk(from_parts(parts, (len(y), n_features)), y, weight)
