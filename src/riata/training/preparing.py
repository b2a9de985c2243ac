"""Rows as the model sees them: of unit norm, on a GPU, or as statistics where they can be read only once."""

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.folds import Folds
from riata.data.remote import Remote
from riata.data.statistics import statistics_of
from riata.engines.cuda.on_device import OnDevice, check_device, on_device
from riata.engines.cuda.transfers import HERE, place_named
from riata.errors import OptionError
from riata.solvers.registry import SOLVERS
from riata.training.spec import Spec


def rows_seen(data: Dataset, spec: Spec) -> Dataset:
    """The rows as the model sees them, of unit norm if asked for, and on the GPU if a device is given."""
    data = data.map(_unit_rows_of) if spec.normalize == "rows" else data
    if spec.device in (None, HERE) or isinstance(data, OnDevice):
        return data
    if isinstance(data, Remote):
        raise OptionError("a GPU takes rows of this machine, not those of a cluster: leave device or engine out")
    check_device(spec.solver_name)
    return on_device(data, place_named(spec.device))


def rows_or_statistics(data: Dataset, spec: Spec, folds: Folds | None) -> Dataset:
    """The rows as the model sees them, or statistics (by folds) in their place where they can be read only once."""
    if data.is_summary:
        on_gpu = spec.device not in (None, HERE)
        if spec.normalize is not None or on_gpu:
            wish = "send to a GPU" if on_gpu else "normalise"
            raise OptionError(f"there are statistics in place of rows, and no rows to {wish}")
        return data
    data = rows_seen(data, spec)
    if not data.single_pass or SOLVERS[spec.solver_name].stochastic:
        return data
    if not spec.loss_function.quadratic:
        raise OptionError(
            f"one reading is enough for the squared loss and not for {spec.loss_function.name!r}: keep the stream "
            "while it is read (cache=True), or take solver 'online'"
        )
    statistics = statistics_of(data, memory=spec.memory_bytes or data.memory, folds=folds)
    return statistics.as_data(data.ledger)


def _unit_rows_of(chunk: Chunk) -> Chunk:
    return chunk._replace(X=chunk.X.unit_rows())
