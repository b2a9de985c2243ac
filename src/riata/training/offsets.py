"""Offsets while a model is fitted: from where rows have them to where losses look for them.

A loss that sees y - z only takes the offset from the target: the squared loss keeps all its short cuts. Any other gets
the offset beside the target (`riata.losses.with_offset`). Nothing below has to know.
"""

from collections.abc import Callable
from dataclasses import replace

from riata.data.chunk import Chunk, left_over
from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.losses import Loss, WithOffset, paired
from riata.objective import Problem, empty_intercept
from riata.training.spec import Spec


def with_offsets(data: Dataset, spec: Spec) -> tuple[Dataset, Spec]:
    """The rows with their offsets where losses look for them, and the spec with a loss that does; both as they are
    where rows have no offsets."""
    if data.facts.offset is None or data.is_summary:  # statistics are of what the offsets left over
        return data, spec
    loss = spec.loss_function
    spec = replace(spec, loss=loss_with_offset(loss))
    if not loss.relative:
        return with_offsets_beside(data), spec
    seen = data.map(_taken_off)
    seen.facts = seen.facts.but(offset=None)
    return seen, spec


def with_offsets_beside(data: Dataset) -> Dataset:
    """The rows with their offsets beside their targets; as they are, where there are none."""
    if data.facts.offset is None:
        return data
    seen = data.map(_beside)
    seen.facts = seen.facts.but(offset=None)
    return seen.sharing_moments(lambda of_target: data.target_moments if of_target else data.moments)


def loss_with_offset(loss: Loss) -> Loss:
    """The loss of rows whose offsets went the way of `offset_rule`."""
    if loss.n_outputs > 1 or loss.couples_rows:
        raise OptionError(f"loss {loss.name!r} has no offset: it is not a function of one margin a row")
    return loss if loss.relative else WithOffset(loss)


def offset_rule(loss: Loss) -> Callable[[Chunk], Chunk]:
    """What becomes of the offsets of a chunk."""
    return _taken_off if loss.relative else _beside


def _taken_off(chunk: Chunk) -> Chunk:
    return chunk._replace(y=left_over(chunk), offset=None)


def _beside(chunk: Chunk) -> Chunk:
    return chunk._replace(y=paired(chunk.y, chunk.offset), offset=None)


def mean_of_empty_model(data: Dataset, spec: Spec) -> float:
    """What the model without features predicts for a row, where its offset is 0: the mean target, or its quantile."""
    kinked = spec.loss_function.kinked
    if (data.facts.offset is None and not kinked) or data.is_summary:
        return float(data.moments.y_mean)
    if spec.loss_function.relative and not kinked:
        return data.sum(lambda chunk: float(chunk.weight @ left_over(chunk))) / data.total_weight
    seen, of_loss = with_offsets(data, spec)
    empty = empty_intercept(Problem(seen, of_loss.loss_function, spec.family))
    return float(of_loss.loss_function.mean(empty))
