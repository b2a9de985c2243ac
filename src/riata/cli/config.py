"""`--config FILE`: options of a command from a TOML or YAML file. What is typed takes precedence."""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from riata.errors import DataError, MissingFileError, MissingPackageError, OptionError
from riata.near_misses import did_you_mean

LONGEST = 300  # characters of what a reader says
OTHERS = ("config", "help")  # options that a file cannot hold


def read_config(path: str) -> dict[str, Any]:
    """The options in a file, by the names that are typed, without the dashes before them."""
    import tomllib

    readers: dict[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".yaml": _yaml, ".yml": _yaml}
    file = Path(path)
    if file.suffix not in readers:
        raise OptionError(f"--config takes a .toml or .yaml file, not {file.name!r}")
    try:
        found = readers[file.suffix](file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingFileError(f"there is no file {path} for --config") from None
    except (OSError, ValueError) as error:  # a TOMLDecodeError is a ValueError
        reason = textwrap.shorten(str(error), LONGEST)
        raise DataError(f"{path} cannot be read as {file.suffix[1:].upper()}: {reason}") from None
    if not isinstance(found, dict):
        raise DataError(f"{path} must hold names and values, such as alpha-ratio = 0.1")
    return {str(name).replace("_", "-"): value for name, value in found.items()}


def _yaml(text: str) -> Any:
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise MissingPackageError("YAML files need PyYAML: pip install pyyaml, or write the options as TOML") from None
    try:
        return yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def take_config(ctx: click.Context, _parameter: click.Parameter, path: str | None) -> None:
    """Make what a file says the defaults of this command."""
    if path is None:
        return
    known = {_typed(one): one for one in ctx.command.params if isinstance(one, click.Option)}
    known = {name: one for name, one in known.items() if name not in OTHERS}
    defaults: dict[str, Any] = {}
    for name, value in read_config(path).items():
        if name not in known:
            hint = did_you_mean(name, known) or f"; see {ctx.command_path} --help"
            raise OptionError(f"{path} sets {name!r}, and {ctx.command_path} has no such option{hint}")
        one = known[name]
        assert one.name is not None
        defaults[one.name] = _value(value, one, name, path)
    ctx.default_map = defaults | dict(ctx.default_map or {})


def _typed(one: click.Option) -> str:
    """An option as it is typed, without dashes."""
    return max(one.opts, key=len).lstrip("-")


def _value(value: Any, one: click.Option, name: str, path: str) -> Any:
    """A value as click takes it: several as a tuple, NAME=NUMBER also from a table."""
    if one.is_flag:
        if not isinstance(value, bool):
            raise OptionError(f"{path} sets {name!r} to {value!r}; it is true or false")
        return value
    if one.multiple:
        if isinstance(value, dict):
            return tuple(f"{key}={number}" for key, number in value.items())
        many = value if isinstance(value, list) else [value]
        return tuple(",".join(map(str, each)) if isinstance(each, list) else str(each) for each in many)
    if isinstance(value, dict | list | bool):
        raise OptionError(f"{path} sets {name!r} to {value!r}; it takes one value")
    return str(value)


config_option = click.option(
    "--config",
    is_eager=True,
    expose_value=False,
    callback=take_config,
    metavar="FILE",
    help="Take options from a .toml or .yaml file; what is typed takes precedence.",
)
