"""What a command works on: the rows at DATA, and the spec that its options make."""

import logging
from collections.abc import Callable
from typing import Any

import click

from riata.cli.group import say_note
from riata.cli.options import shows_progress
from riata.data.target_names import joined_names
from riata.errors import OptionError, RiataWarning
from riata.training.parameters import OF_OPENING, OF_SPEC, Section

ANY_ROWS = [name for name, one in OF_OPENING.items() if one.section is Section.READING and len(one.commands) > 1]


def reading(options: dict[str, Any]) -> dict[str, Any]:
    """The options that say how any file is read, as `open_data` takes them."""
    from riata.data.budget import return_memory_early

    how = {name: options[name] for name in ANY_ROWS}
    return_memory_early(how["memory"])
    how["cache"] = how["cache"] and (options["cache_dir"] or True)
    if how.pop("engine") is not None or options["scheduler"] is not None:
        how["engine"] = cluster(options["scheduler"])
    return how


def cluster(scheduler: str | None) -> Any:
    """A client of the scheduler at an address, or of a cluster started here, for as long as the command runs."""
    from riata.engines.dask.cluster import close, connect, in_use

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters comes as an error of our own
    client, command = connect(scheduler or "dask"), click.get_current_context()
    command.call_on_close(lambda: close(client))
    command.with_resource(in_use(client))  # or it would be closed between one dataset and the next
    return client


def opening(options: dict[str, Any]) -> dict[str, Any]:
    """The options that say how DATA is read and what its columns are, as `open_data` takes them."""
    columns = {
        name: options[one.key] for name, one in OF_OPENING.items() if one.key in options and name not in ANY_ROWS
    }
    if str(columns.get("folds", "")).isdigit():
        raise OptionError(f"--folds names a column of fold numbers; --cv {columns['folds']} asks for so many folds")
    columns["features"] = columns["features"] or None
    if columns.get("task") == "auto" and is_of_classes(options.get("loss")):
        columns["task"] = "classification"
    return columns | {"hashed": options.get("solver") == "sketch"} | reading(options)


def is_of_classes(loss: str | None) -> bool:
    """Whether a loss is for several classes at once: numbers in the target are then their labels."""
    from riata.losses import known_loss

    known = None if loss is None else known_loss(loss)
    return known is not None and known.tasks == ("classification",) and (known.ordered or known.n_outputs > 1)


def offsets(options: dict[str, Any]) -> dict[str, Any]:
    """The offset or exposure that is given in place of the model's column, as `open_data` takes it."""
    return {name: options[name] for name in ("offset", "exposure") if options[name] is not None}


def open_rows(
    data: str, options: dict[str, Any], quiet: bool = False, encoding: Any = None
) -> tuple[Any, Callable[[str | None], Any]]:
    """The rows at DATA, and a function that opens more of their kind."""
    from riata.engines.open import open_data
    from riata.training.progress import row_progress

    how = opening(options)
    with row_progress(shows_progress(quiet)):
        rows = open_data(data, encoding=encoding, **how)
    target = options["target"] or target_of(rows)
    alike = {name: value for name, value in how.items() if name in ANY_ROWS}

    def open_more(source: str | None) -> Any:
        if source is None:
            return None
        return open_data(source, target, task=rows.task, n_features=rows.n_features, encoding=rows.encoding, **alike)

    return rows, open_more


def make_spec(rows: Any, options: dict[str, Any], **more: Any) -> Any:
    """What these options ask of a target of this kind."""
    from riata.losses import AUTO
    from riata.training.spec import Spec
    from riata.training.targets.usual_loss import with_usual_loss

    given = {name: options[name] for name in OF_SPEC if name in options} | more
    given["loss"] = given.get("loss") or AUTO
    if isinstance(given.get("class_weight"), dict):
        given["class_weight"] = _by_label(given["class_weight"], rows.classes)
    if "select" in given:
        given["select"] = given["select"] or ("cv-1se" if options["validation"] is None else "validation")
    spec = Spec(**{name: value for name, value in given.items() if value is not None})
    return with_usual_loss(spec, rows.task, rows)


def _by_label(weights: dict[str, float], classes: Any) -> dict[Any, float]:
    """Weights by the labels that are typed as these words."""
    labels = {} if classes is None else {str(label): label for label in classes.tolist()}
    unknown = [word for word in weights if word not in labels]
    if unknown:
        raise OptionError(f"--class-weight names {unknown[0]!r}, and the classes are {', '.join(labels) or 'none'}")
    return {labels[word]: weight for word, weight in weights.items()}


def target_of(rows: Any) -> str | None:
    """The column that is the target, or several with commas between them, where the rows know it themselves."""
    target = None if rows.encoding is None else rows.encoding.target
    return None if target is None else joined_names(target.numbers)


def say_notes(data: Any, quiet: bool = False) -> None:
    """What the first pass found that should not pass silently."""
    if data.profile is not None and not quiet:
        for note in data.profile.notes:
            say_note(note)


class Notes:
    """Takes warnings of fits and says each once, in a line of its own, or not at all."""

    def __init__(self, quiet: bool = False) -> None:
        self._said: set[str] = set()
        self._quiet = quiet

    def __call__(self, warning: RiataWarning) -> None:
        sentence = str(warning)
        if not self._quiet and sentence not in self._said:
            self._said.add(sentence)
            say_note(sentence)


def names_of(rows: Any) -> list[str]:
    """The names of the features, or x0, x1, ... where they have none."""
    return [f"x{j}" for j in range(rows.n_features)] if rows.feature_names is None else list(rows.feature_names)
