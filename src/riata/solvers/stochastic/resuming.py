"""How solvers that go pass by pass save where they are, and go on from there.

A point is saved when it is yielded. A solver that goes on from one reads what it needs again, to the same bits, and
does not yield the point a second time.
"""

import numpy as np

from riata.data.chunk import Chunk
from riata.matrices.host import from_parts
from riata.solvers.iterate import Options, Saved


def saved(arrays, rng: np.random.Generator | None = None, **facts) -> Saved:
    """The arrays and facts of a point, with the state of a generator where there is one."""
    return Saved(arrays, facts if rng is None else facts | {"rng": rng.bit_generator.state})


def generator(options: Options) -> np.random.Generator:
    """That of a new run, or the one that was saved."""
    rng = np.random.default_rng(options.seed)
    if options.resume is not None:
        rng.bit_generator.state = options.resume.facts["rng"]
    return rng


def weights(options: Options, n_features: int) -> tuple[np.ndarray, float, int]:
    """Weights, intercept and number of steps at the start: zero, or those that were saved."""
    if options.resume is None:
        return np.zeros(n_features), 0.0, 0
    arrays, facts = options.resume
    return arrays["w"], facts["b"], facts["steps"]


def chunk_arrays(chunk: Chunk | None) -> dict[str, np.ndarray]:
    """The rows of a chunk as arrays; none where there is no chunk."""
    if chunk is None:
        return {}
    parts = chunk.X.parts() | {"y": chunk.y, "weight": chunk.weight}
    return {f"chunk.{name}": part for name, part in parts.items()}


def chunk_of(arrays: dict[str, np.ndarray], n_features: int) -> Chunk | None:
    """The chunk that `chunk_arrays` took apart."""
    if "chunk.y" not in arrays:
        return None
    parts = {name.removeprefix("chunk."): part for name, part in arrays.items() if name.startswith("chunk.")}
    y, weight = parts.pop("y"), parts.pop("weight")
    return Chunk(from_parts(parts, (len(y), n_features)), y, weight)
