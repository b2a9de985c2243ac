"""The profile of a stream that is kept nowhere: its first rows tell it, and later ones may have more labels."""

from dataclasses import replace

from riata.data.encoding import Encoding
from riata.data.formats.streams import UnstoredStream
from riata.data.opening.column_options import ColumnOptions
from riata.data.opening.profile import Profile
from riata.data.opening.profile_cache import profile_of
from riata.data.target import GrowingTarget, Target
from riata.errors import OptionError


def profile_of_stream(rows: UnstoredStream, options: ColumnOptions, batch_rows: int, n_features: int | None) -> Profile:
    """The profile of the first rows of a stream, which may not have all labels and features yet."""
    if options.positive is not None:
        raise OptionError(
            "the classes of a stream that is read once are in the order of their names: leave positive out, or keep "
            "the stream (without one_pass, follow and cache=False)"
        )
    profile = profile_of(rows.first, options, batch_rows)
    profile.encoding = replace(profile.encoding, target=_growing(profile.encoding.target, options.task))
    profile.notes += _width_note(profile.encoding, n_features)
    return profile


def _growing(target: Target | None, task: str) -> Target | None:
    """The target of a stream, which may have more labels than its first rows.

    Two different numbers in the first rows are a guess at classes, not a reason to let more of them become classes.
    """
    classes = None if target is None else target.classes
    if target is None or classes is None or not (task == "classification" or isinstance(classes[0], str)):
        return target
    return GrowingTarget(target.column, list(classes))


def _width_note(encoding: Encoding, n_features: int | None) -> list[str]:
    """A note for streams of sparse rows: later rows may have features beyond those of the first ones."""
    if n_features is not None or encoding.hashed or all(e.kind != "sparse" for e in encoding.encoders):
        return []
    return [
        f"the first rows of the stream have {encoding.n_features} features, and later ones beyond are left out: say "
        "how many there are (n_features)"
    ]
