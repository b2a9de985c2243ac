"""What comes from the user, such as a name, on a terminal: text, and neither markup nor a command."""

from rich import markup

from riata.visible_text import visible


def escape(text: str) -> str:
    """The text as Rich prints it unchanged: `speed[km/h]` is no markup, and an escape sequence is shown."""
    return markup.escape(visible(text))
