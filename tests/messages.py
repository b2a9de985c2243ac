"""Every sentence that a user can meet, collected from the source; `python tests/messages.py` prints them for a reading.

A sentence is a text of some words that is raised, yielded, returned, said or listed beside a condition: docstrings,
formulas of pages and what loggers write are none. What is filled in stands as {}.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[1] / "src" / "riata"
LEAST_WORDS = 4


class Message(NamedTuple):
    """A sentence and where it is."""

    file: str
    line: int
    text: str
    raised: bool  # as an error

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


def messages() -> list[Message]:
    """All of them, in the order of the files."""
    return [message for path in sorted(SOURCE.rglob("*.py")) for message in _of_file(path)]


def _of_file(path: Path) -> Iterator[Message]:
    tree, name = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(SOURCE).as_posix()
    skipped = {id(part) for node in ast.walk(tree) for part in _no_message(node)}
    raised = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Raise) for part in ast.walk(node)}
    inside = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in list(ast.walk(node))[1:]
    }
    for node in ast.walk(tree):
        if id(node) in skipped or id(node) in inside:
            continue
        text = _text(node)
        if text is not None and len(re.findall(r"[A-Za-z]{2,}", text)) >= LEAST_WORDS and " " in text.strip():
            yield Message(name, node.lineno, text, id(node) in raised)


def _no_message(node: ast.AST) -> Iterator[ast.AST]:
    """Docstrings, what loggers write, regular expressions and MathML."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        of = node.func.value
        if isinstance(of, ast.Name) and of.id in ("log", "logger", "re"):
            yield from ast.walk(node)
    text = _text(node)
    if text is not None and re.search(r"</?m[a-z]+>|<style>|</|\n    ", text):  # also what is put into docstrings
        yield node


def _text(node: ast.AST) -> str | None:
    """A string, or an f-string with {} where something is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


if __name__ == "__main__":
    for message in messages():
        print(message)  # noqa: T201
