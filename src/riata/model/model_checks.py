"""What must be true of a model file's content, each with the words that say what is wrong where it is not."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from riata.data.encoding import Encoding
from riata.data.target import classes_fault
from riata.losses import LINKS, known_loss
from riata.losses.link import ORDINAL
from riata.model.listed_features import OF_A_FEATURE, ListedFeatures
from riata.schema import LARGEST_NUMBER, LARGEST_WHOLE, checked, is_text

HEAD = {"format", "version", "riata"}
PARTS = {
    "task", "loss", "link", "objective", "classes", "n_features", "normalize", "intercept", "encoding", "training",
    "features", "threshold", "hazard", "targets", "cutpoints",
}  # fmt: skip
OPTIONAL = {"encoding", "link", "threshold", "hazard", "targets", "cutpoints"}  # older files' loss tells their link
TASKS = ("regression", "classification", "survival")


def faults(document: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a model. Ask for the first alone: every check relies on those before it."""
    yield from _faults_of_parts(document)
    yield from _faults_of_task(document)
    yield from _faults_of_numbers(document)
    yield from _faults_of_features(document)
    if document.get("encoding") is not None:
        yield from _faults_of_encoding(document)


def _faults_of_parts(document: dict[str, Any]) -> Iterator[str]:
    """Whether all parts are there, and nothing else is."""
    if unknown := sorted(document.keys() - HEAD - PARTS):
        yield f"it holds {unknown[0]!r}, which this version of riata does not know: update riata"
    if lost := sorted(PARTS - OPTIONAL - document.keys()):
        yield f"it lacks its {lost[0]!r}"


def _faults_of_task(document: dict[str, Any]) -> Iterator[str]:
    """The kind of model: its loss, its classes, and what is said about them."""
    task, classes = document["task"], document["classes"]
    if not _is_loss(document["loss"], document.get("link"), task):
        yield f"there is no loss {document['loss']!r} with link {document.get('link')!r} for a task {task!r}"
    if document["normalize"] not in (None, "rows"):
        yield f"rows cannot be normalised by {document['normalize']!r}"
    if not _is_whole(document["n_features"]):
        yield f"{document['n_features']!r} is no number of features"
    if not is_text(document["objective"]):
        yield f"its objective is {document['objective']!r}, not a text"
    if not isinstance(document["training"], dict) or not isinstance(document.get("encoding"), dict | None):
        yield "its training or its encoding is not what it should be"
    if not (isinstance(classes, list) if task == "classification" else classes is None):
        yield f"the classes of a {task} cannot be {classes!r}"
    if isinstance(classes, list):
        checked(list[str] | list[bool] | list[float], classes, "its list of classes")
        if (fault := classes_fault(classes)) is not None:
            yield fault
    if "targets" in document:
        names = checked(list[str], document["targets"], "its list of targets")
        if task != "regression" or len(set(names)) < max(2, len(names)):
            yield f"{names!r} are not the names of several targets of a regression"


def _faults_of_numbers(document: dict[str, Any]) -> Iterator[str]:
    """The numbers that belong to no feature."""
    classes, n_margins = document["classes"], _n_margins(document)
    if not _are_numbers(document["intercept"], n_margins):
        yield f"its intercept is {document['intercept']!r}, not {n_margins} finite numbers"
    if not _is_threshold(document.get("threshold"), classes):
        yield f"its threshold is {document['threshold']!r}, no probability between 0 and 1 of one of two classes"
    if ("hazard" in document) != (document["task"] == "survival"):
        yield "a hazard is there where events are predicted, and nowhere else"
    if not _are_cutpoints(document.get("cutpoints"), document.get("link"), classes):
        yield f"its cutpoints are {document.get('cutpoints')!r}, not rising numbers between its classes"
    if not _is_baseline(
        document["training"].get("baseline"), len(classes or document.get("targets") or _levels(document) or "1")
    ):
        yield f"its baseline is {document['training']['baseline']!r}, not the shares of its classes or means"


def _faults_of_features(document: dict[str, Any]) -> Iterator[str]:
    """The features that the model uses."""
    features = document["features"]
    if not isinstance(features, ListedFeatures):
        yield "its features are no list"
    for feature in features:
        yield from _faults_of(feature, document["n_features"], _n_margins(document))
    if not features.have_columns_of_their_own:
        yield "two of its features are the same column"


def _faults_of_encoding(document: dict[str, Any]) -> Iterator[str]:
    """How columns become features, beside what the model says of features and classes."""
    encoding = Encoding.from_json(document["encoding"])
    if encoding.n_features > document["n_features"]:  # columns without a chosen feature are left out
        yield f"its columns make {encoding.n_features} features, and it says {document['n_features']}"
    of_target = None if encoding.target is None else encoding.target.classes
    if of_target is not None and list(of_target) != document["classes"]:
        yield "its classes are not those of its target"
    n_targets = 1 if encoding.target is None else len(encoding.target.numbers)
    if encoding.target is not None and n_targets != len(document.get("targets") or "1"):
        yield f"its target is of {n_targets} columns, and it predicts {_n_margins(document)}"


def _levels(document: dict[str, Any]) -> tuple[float, ...]:
    """The levels of several quantiles that a loss names."""
    loss = known_loss(document["loss"]) if isinstance(document["loss"], str) else None
    return () if loss is None else loss.levels


def _n_margins(document: dict[str, Any]) -> int:
    classes = document["classes"]
    if "targets" in document:
        return len(document["targets"])
    if levels := _levels(document):
        return len(levels)
    several = isinstance(classes, list) and len(classes) > 2 and "cutpoints" not in document
    return len(classes) if several else 1


def _faults_of(feature: Any, n_features: int, n_margins: int) -> Iterator[str]:
    if not isinstance(feature, dict) or feature.keys() != OF_A_FEATURE or not is_text(feature["name"]):
        yield f"a feature is {feature!r}, not one with {', '.join(sorted(OF_A_FEATURE))}"
    name, column = feature["name"], feature["column"]
    if not (_is_whole(column) and column < n_features):
        yield f"feature {name!r} is column {column!r} of {n_features}, counted from 0"
    if not _are_numbers(feature["coef"], n_margins):
        yield f"the coefficient of {name!r} is {feature['coef']!r}, not {n_margins} finite numbers"
    if not (_is_number(feature["deviation"]) and feature["deviation"] >= 0):
        yield f"the deviation of {name!r} is {feature['deviation']!r}, no finite number"


def _is_loss(name: Any, link: Any, task: Any) -> bool:
    """Whether a task may have this loss, or one of a user's own, of which the link is enough."""
    if task not in TASKS or not isinstance(name, str) or not isinstance(link, str | None):
        return False
    loss = known_loss(name)
    if loss is not None:
        return task in loss.tasks and (link is None or link in LINKS)
    return link in LINKS


def _is_threshold(value: Any, classes: Any) -> bool:
    return value is None or (_is_number(value) and 0 < value < 1 and isinstance(classes, list) and len(classes) == 2)


def _are_cutpoints(values: Any, link: Any, classes: Any) -> bool:
    """Whether there are cutpoints where classes have an order, and nowhere else."""
    if link != ORDINAL.name:
        return values is None
    fine = len(classes or ()) > 2 and _are_numbers(values, len(classes) - 1)
    return fine and all(low < high for low, high in pairwise(values))


def _is_baseline(value: Any, count: int) -> bool:
    return value is None or _are_numbers(value, count)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST_NUMBER


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_WHOLE


def _are_numbers(values: Any, count: int) -> bool:
    return isinstance(values, list) and len(values) == count and all(map(_is_number, values))
