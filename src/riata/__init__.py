"""Sparse linear models from data of any size, in bounded memory.

- Estimators in the style of scikit-learn: `SparseRegressor`, `SparseClassifier`, `SparseSurvival`.
- Data from files, tables, arrays and streams: `open`.
- The same without scikit-learn: `train` with a `Spec`; whole regularisation paths: `path`, `k_path`.
- Models from files: `load_model`; reports: `write_report`; plots: `plot`; stable features: `stability_selection`.
- Statistics in place of rows, for the squared loss: `statistics_of`, `load_statistics`.
- Bases of losses and penalties of your own: `Loss`, `Penalty`; the solvers by name: `SOLVERS`.
- Data sets, and all errors and warnings: `datasets`, `errors`.

Most of the code loads when it is first used, so `import riata` is quick.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from riata.data.statistics import load_statistics, statistics_of
    from riata.engines.open import open_data as open
    from riata.estimators import SparseClassifier, SparseRegressor, SparseSurvival
    from riata.estimators.stability import stability_selection
    from riata.losses import Loss
    from riata.model.saved_model import load_model
    from riata.penalties import Penalty
    from riata.reporting.html.fit_report import write_report
    from riata.solvers.registry import SOLVERS
    from riata.training.paths.opened_paths import k_path, path
    from riata.training.spec import Spec
    from riata.training.train import train

__version__ = version("riata")
__all__ = [
    "SOLVERS",
    "Loss",
    "Penalty",
    "SparseClassifier",
    "SparseRegressor",
    "SparseSurvival",
    "Spec",
    "datasets",
    "errors",
    "k_path",
    "load_model",
    "load_statistics",
    "open",
    "path",
    "plot",
    "stability_selection",
    "statistics_of",
    "train",
    "write_report",
]

_HOMES = {
    "SOLVERS": "riata.solvers.registry",
    "Loss": "riata.losses",
    "Penalty": "riata.penalties",
    "SparseClassifier": "riata.estimators",
    "SparseRegressor": "riata.estimators",
    "SparseSurvival": "riata.estimators",
    "Spec": "riata.training.spec",
    "k_path": "riata.training.paths.opened_paths",
    "load_model": "riata.model.saved_model",
    "load_statistics": "riata.data.statistics",
    "open": "riata.engines.open",
    "path": "riata.training.paths.opened_paths",
    "stability_selection": "riata.estimators.stability",
    "statistics_of": "riata.data.statistics",
    "train": "riata.training.train",
    "write_report": "riata.reporting.html.fit_report",
}
_NAMES_THERE = {"open": "open_data"}  # of those that have another name at home


def __getattr__(name: str) -> Any:
    if name in ("datasets", "errors", "plot"):
        return import_module(f"riata.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), _NAMES_THERE.get(name, name))
    raise AttributeError(f"module 'riata' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__version__"])
