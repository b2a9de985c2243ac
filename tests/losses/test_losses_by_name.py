"""A loss knows everything about itself: nothing else in the source asks for one by its class or by its name."""

import ast
from pathlib import Path

import riata
from riata.losses import EVERY, Quantiles, SquaredTargets

SOURCE = Path(riata.__file__).parent
CLASSES = {type(loss).__name__ for loss in EVERY.values()} | {Quantiles.__name__, SquaredTargets.__name__}
# Spots that may name a loss, and why.
ALLOWED = {
    "training/parameters.py": {"squared"},  # the default of the parameter, declared where all are
    "reproduce/algorithms.py": {"squared"},  # the paper's experiment is about this one
    "training/targets/usual_loss.py": {
        "Softmax",
        "Binomial",
    },  # the default depends on the target and what else is asked
    "training/targets/risk_sets.py": {"Cox"},  # risk sets are what its targets are made of,
    "model/quality/risks.py": {"Cox"},  # and what its deviance is of
}


def named_in(path: Path) -> set[str]:
    """The losses that a file names, beside defaults of parameters and fields."""
    tree = ast.parse(path.read_text())
    defaults = {id(node) for function in ast.walk(tree) for node in _defaults(function)}
    strings = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in defaults
    }
    names = {getattr(node, "id", getattr(node, "attr", getattr(node, "name", None))) for node in ast.walk(tree)}
    return (strings & set(EVERY)) | (names & CLASSES)


def _defaults(node):
    if isinstance(node, ast.FunctionDef):
        return [*node.args.defaults, *node.args.kw_defaults]
    return [node.value] if isinstance(node, ast.AnnAssign) and node.value is not None else []


def files():
    own = {SOURCE / "kernels" / "losses.py", *(SOURCE / "losses").glob("*.py")}
    return [path for path in SOURCE.rglob("*.py") if path not in own]


def test_nothing_asks_for_a_loss_by_name():
    found = {path.relative_to(SOURCE).as_posix(): named_in(path) for path in files()}
    asked = {path: names - ALLOWED.get(path, set()) for path, names in found.items()}
    assert {path: names for path, names in asked.items() if names} == {}


def test_no_template_asks_for_a_loss_by_name():
    templates = list(SOURCE.rglob("*.html"))
    assert templates
    for template in templates:
        text = template.read_text()
        assert not [name for name in EVERY if f'"{name}"' in text or f"'{name}'" in text], template
