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
    if isinstance(fitted, Model):
        made = f"riata.load_model({model_file!r})"
    elif data is not None:
        options = "".join(f", {name}={value!r}" for name, value in (opened or {}).items())
        made = f"riata.{fitted!r}.fit(riata.open({data!r}{options}))"
    else:
        made = f"riata.{fitted!r}.fit({'X, y' if getattr(fitted, 'profile_', None) is None else 'data'})"
    tested = "" if test is None else f", test={test}"
    return f"import riata\n\nmodel = {made}\nriata.write_report(model, {page!r}{tested})\n"
