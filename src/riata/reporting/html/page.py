"""The shell of a page: one file, with its style and its script inside, that asks nothing of any network."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from markupsafe import Markup

from riata import __version__
from riata.files import replacing
from riata.reporting.html.rendering import rendered, source


@dataclass(frozen=True)
class Section:
    """A part of a page under a heading, with a place in the contents."""

    name: str  # its anchor
    title: str
    body: Markup


@dataclass(frozen=True)
class Tile:
    """One number that everybody should see first."""

    label: str
    value: str
    note: str = ""


def page(title: str, lead: str, sections: Sequence[Section], *, tiles: Sequence[Tile] = ()) -> str:
    """A complete page."""
    script = source("page.js")
    return rendered(
        "page.html",
        title=title,
        lead=lead,
        sections=sections,
        tiles=tiles,
        style=source("page.css"),
        script=script,
        script_hash=b64encode(sha256(script.encode()).digest()).decode("ascii"),  # no other script may run
        version=__version__,
        made=datetime.now(UTC),
    )


def write_page(path: str | Path, html: str) -> None:
    """Write a page; the file appears complete or not at all."""
    with replacing(path) as file:
        file.write(html.encode())
