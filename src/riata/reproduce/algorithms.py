"""The paper's eight algorithms in both readings, and riata's own methods, as options of `riata.training.spec.Spec`.

The text and the published code differ. The text takes steps 1/t (sub-gradients) and 1/sqrt(t) (Fobos), a Lasso on the
rows as they are, and names no number of steps: here 20 passes over the rows. The code takes 2/t and 2/sqrt(t), a
constant 1 for L0-SGD (where the text names no step), 200,000 single rows or 100,000 batches of 20, and a coordinate
descent that standardises columns and has an intercept, which its scoring then leaves out.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from riata.reproduce.paper import BATCH, CODE_BATCH_STEPS, CODE_STEPS

SETTING: dict[str, Any] = {"loss": "squared", "standardize": False, "fit_intercept": False}  # with rows of unit norm


class Effort(NamedTuple):
    """How long algorithms run that do not stop by themselves."""

    text_passes: int  # the text names no number
    code_steps: int
    code_batch_steps: int
    batch_passes: int  # of methods that see all rows at once


FULL = Effort(20, CODE_STEPS, CODE_BATCH_STEPS, 100)
QUICK = Effort(2, 10_000, 500, 10)


@dataclass(frozen=True)
class Algorithm:
    """A method by its name on the page, and what it is called with in each reading ("text", "code" or "riata")."""

    name: str
    takes: str  # "alpha" or "k"
    readings: dict[str, dict[str, Any]]
    options: dict[str, Any] = field(default_factory=dict)
    random: bool = True  # whether a seed matters

    @property
    def rows_per_step(self) -> int:
        """Rows of a step, for methods that see some at a time."""
        return self.options.get("batch", 1)

    def spec_options(self, reading: str, effort: Effort) -> dict[str, Any]:
        """All options of a fit, but its strength and its seed."""
        return SETTING | self._limit(reading, effort) | self.options | self.readings[reading]

    def _limit(self, reading: str, effort: Effort) -> dict[str, Any]:
        if reading == "riata":
            return {"tol": 1e-6}
        if not self.random:
            return {"tol": 1e-6, "max_passes": effort.batch_passes}
        # A tolerance of zero ends a fit only once its objective stands still: then the model is empty, and stays so.
        if reading == "text":
            return {"tol": 0.0, "max_passes": effort.text_passes}
        return {"tol": 0.0, "max_steps": effort.code_steps if self.rows_per_step == 1 else effort.code_batch_steps}


SUBGRADIENT = {"text": {"step": "1/t"}, "code": {"step": "2/t"}}
FOBOS = {"text": {"step": "1/sqrt(t)"}, "code": {"step": "2/sqrt(t)"}}
CD = {"text": {}, "code": {"standardize": True, "fit_intercept": True}}
NO_GRAM = 1  # byte of memory: sub-gradients over all rows then read them at every step, as O(nd) says

ALGORITHMS = {
    "cd": Algorithm("Coordinate descent", "alpha", CD, {"solver": "cd"}, random=False),
    "subgd": Algorithm(
        "Sub-gradient (all rows)", "alpha", {"text": {}},
        {"solver": "subgradient", "batch": "full", "memory": NO_GRAM}, random=False,
    ),
    "mini-subgd": Algorithm(
        "Sub-gradient (batches)", "alpha", SUBGRADIENT, {"solver": "subgradient", "batch": BATCH}
    ),
    "stoc-subgd": Algorithm("Sub-gradient (single rows)", "alpha", SUBGRADIENT, {"solver": "subgradient"}),
    "fobos": Algorithm("Fobos", "alpha", FOBOS, {"solver": "fobos"}),
    "mini-fobos": Algorithm("Fobos (batches)", "alpha", FOBOS, {"solver": "fobos", "batch": BATCH}),
    "round-fobos": Algorithm("Fobos (rounds)", "alpha", FOBOS, {"solver": "fobos", "rounds": True}),
    "l0-sgd": Algorithm("L0-SGD", "k", {"code": {"step": 1.0}}, {"solver": "l0-sgd"}),
    "exact": Algorithm("riata exact", "alpha", {"riata": {}}, {"solver": "exact"}, random=False),
    "best-k": Algorithm("riata best-k", "k", {"riata": {}}, {"solver": "best-k"}, random=False),
    "online": Algorithm("riata online", "alpha", {"riata": {}}, {"solver": "online"}),
    "online-k": Algorithm("riata online (k)", "k", {"riata": {}}, {"solver": "online"}),
}  # fmt: skip
PAPERS = tuple(name for name, algorithm in ALGORITHMS.items() if "riata" not in algorithm.readings)
