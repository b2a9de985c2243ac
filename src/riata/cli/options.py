"""The options of the commands, made from the declarations in `riata.training.parameters`."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import click

from riata.cli.command import option as command_option
from riata.cli.config import config_option
from riata.data.target_names import split_names
from riata.errors import OptionError
from riata.training.parameters import PARAMETERS, Heading, Kind, Parameter

Decorator = Callable[[Any], Any]


class NumberOr(click.ParamType):
    """A number, or a word."""

    def __init__(self, kind: type, word: str) -> None:
        self.kind, self.word, self.name = kind, word, f"number or {word}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return value if value == self.word else self.kind(value)
        except ValueError:
            self.fail(f"{value!r} is neither a {'whole ' * (self.kind is int)}number nor {self.word!r}", param, ctx)


class ShareOrAuto(NumberOr):
    """A number, auto, or nothing, which is all of it."""

    def __init__(self) -> None:
        super().__init__(float, "auto")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if isinstance(value, bool) else super().convert(value, param, ctx)


class NameAndNumber(click.ParamType):
    """NAME=NUMBER, or a word that stands alone; the name may hold an = of its own."""

    def __init__(self, alone: str | None = None) -> None:
        self.alone, self.name = alone, "name=number" if alone is None else f"{alone} or name=number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        name, _, number = value.rpartition("=")
        if value == self.alone:
            return value
        try:
            if name:
                return name, float(number)
        except ValueError:
            pass
        alone = "" if self.alone is None else f"{self.alone}, or "
        self.fail(f"{value!r} is not NAME=NUMBER: write {alone}what it is for, an = and a number", param, ctx)


class NameAndBounds(click.ParamType):
    """NAME=LEAST..MOST, of which either may be left out."""

    name = "name=least..most"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        name, _, bounds = value.rpartition("=")
        least, dots, most = bounds.partition("..")
        try:
            if name and dots:
                return name, (float(least) if least else None, float(most) if most else None)
        except ValueError:
            pass
        if name and ("<" in bounds or bounds in ("increasing", "decreasing")):
            return name, bounds
        self.fail(
            f"{value!r} is not NAME=LEAST..MOST, such as price=..0 or share=0..1, nor an order of levels", param, ctx
        )


def parameter_options(command: str) -> Decorator:
    """Give a command the options of all parameters that it takes."""
    taken = [click_option(one) for one in PARAMETERS if command in one.commands and one.flag is not None]
    return all_of([*taken, *WHERE_ROWS_LIE, config_option])


def all_of(options: Iterable[Decorator]) -> Decorator:
    """One decorator of many, in their order on the page."""

    def decorate(command: Any) -> Any:
        for option in reversed(list(options)):
            command = option(command)
        return command

    return decorate


def click_option(one: Parameter) -> Decorator:
    """A parameter as an option of a command."""
    assert one.flag is not None
    default: Any = one.on_command_line
    show = default not in (None, False, ())
    given: dict[str, Any] = {"help": one.help, "show_default": show, "heading": one.heading}
    kind: Any = None
    if one.choices:
        kind = click.Choice(one.choices)
    elif one.kind in TYPES:
        kind = TYPES[one.kind]
    elif one.kind is Kind.FLAG:
        given["is_flag"] = True
    if one.kind in SEVERAL:
        given |= {"multiple": True, "callback": SEVERAL[one.kind], "show_default": False}
        default = ()
    if one.kind is Kind.GAP:
        given |= {"is_flag": False, "flag_value": 0.0}
    if one.kind is Kind.SHARE:
        given |= {"is_flag": False, "flag_value": True}
    if kind is not None:
        given["type"] = kind
    if one.kind is Kind.NAMES or one.metavar:
        given["metavar"] = one.metavar or "COLUMN,..."
    flag = f"{one.flag}/--no-{one.flag[2:]}" if one.kind is Kind.SWITCH and "/" not in one.flag else one.flag
    return command_option(flag, one.key, default=default, **given)


def _names(_context: click.Context, _parameter: click.Parameter, values: Iterable[str]) -> tuple[str, ...]:
    """Names from an option given several times, or once with commas."""
    return tuple(name for value in values for name in split_names(value))


def _crosses(
    _context: click.Context, _parameter: click.Parameter, values: Iterable[str]
) -> tuple[tuple[str, ...], ...]:
    """Groups of names, one for each time the option was given."""
    return tuple(tuple(split_names(value)) for value in values)


def _groups(
    _context: click.Context, _parameter: click.Parameter, values: Iterable[str]
) -> list[tuple[str, ...]] | str | None:
    """columns, or groups of names, one for each time the option was given."""
    given = [tuple(split_names(value)) for value in values]
    return "columns" if given == [("columns",)] else given or None


def _by_name(_context: click.Context, parameter: click.Parameter, pairs: Any) -> dict[str, Any] | None:
    names = [name for name, _ in pairs]
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise OptionError(f"{parameter.opts[0]} is given twice for {twice[0]!r}: say once what it is to be")
    return dict(pairs) or None


def _weights(context: click.Context, parameter: click.Parameter, pairs: Any) -> dict[str, float] | str | None:
    if "balanced" not in pairs:
        return _by_name(context, parameter, pairs)
    if len(pairs) > 1:
        raise OptionError("--class-weight is balanced, or a weight for each class, not both")
    return "balanced"


def _settings(
    _context: click.Context, _parameter: click.Parameter, values: Iterable[str]
) -> dict[str, str | list[str]] | None:
    """KEY=VALUE, as a dictionary; a key that is given more than once has a list of values."""
    found: dict[str, list[str]] = {}
    for value in values:
        key, equals, word = value.partition("=")
        if not equals:
            raise OptionError(f"--csv is KEY=VALUE, such as decimal=, and not {value!r}")
        found.setdefault(key, []).append(word)
    return {key: words if len(words) > 1 else words[0] for key, words in found.items()} or None


TYPES: dict[Kind, Any] = {
    Kind.WHOLE: int,
    Kind.NUMBER: float,
    Kind.WHOLE_OR_AUTO: NumberOr(int, "auto"),
    Kind.NUMBER_OR_AUTO: NumberOr(float, "auto"),
    Kind.WHOLE_OR_FULL: NumberOr(int, "full"),
    Kind.FACTORS: NameAndNumber(),
    Kind.BOUNDS: NameAndBounds(),
    Kind.WEIGHTS: NameAndNumber(alone="balanced"),
    Kind.FOLDER: click.Path(file_okay=False),
    Kind.GAP: float,
    Kind.SHARE: ShareOrAuto(),
}
SEVERAL = {
    Kind.NAMES: _names,
    Kind.CROSSES: _crosses,
    Kind.GROUPS: _groups,
    Kind.FACTORS: _by_name,
    Kind.BOUNDS: _by_name,
    Kind.WEIGHTS: _weights,
    Kind.SETTINGS: _settings,
}
WHERE_ROWS_LIE = [  # the folder of --cache and the address of --engine, which in Python are values of these two
    command_option("--cache-dir", heading=Heading.SPEED, metavar="FOLDER", help="Folder of that temporary file."),
    command_option(
        "--scheduler",
        heading=Heading.SPEED,
        metavar="ADDRESS",
        help="Address of the scheduler of --engine dask [default: a cluster on this machine].",
    ),
]

validation_option = command_option(
    "--validation",
    heading=Heading.SELECTION,
    metavar="DATA",
    help="Rows that choose the model [implies --select validation].",
)
json_option = command_option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def check_one_of(options: dict[str, Any]) -> None:
    """Refuse more than one way to say how sparse the model should be."""
    given = [f"--{name.replace('_', '-')}" for name in ("k", "alpha", "alpha_ratio") if options[name] is not None]
    if len(given) > 1 and "auto" not in (options["k"], options["alpha"]):
        raise OptionError(f"give one of --k, --alpha and --alpha-ratio, not {' and '.join(given)}")


def shows_progress(quiet: bool = False) -> bool:
    """Whether a progress bar can be seen: not with --quiet, nor where standard error is no terminal."""
    return not quiet and sys.stderr.isatty()
