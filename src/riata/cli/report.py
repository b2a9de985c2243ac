"""`--report`: a page about what a command did, and what it needs to know of the command."""

import shlex
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from riata.cli.options import writable
from riata.errors import OptionError

OPENING = ("target", "weight", "features", "drop", "categorical", "text", "word_pairs", "task", "memory", "on_error")

report_option = click.option(
    "--report", type=click.Path(path_type=Path), help="Write a page about it, for people: an .html file."
)


def check_report(report: Path | None) -> None:
    """Refuse a page that cannot be made or written, before any work is done."""
    if report is None:
        return
    if report.suffix not in (".html", ".htm"):
        raise OptionError(f"a report is an .html file, not {report.suffix or 'a file without ending'}")
    writable(report)
    import riata.report.rendering  # noqa: F401  says so where its packages are missing


class Stopwatch:
    """Seconds by what was done, in the order it was done."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, what: str):
        started = time.perf_counter()
        yield
        self.seconds[what] = time.perf_counter() - started


def given() -> dict[str, Any]:
    """The options and arguments of this command that somebody gave."""
    context = click.get_current_context()
    return {
        name: value
        for name, value in context.params.items()
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }


def command_line() -> str:
    """This command, as it can be typed again."""
    context, asked = click.get_current_context(), given()
    first, rest = ["riata", str(context.info_name)], []
    for parameter in context.command.params:
        if parameter.name not in asked:
            continue
        value = asked[parameter.name]
        if isinstance(parameter, click.Argument):
            first.append(str(value))
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            rest.append((parameter.opts if value else parameter.secondary_opts)[0])
        else:
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            rest.append(shlex.join([parameter.opts[0], text]))
    return " \\\n  ".join([shlex.join(first), *rest])


def write_fit_report(report: Path, estimator, data: str, *, quality=None, test=None, stability=None, clock: Stopwatch):
    """The page of a fit that this command made."""
    from riata.report.code import python_code

    opened = {name: list(v) if isinstance(v, tuple) else v for name, v in given().items() if name in OPENING}
    code = python_code(estimator, str(report), data=data, opened=opened, test=None if test is None else repr(test))
    _write(report, estimator, quality, stability, data=data, opened=opened, test=test, code=code, seconds=clock.seconds)


def write_model_report(report: Path, model, model_file: str, test: str, quality, clock: Stopwatch):
    """The page of a model that this command tested."""
    from riata.report.code import python_code

    code = python_code(model, str(report), model_file=model_file, test=repr(test))
    _write(report, model, quality, None, test=test, code=code, seconds=clock.seconds)


def _write(report, fitted, quality, stability, **origin):
    from riata.report.facts import Origin, gather
    from riata.report.fit_report import fit_page
    from riata.report.page import write_page

    facts = gather(fitted, Origin(command=command_line(), **origin), quality, stability)
    write_page(report, fit_page(facts))
