"""Sentences that users meet are for people: see `messages.py`, which collects and prints them."""

import re

import pytest

from messages import messages
from riata.reporting.terminal.wording import as_typed

ALL = messages()
IN_PYTHON = ("estimators/", "plot/", "reporting/", "reproduce/", "kernels/", "losses/", "penalties/", "objective/")
# Sentences that a command never says, since its options cannot be mistaken so, or since it encodes rows itself.
NOT_TYPED = (
    "encoding=", "riata.open(", "class_weight must be a dict", "normalize must be None", "cv must be a number of folds",
    "csv is a dictionary", "and none may be None", "certify must be True", "by_class", "a dict of weights",
    "(X, y)", "(X, y, weight)", "a cross is of two columns", "has no attribute",
)  # fmt: skip
FOR_AUTHORS = (
    "no sentence says what {} is",
    "the archive ends too early",
    "Arrow's reader of ORC crashes over it",
)  # never met, or part of another sentence
PYTHON = re.compile(r"\b(True|False|None)\b|\w=[\[{('\"]|\w=(True|False|None)|[a-z]\w*\.[a-z_]+\(|[a-z]+_[a-z]+=")
CAMEL = re.compile(r"\b[A-Z][a-z]+[A-Z]\w+")
NAMES = {
    "PyArrow", "NumPy", "SciPy", "DuckDB", "PyYAML", "CuPy", "PyTorch", "SparseRegressor", "SparseClassifier", "MathML",
    "OpenDocument",
}  # fmt: skip
WHAT_TO_DO = re.compile(
    r"[:;,(]| must | need| take | give | instead| not | no | cannot |\bonly\b| is for | are for | goes with | go with "
    r"| but |more than"
)


def typed(text: str) -> str:
    """A sentence as a command says it, with a word for what is filled in."""
    return as_typed(text.replace("[{}]", "['k']").replace("': {}}", "': 1}").replace("{}", "k"))


def spoken(message) -> bool:
    """Whether a command may say it: an error, a note or a reason."""
    return not message.file.startswith(IN_PYTHON) and not any(part in message.text for part in NOT_TYPED)


def sentences(raised: bool):
    return [message for message in ALL if (message.raised or not raised) and message.text not in FOR_AUTHORS]


def test_there_are_sentences():
    assert len(ALL) > 500
    assert sum(message.raised for message in ALL) > 200


def wrong(check, raised: bool = True) -> list[str]:
    return [str(message) for message in sentences(raised) if check(message)]


def test_commands_speak_no_python():
    assert wrong(lambda message: spoken(message) and PYTHON.search(typed(message.text)), False) == []


def test_no_internal_names():
    assert wrong(lambda message: set(CAMEL.findall(message.text)) - NAMES) == []


def test_errors_are_one_plain_sentence():
    def is_not(message):
        text = message.text
        ends = text.endswith((".", "!")) and not text.endswith("...")
        return ends or "  " in text.strip() or "\n" in text or re.match(r"[A-Z][a-z]+ [a-z]", text)

    found = [one for one in wrong(is_not) if not re.search(r": (Avro|Excel|YAML|Parquet) ", one)]  # names
    assert found == []


def test_errors_say_what_is_wrong_or_what_to_do():
    """Not a bare statement: a contrast, a limit, or advice."""
    assert wrong(lambda message: not WHAT_TO_DO.search(message.text) and not message.file.startswith(IN_PYTHON)) == []


@pytest.mark.parametrize("word", ["please", "sorry", "oops", "invalid", "illegal", "failed to", "an error occurred"])
def test_errors_are_neither_rude_nor_vague(word):
    assert wrong(lambda message: re.search(rf"\b{word}\b", message.text, flags=re.I)) == []


@pytest.mark.parametrize(
    ("python", "command"),
    [
        ("drop it (drop=['a', 'b'])", "drop it (--drop a,b)"),
        ("drop it (drop=['my, own'])", "drop it (--drop '\"my, own\"')"),
        ("or (csv={'decimal': ','} or csv={'dates': 'day first'})", "or (--csv decimal=, or --csv 'dates=day first')"),
        ("as missing (csv={'missing': ['a]}']})", "as missing (--csv 'missing=a]}')"),
        ("(csv={...} says otherwise)", "(--csv KEY=VALUE says otherwise)"),
        ("another folder (cache='/folder'), or (cache=False)", "another folder (--cache-dir /folder), or (--no-cache)"),
        ("how many (n_features)", "how many (--n-features)"),
        ("no list: drop=[a", "no list: drop=[a"),
    ],
)  # fmt: skip
def test_commands_name_what_is_typed(python, command):
    assert as_typed(python) == command


def test_python_is_not_told_what_to_type():
    """But by what is said on the command line alone."""
    typed_alone = ("cli/", "reproduce/", "reporting/terminal/", "training/parameters.py")
    assert [str(m) for m in ALL if "--" in m.text and not m.file.startswith(typed_alone)] == []
