"""Sentences are for people: no code finds out what happened by searching or comparing one."""

import ast
from pathlib import Path

import pytest

import riata

SOURCE = Path(riata.__file__).parent
SENTENCES = {"reason", "reason_", "message", "sentence", "stopped_because", "stopped_because_", "strerror"}
SEARCHES = {
    "startswith", "endswith", "find", "index", "count", "partition", "rpartition", "split", "search", "match",
    "fullmatch", "findall", "removeprefix", "removesuffix", "replace",
}  # fmt: skip
OTHERS_WORDS = {  # what PyArrow says has no type that tells, and no fields
    "data/formats/csv.py",
    "data/formats/csv_arrow.py",  # which word was not among those for a missing value
    "data/formats/duckdb.py",  # DuckDB's first paragraph
    "data/formats/json.py",
    "solvers/saved_checks.py",  # put on one line
    "data/formats/files.py",
    "data/formats/filesource.py",  # whether a sentence names the file
}


def says(node: ast.AST) -> bool:
    """Whether an expression is a sentence: the text of an error, or one by name."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "str" and any(map(_is_error, node.args))
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant) and node.slice.value in SENTENCES:
            return True
        return isinstance(node.value, ast.Attribute) and node.value.attr == "args"
    if isinstance(node, ast.Attribute) and node.attr == "objective":  # of a model a formula in words
        return "model" in (getattr(node.value, "attr", None), getattr(node.value, "id", None))
    return (isinstance(node, ast.Attribute) and node.attr in SENTENCES) or (
        isinstance(node, ast.Name) and node.id in SENTENCES
    )


def _is_error(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("error", "err", "exc", "e", "bad", "exception")


def reads_a_sentence(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return any(_compared(node.left, *pair) for pair in zip(node.ops, node.comparators, strict=True))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHES:
        return says(node.func.value) or any(map(says, node.args))
    return False


def _compared(left: ast.AST, operator: ast.AST, right: ast.AST) -> bool:
    """A sentence may be None, and be one that was said before; more is reading it."""
    if isinstance(operator, ast.In | ast.NotIn):
        return says(right) or (says(left) and isinstance(right, ast.Tuple | ast.List | ast.Set))
    return not isinstance(operator, ast.Is | ast.IsNot) and (says(left) or says(right))


def _places(text: str) -> list[int]:
    return [node.lineno for node in ast.walk(ast.parse(text)) if reads_a_sentence(node)]


def test_no_sentence_is_read():
    files = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.py")}
    found = {name: _places(path.read_text(encoding="utf-8")) for name, path in files.items()}
    assert {name for name, places in found.items() if places} == OTHERS_WORDS


@pytest.mark.parametrize(
    "code",
    [
        'if "no file" not in str(error): raise',
        'str(error).startswith("there")',
        're.search("gap", result.reason)',
        'if reason in ("it was interrupted", "the stream ended"): pass',
        'model.stopped_because_ == "it was interrupted"',
        'training["stopped_because"].split()',
        'if "groups" in facts.model.objective: pass',
        'message = error.args[0].replace("a", "b")',
    ],
)
def test_what_would_be_found(code):
    assert _places(code) == [1]


def test_a_typed_reason_may_be_compared():
    assert _places("stop.reason is StopReason.ROUNDING") == []
    assert _places("sentence not in self._said") == []
