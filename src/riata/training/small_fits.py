"""Which fits are small enough to be interpreted."""

from contextlib import AbstractContextManager, nullcontext

from riata.data.dataset import Dataset
from riata.engines.cuda.on_device import OnDevice
from riata.engines.cuda.transfers import HERE
from riata.small_work import Limits, interpreting
from riata.solvers.registry import AUTO
from riata.training.spec import Spec


def is_one_fit(rows: Dataset, spec: Spec) -> bool:
    """Whether there is one fit to make, here, from start to end: many fits, or one that resumes, are compiled."""
    searches = "auto" in (spec.k, spec.alpha) or (rows.classes is not None and len(rows.classes) > 2)
    elsewhere = spec.device not in (None, HERE) or isinstance(rows, OnDevice)
    return spec.solver_name in AUTO.values() and spec.checkpoint is None and not searches and not elsewhere


def interpreting_if_small(rows: Dataset, spec: Spec, limits: Limits) -> AbstractContextManager[None]:
    """A context for this fit: in it kernels are interpreted, if it is one of so few rows."""
    return interpreting(rows, limits) if is_one_fit(rows, spec) else nullcontext()
