"""Words that say little by themselves: those of English, or those that a user lists.

The list is of articles, pronouns, prepositions, conjunctions and forms of be, have and do. Words that turn a sentence
round, such as not, no, never, few and very, are not in it.
"""

import re
from collections.abc import Sequence

ENGLISH = tuple(
    """
    a about after again all also am among an and any are as at be because been before being between both but by can
    could did do does doing during each either for from further had has have having he her here hers herself him himself
    his how however i if in into is it its itself just let me might mine must my myself of off on once one only onto or
    other our ours ourselves out over own per shall she should since so some such than that the their theirs them
    themselves then there these they this those through thus to toward towards under until up upon us was we were what
    when where whether which while who whom whose why will with within would yet you your yours yourself yourselves s t
    ll re ve d m
    """.split()  # noqa: SIM905 (a list of them would be a page long)
)
LISTS = {"english": ENGLISH}


def stop_words_of(given: str | Sequence[str]) -> tuple[str, ...]:
    """The words themselves, where lists may be named; in lower case and sorted, each once."""
    named = (given,) if isinstance(given, str) else given
    words = {word for one in named for text in LISTS.get(one, (one,)) for word in re.findall(r"[^\W_]+", text.lower())}
    return tuple(sorted(words))
