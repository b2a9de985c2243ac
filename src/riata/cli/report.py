"""`--report`: a page about what a command did, and what it needs to know of the command."""

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from riata.cli.command import option
from riata.cli.rows import is_of_classes
from riata.errors import OptionError
from riata.files import writable
from riata.training.parameters import OF_OPENING, Heading

report_option = option(
    "--report",
    heading=Heading.FIRST,
    type=click.Path(path_type=Path),
    help="Write an .html page that explains the result to people.",
)


def check_report(report: Path | None) -> None:
    """Refuse a page that cannot be made or written, before any work is done."""
    if report is None:
        return
    if report.suffix not in (".html", ".htm"):
        raise OptionError(f"a report is an .html file, not {report.suffix or 'a file without ending'}")
    writable(report)
    import riata.reporting.html.rendering  # noqa: F401  says so where its packages are missing


class Stopwatch:
    """Seconds by what was done, in the order it was done."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, what: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[what] = time.perf_counter() - started


def command_line() -> str:
    """This command, as it was typed, an option to a line."""
    words = [shlex.quote(word) for word in click.get_current_context().meta["riata.words"]]
    return "riata " + " ".join(f"\\\n  {word}" if word.startswith("--") else word for word in words)


def opened_with() -> dict[str, Any]:
    """The options of this command that `riata.open` takes, where they are not the defaults."""
    context = click.get_current_context()
    given = {
        name: value
        for name, value in context.params.items()
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    found = {name: given[one.key] for name, one in OF_OPENING.items() if one.key in given}
    opened = {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}
    if opened.get("cache", True) and "cache_dir" in given:
        opened["cache"] = given["cache_dir"]
    if "scheduler" in given:
        opened["engine"] = given["scheduler"]
    if given.get("solver") == "sketch":
        opened["hashed"] = True
    if "task" not in given and is_of_classes(given.get("loss")):
        opened["task"] = "classification"
    return opened


def write_fit_report(
    report: Path,
    trained: Any,
    data: str,
    *,
    quality: Any = None,
    test: str | None = None,
    stability: Any = None,
    on_training: Any = None,
    clock: Stopwatch,
) -> None:
    """The page of a fit that this command made."""
    from riata.reporting.html.code import python_code

    opened, validation = opened_with(), click.get_current_context().params.get("validation")
    test_code = None if test is None else repr(test)
    code = python_code(trained, str(report), data=data, opened=opened, validation=validation, test=test_code)
    found = {"quality": quality, "stability": stability, "on_training": on_training}
    _write(report, trained, found, data=data, opened=opened, test=test, code=code, seconds=clock.seconds)


def write_model_report(report: Path, model: Any, model_file: str, test: str, quality: Any, clock: Stopwatch) -> None:
    """The page of a model that this command tested."""
    from riata.reporting.html.code import python_code

    code = python_code(model, str(report), model_file=model_file, test=repr(test))
    _write(report, model, {"quality": quality}, test=test, code=code, seconds=clock.seconds)


def _write(report: Path, fitted: Any, found: dict[str, Any], **origin: Any) -> None:
    from riata.reporting.html.facts import Origin, gather
    from riata.reporting.html.fit_report import fit_page
    from riata.reporting.html.page import write_page

    write_page(report, fit_page(gather(fitted, Origin(command=command_line(), **origin), **found)))
