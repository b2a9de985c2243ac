"""How riata's docstrings become pages: what is written in one line there is said the way napoleon reads it.

Attributes stand as `name : what it is`, which NumPy's style takes for a type; and the fields of a class are explained
by the comment behind each of them, which autodoc does not see.
"""

import inspect
import re

FIELD = re.compile(r"^    (?P<name>[a-z]\w*)(?:: | = )[^#\n]*?(?:  # (?P<comment>.*))?$", re.MULTILINE)
REFERENCE = re.compile(r"\b(\w+_)(?!\w)")  # coef_ would be a link
ONE_LINE = re.compile(r"^(?P<names>\w[\w, ]*) : (?P<text>.*)$")


def attributes_below(lines: list[str]) -> list[str]:
    """The lines of a docstring with the text of an attribute below its name."""
    if "Attributes" not in lines:
        return lines
    start = lines.index("Attributes")
    end = next((i - 1 for i in range(start + 2, len(lines)) if set(lines[i]) == {"-"}), len(lines))
    section = [part for line in lines[start:end] for part in _below(line)]
    return lines[:start] + section + lines[end:]


def _below(line: str) -> list[str]:
    found = ONE_LINE.match(line)
    if found is None:
        return [line]
    return [part for name in found["names"].split(", ") for part in (f"``{name}``", f"    {found['text']}")]


def fields_of(kind: type) -> list[str]:
    """A section of attributes made of the annotated fields of a class and the comments behind them."""
    body = inspect.getsource(kind)
    fields = [(f["name"], REFERENCE.sub(r"``\1``", f["comment"] or "")) for f in FIELD.finditer(body)]
    if not any(text for _, text in fields):
        return []
    return ["", "Attributes", "----------", *(part for name, text in fields for part in (name, f"    {text}"))]


def rewrite(_app, what, _name, obj, _options, lines) -> None:
    """For autodoc, before napoleon reads the lines."""
    if what == "class":
        told = {"Attributes", "Parameters"} & set(lines)  # fields that the docstring itself explains
        lines[:] = attributes_below([*lines, *([] if told else fields_of(obj))])
    elif what == "property":
        lines.insert(0, "\\ ")  # nothing, or what stands before a colon in the first line is taken for a type


def setup(app) -> dict:
    app.connect("autodoc-process-docstring", rewrite, priority=400)
    return {"parallel_read_safe": True}
