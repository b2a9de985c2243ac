"""Templates with their data filled in. Everything is escaped unless it is `Markup` already."""

import json
from functools import cache
from typing import Any

from riata.errors import MissingPackageError

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ImportError:
    raise MissingPackageError("a report needs Jinja2: pip install 'riata[report]'") from None


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("riata.reporting.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def rendered(template: str, **values: Any) -> Markup:
    """A template of the folder `templates` with these values."""
    return Markup(_environment().get_template(template).render(**values))


def source(name: str) -> Markup:
    """A style sheet or a script of the folder `templates`, unchanged."""
    environment = _environment()
    assert environment.loader is not None
    return Markup(environment.loader.get_source(environment, name)[0])


def embedded(plain: Any) -> Markup:
    """Plain values as JSON that can stand in an element or in an attribute within single quotes."""
    text = json.dumps(plain, separators=(",", ":"), allow_nan=False)
    for character in "<>&'":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
