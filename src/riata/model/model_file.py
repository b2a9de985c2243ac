"""The file of a model: JSON that a person can read, checked as a whole before anything is made of it."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from riata import __version__
from riata.data.columns.packed_names import MANY, for_json
from riata.errors import ModelFileError
from riata.files import replacing, write_text
from riata.model.json_pieces import Pieces
from riata.model.listed_features import ListedFeatures
from riata.model.model_checks import faults
from riata.schema import SchemaError

FORMAT, VERSION = "riata-model", 1
JSON = json.JSONEncoder(allow_nan=False, default=for_json)


def write_document(content: dict[str, Any], path: str | Path) -> None:
    """Write what a model holds; the file appears complete or not at all."""
    document = {"format": FORMAT, "version": VERSION, "riata": __version__, **content}
    with replacing(path) as file:
        write_text(file, _text_of(document))  # as a whole, very many features would take several times their size


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
        with open(path, encoding="utf-8") as file:
            document = _parsed(Pieces(file))
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


def _parsed(text: Pieces) -> Any:
    """What the text says, with features that take little memory: there may be very many."""

    def taken(key: str, text: Pieces) -> Any:
        listed = key == "features" and text.next_letter() == "["
        return ListedFeatures(text.items()) if listed else text.value()

    document = text.object(taken) if text.next_letter() == "{" else text.value()
    if text.next_letter():
        raise ValueError("there is more than one value")
    return document


def _text_of(document: dict[str, Any]) -> Iterator[str]:
    """JSON to read and to compare line by line, a piece at a time: a feature, a column or a fact a line."""
    for number, (key, value) in enumerate(document.items()):
        yield f"{',' if number else '{'}\n {json.dumps(key)}: "
        if key == "features":
            yield from _in_lines(value, lambda feature: [JSON.encode(feature)])
        elif key == "encoding" and value:
            others = {name: one for name, one in value.items() if name != "encoders"}
            yield f'{json.dumps(others, allow_nan=False)[:-1]}, "encoders": '
            yield from _in_lines(value["encoders"], _of_column)
            yield "}"
        elif key == "training":
            yield json.dumps(value, indent=1, allow_nan=False).replace("\n", "\n ")
        else:
            yield json.dumps(value, allow_nan=False)
    yield "\n}\n"


def _of_column(encoder: dict[str, Any]) -> Iterable[str]:
    """What makes features of a column, in pieces where it has very many names, though these take longer."""
    names = encoder.get("inner", encoder).get("bucket_names", ())
    return [JSON.encode(encoder)] if len(names) < MANY else JSON.iterencode(encoder)


def _in_lines(items: Iterable[Any], write: Callable[[Any], Iterable[str]]) -> Iterator[str]:
    number = -1
    for number, item in enumerate(items):
        yield ",\n  " if number else "[\n  "
        yield from write(item)
    yield "[]" if number < 0 else "\n ]"
