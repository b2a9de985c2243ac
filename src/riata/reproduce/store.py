"""Finished cells in a folder, one JSON file each, written in full or not at all: a killed run goes on where it was."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from riata import __version__
from riata.errors import DataError, OptionError
from riata.files import replacing
from riata.reproduce.plan import Cell, Settings

VERSION = 1  # of the plan and of what a cell says: raise it with any change of either


@dataclass(frozen=True)
class Store:
    """The cells of one run."""

    folder: Path

    def open(self, settings: Settings) -> None:
        """Make the folder, or see that what it holds is of these settings."""
        mine = {"format": VERSION, "riata": __version__} | asdict(settings)
        there = self._read(self._settings_file)
        if there is None:
            try:
                self._cells.mkdir(parents=True, exist_ok=True)
                self._write(self._settings_file, mine)
            except OSError as error:
                raise OptionError(f"cannot write to the folder {self.folder}: {error.strerror}") from None
            return
        flat, other = _flat(mine), _flat(there)
        for name in flat.keys() | other.keys():
            if flat.get(name) != other.get(name):
                raise OptionError(
                    f"{self.folder} holds a run with {name} {other.get(name)!r}, not {flat.get(name)!r}: "
                    "go on with the same options, or take another --out"
                )

    def get(self, cell: Cell) -> dict[str, Any] | None:
        """What a cell said, None where it is still to be run."""
        return self._read(self._cells / f"{cell.key}.json")

    def put(self, cell: Cell, result: dict[str, Any]) -> None:
        self._write(self._cells / f"{cell.key}.json", result)

    @property
    def _cells(self) -> Path:
        return self.folder / "cells"

    @property
    def _settings_file(self) -> Path:
        return self._cells / "settings.json"

    def _read(self, path: Path) -> dict[str, Any] | None:
        try:
            value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, RecursionError):  # of no text, or of no JSON
            value = {}
        if not isinstance(value, dict) or not value:
            raise DataError(f"{path} is damaged: remove it, and the same command goes on without it")
        return value

    def _write(self, path: Path, value: dict[str, Any]) -> None:
        with replacing(path) as file:
            file.write(json.dumps(value).encode())


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings and facts of the data by one name each, as JSON keeps them."""
    plain: dict[str, Any] = json.loads(json.dumps(settings))
    facts: dict[str, Any] = plain.pop("facts")
    return facts | plain
