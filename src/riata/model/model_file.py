"""The file of a model: JSON that a person can read, checked as a whole before anything is made of it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from riata import __version__
from riata.errors import ModelFileError
from riata.files import replacing
from riata.model.model_checks import faults
from riata.schema import SchemaError

FORMAT, VERSION = "riata-model", 1


def write_document(content: dict[str, Any], path: str | Path) -> None:
    """Write what a model holds; the file appears complete or not at all."""
    document = {"format": FORMAT, "version": VERSION, "riata": __version__, **content}
    with replacing(path) as file:
        file.write(_as_text(document).encode())


@contextmanager
def the_document_in(path: str | Path) -> Iterator[dict[str, Any]]:
    """What the file of a model holds, once it is checked; what fails while a model is made of it is its damage."""
    document = _read(path)
    try:
        if (fault := next(faults(document), None)) is not None:
            raise SchemaError(fault)
        yield document
    except (SchemaError, ModelFileError) as error:
        raise ModelFileError(f"{path} is a damaged riata model: {error}") from None


def _read(path: str | Path) -> dict[str, Any]:
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelFileError(f"cannot read the model {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError):  # also what is not UTF-8, or lists in lists without end
        raise ModelFileError(f"{path} is not a riata model: it is not JSON, or it was cut short") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not a riata model: it does not say format {FORMAT!r}")
    if document.get("version") != VERSION:
        raise ModelFileError(
            f"{path} has model format version {document.get('version')}, this riata reads {VERSION}: update riata"
        )
    return document


def _as_text(document: dict[str, Any]) -> str:
    """JSON to read and to compare line by line: a feature, a column or a fact a line."""
    lines = []
    for key, value in document.items():
        if key == "features":
            text = _in_lines(value)
        elif key == "encoding" and value:
            others = {name: one for name, one in value.items() if name != "encoders"}
            text = f'{json.dumps(others, allow_nan=False)[:-1]}, "encoders": {_in_lines(value["encoders"])}}}'
        elif key == "training":
            text = json.dumps(value, indent=1, allow_nan=False).replace("\n", "\n ")
        else:
            text = json.dumps(value, allow_nan=False)
        lines.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _in_lines(items: list[Any]) -> str:
    return "[" + ",".join(f"\n  {json.dumps(item, allow_nan=False)}" for item in items) + ("\n ]" if items else "]")
