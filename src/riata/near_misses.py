"""What somebody may have meant who typed a name that there is not."""

from collections.abc import Iterable

MOST_COMPARED = 10_000  # names: comparing takes time


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like this one, upper and lower case being alike; None where none is."""
    from difflib import get_close_matches  # only for those who mistype

    names = [known_name for _, known_name in zip(range(MOST_COMPARED), known, strict=False)]
    by_small_letters = {one.casefold(): one for one in reversed(names)}
    close = get_close_matches(name.casefold(), by_small_letters, n=1, cutoff=0.6)
    return by_small_letters[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence that says that there is no such name: a question, or nothing."""
    close = nearest(str(name), map(str, known))
    return "" if close is None else f"; did you mean {close!r}?"
