"""Python code that repeats a fit."""

from collections.abc import Mapping
from typing import Any

from riata.losses import USUAL
from riata.model.model import Model
from riata.reporting.html.facts import trained_by
from riata.training.parameters import OF_OPENING, OF_SPEC, Parameter, Section, set_options
from riata.training.trained import Trained

ESTIMATORS = {"regression": "SparseRegressor", "classification": "SparseClassifier", "survival": "SparseSurvival"}
OF_ALL_ROWS = (
    "target",
    "event",
    "trials",
    "task",
)  # what is said of any rows beside how they are read; columns are the encoding's


def python_code(
    fitted: Any,
    page: str,
    *,
    data: str | None = None,
    opened: Mapping[str, Any] | None = None,
    validation: str | None = None,
    test: str | None = None,
    model_file: str = "model.json",
) -> str:
    """Lines that make the model and the page again; `test` is an expression, `data` and `validation` are paths.

    Data without a name is the caller's.
    """
    lines = ["import riata", ""]
    chosen_by = ""
    given = opened or {}
    if data is not None:
        lines.append(f"train = riata.open({data!r}{_arguments(given)})")
    if validation is not None:
        kept = {name: value for name, value in given.items() if name in OF_ALL_ROWS or _is_reading(name)}
        lines.append(f"others = riata.open({validation!r}{_arguments(kept)}, encoding=train.encoding)")
        chosen_by = ", validation=others"
    if isinstance(fitted, Model):
        lines.append(f"model = riata.load_model({model_file!r})")
    else:
        trained = trained_by(fitted)
        rows = "X, y" if data is None and trained.profile is None else "train"
        lines.append(f"model = {estimator_code(trained)}.fit({rows}{chosen_by})")
    lines.append(f"riata.write_report(model, {page!r}{'' if test is None else f', test={test}'})")
    return "\n".join(lines)


def estimator_code(trained: Trained) -> str:
    """The estimator that repeats a training: every parameter that is not the default."""
    kind = ESTIMATORS[trained.task]
    given = [(one, value) for one, value in set_options(OF_SPEC, vars(trained.spec)) if _shapes(one)]
    arguments = {one.argument: value for one, value in given if one.name != "loss"}
    several = trained.classes is not None and len(trained.classes) > 2  # whose usual loss depends on other options
    if several or trained.spec.loss_function.name != USUAL[trained.task]:
        arguments["loss"] = trained.spec.loss
    return f"riata.{kind}({_arguments(arguments)[2:]})"


def _shapes(parameter: Parameter) -> bool:
    return parameter.name != "verbose"


def _is_reading(name: str) -> bool:
    return name in OF_OPENING and OF_OPENING[name].section is Section.READING and name != "n_features"


def _arguments(values: Mapping[str, Any]) -> str:
    return "".join(f", {name}={value!r}" for name, value in values.items())
