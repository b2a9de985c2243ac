"""Text of unknown origin, such as a column's name, as it may be printed: commands to a terminal are shown instead."""

import re

# C0 and C1 control characters but tab and newline, other ends of lines, and those that change the direction of the text
# around them
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text with every character that a terminal would obey written out: \\x1b for an escape."""
    return COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def on_one_line(text: str) -> str:
    """A sentence as it may be printed, whose names must not begin a line of their own."""
    return visible(text).replace("\n", "\\n")
