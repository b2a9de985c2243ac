"""Several targets at once: what is asked for as a loss of all of them sees it, and what is known of each."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riata.coupled_passes import targets_one_by_one
from riata.data.dataset import Dataset
from riata.errors import DataError
from riata.matrices.moments import Moments
from riata.training.checks import check_varies, refuse
from riata.training.spec import Spec


def n_targets(data: Dataset) -> int:
    """How many numbers there are to predict for a row."""
    return 1 if data.facts.targets is None else len(data.facts.targets)


def of_targets(data: Dataset, spec: Spec) -> Spec:
    """The spec of all targets at once; a feature is in the model for all of them or for none, unless told otherwise."""
    loss = spec.loss_function.of_targets(n_targets(data))
    check_targets(data, spec)
    shared = spec.penalty is None if spec.shared_support is None else spec.shared_support
    return replace(spec, loss=loss, shared_support=shared)


def check_targets(data: Dataset, spec: Spec) -> None:
    """Refuse what there is for one target only."""
    several = f"{n_targets(data)} targets at once"
    refuse([
        (spec.solver not in ("auto", "exact", "best-k"),
         f"{several} go with solvers 'exact' and 'best-k', not with {spec.solver!r}: leave the solver out"),
        (data.facts.offset is not None, f"there is no offset for {several}: take it from the targets"),
        (data.single_pass,
         f"a stream that is read once has one target, and there are {several}: keep it while it is read (cache=True)"),
    ])  # fmt: skip


def check_same_targets(data: Dataset, others: Dataset) -> None:
    """Refuse other rows that have more or fewer targets than those that are learnt from."""
    mine, theirs = n_targets(data), n_targets(others)
    if mine != theirs:
        raise DataError(f"the rows to learn from have {_counted(mine)}, and the validation set has {_counted(theirs)}")


def _counted(n: int) -> str:
    return f"{n} target" + ("" if n == 1 else "s")


def moments_of_targets(data: Dataset) -> Sequence[Moments]:
    """Weight, mean and squares of every target, all of which must vary."""
    found = targets_one_by_one(data, n_targets(data))
    for name, moments in zip(data.facts.targets or (), found, strict=True):
        check_varies(data, moments, f"the target {name!r}")
    return found


def means_of(moments: Sequence[Moments]) -> list[float]:
    """What a model without features predicts."""
    return [float(np.float64(one.y_mean)) for one in moments]
