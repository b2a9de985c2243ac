"""Profiles of files, kept between runs: a pass over data that has not changed is not repeated."""

import hashlib
import json
import logging
from dataclasses import asdict
from pathlib import Path

from riata.data.formats.source import Source
from riata.data.opening.profile import Profile, Wishes, learn_profile
from riata.files import cache_folder, replacing

logger = logging.getLogger(__name__)
VERSION = 3  # of what a kept profile means


def profile_of(source: Source, wishes: Wishes, rows: int, learn=None) -> Profile:
    """The profile of a source: the kept one if the files are as they were, or one pass."""
    learn = learn or learn_profile
    mark = source.fingerprint()
    if mark is None:
        return learn(source, wishes, rows)
    key = json.dumps([VERSION, type(source).__name__, mark, source.width, asdict(wishes)], sort_keys=True, default=str)
    path = cache_folder() / "profiles" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
    try:
        profile = Profile.from_json(json.loads(path.read_text(encoding="utf-8")))
        logger.info("the profile is known from an earlier run (%s)", path)
    except (OSError, ValueError, KeyError, TypeError):
        profile = learn(source, wishes, rows)
        _keep(path, profile)
    return profile


def _keep(path: Path, profile: Profile) -> None:
    """Write the profile for later; a folder that cannot be written to is no reason to stop.

    It holds levels and words of the data: nobody else may read it.
    """
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.parent.chmod(0o700)  # it may have been made by an earlier version
        with replacing(path, private=True) as file:
            file.write(json.dumps(profile.to_json()).encode())
    except OSError as error:
        logger.info("the profile cannot be kept: %s", error)
