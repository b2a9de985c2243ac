"""The options that shape a fit: one goes on from a checkpoint where they are as they were."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from riata.losses import known_loss
from riata.training.spec import Spec

NOT_SHAPING = {  # options that do not change the fit of one margin, or that have shaped its data or its k already
    "checkpoint", "every", "resume", "memory", "device", "verbose", "normalize", "class_weight", "threshold",
    "debias", "select", "cv", "certify_time", "gap", "n_alphas", "alpha_reach", "k_max",
}  # fmt: skip


def shaping_options(spec: Spec) -> dict[str, Any]:
    """The options that shape a fit, as plain values."""
    loss = spec.loss_function
    options = asdict(replace(spec, penalty=None, cv=None))
    options |= {"penalty": None if spec.penalty is None else repr(spec.penalty)}
    options |= {"loss": loss.name if known_loss(loss.name) == loss else repr(loss)}
    return {name: np.array(value).tolist() for name, value in options.items() if name not in NOT_SHAPING}
