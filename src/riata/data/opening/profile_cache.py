"""Profiles of files, saved between runs, so that the first pass over unchanged data is not repeated."""

import hashlib
import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from riata.data.columns.packed_names import for_json
from riata.data.formats.source import Source
from riata.data.opening.column_options import ColumnOptions
from riata.data.opening.decoded_batches import DecodedBatches
from riata.data.opening.first_pass import learn_profile
from riata.data.opening.profile import Profile
from riata.files import cache_folder, replacing, write_text

logger = logging.getLogger(__name__)
VERSION = 13  # of the format and the meaning of a saved profile
Learn = Callable[[Source, ColumnOptions, int], Profile]


def profile_of(
    source: Source,
    options: ColumnOptions,
    rows: int,
    learn: Learn | None = None,
    decoded: DecodedBatches | None = None,
) -> Profile:
    """The profile of a source: a saved one if the files have not changed; otherwise one pass makes it.

    What is decoded in that pass is remembered in `decoded`, unless it is left to `learn`.
    """
    if learn is None:

        def learn(source: Source, options: ColumnOptions, rows: int) -> Profile:
            return learn_profile(source, options, rows, decoded)

    mark = source.fingerprint()
    if mark is None:
        return learn(source, options, rows)
    key = json.dumps([VERSION, type(source).__name__, mark, source.width, asdict(options)], sort_keys=True, default=str)
    path = cache_folder() / "profiles" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
    try:
        profile = Profile.from_json(json.loads(path.read_text(encoding="utf-8")))
        logger.info("the profile is known from an earlier run (%s)", path)
    except (OSError, ValueError, KeyError, TypeError):
        profile = learn(source, options, rows)
        _keep(path, profile)
    return profile


def _keep(path: Path, profile: Profile) -> None:
    """Save the profile; that the folder cannot be written is no error.

    A profile contains levels and words of the data, so that other users must not be able to read it.
    """
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.parent.chmod(0o700)  # it may have been made by an earlier version
        with replacing(path, private=True) as file:
            write_text(file, _text_of(profile.to_json()))
    except OSError as error:
        logger.info("the profile cannot be kept: %s", error)


def _text_of(plain: dict[str, Any]) -> Iterator[str]:
    """JSON, column by column: in one piece it would take memory, and value by value Python takes long to write it."""
    encode = json.JSONEncoder(default=for_json).encode
    whole, encoding = dict(plain), dict(plain["encoding"])
    del whole["encoding"]
    encoders = encoding.pop("encoders")
    yield f'{encode(whole)[:-1]}, "encoding": {encode(encoding)[:-1]}, "encoders": ['
    for number, encoder in enumerate(encoders):
        yield f"{',' if number else ''}{encode(encoder)}"
    yield "]}}"
