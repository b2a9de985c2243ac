"""Python code that repeats a fit."""

from collections.abc import Mapping
from typing import Any

from riata.model.model import Model

OF_ALL_ROWS = ("target", "task", "memory", "on_error", "engine")  # what opening says of any rows, not of their columns


def python_code(
    fitted,
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
    rows = "X, y" if getattr(fitted, "profile_", None) is None else "train"
    if data is not None:
        rows = "train"
        options = "".join(f", {name}={value!r}" for name, value in (opened or {}).items())
        lines.append(f"train = riata.open({data!r}{options})")
    if validation is not None:
        kept = "".join(f", {name}={value!r}" for name, value in (opened or {}).items() if name in OF_ALL_ROWS)
        lines.append(f"others = riata.open({validation!r}{kept}, encoding=train.encoding)")
        chosen_by = ", validation=others"
    if isinstance(fitted, Model):
        lines.append(f"model = riata.load_model({model_file!r})")
    else:
        lines.append(f"model = riata.{fitted!r}.fit({rows}{chosen_by})")
    lines.append(f"riata.write_report(model, {page!r}{'' if test is None else f', test={test}'})")
    return "\n".join(lines)
