"""Python code that repeats a fit."""

from collections.abc import Mapping
from typing import Any

from riata.model import Model


def python_code(
    fitted,
    page: str,
    *,
    data: str | None = None,
    opened: Mapping[str, Any] | None = None,
    test: str | None = None,
    model_file: str = "model.json",
) -> str:
    """Lines that make the model and the page again; `test` is an expression. Data without a name is the caller's."""
    lines = ["import riata", ""]
    rows = "X, y" if getattr(fitted, "profile_", None) is None else "train"
    if data is not None:
        rows = "train"
        options = "".join(f", {name}={value!r}" for name, value in (opened or {}).items())
        lines.append(f"train = riata.open({data!r}{options})")
    if isinstance(fitted, Model):
        lines.append(f"model = riata.load_model({model_file!r})")
    else:
        lines.append(f"model = riata.{fitted!r}.fit({rows})")
    lines.append(f"riata.write_report(model, {page!r}{'' if test is None else f', test={test}'})")
    return "\n".join(lines)
