"""Waiting that somebody else ends."""

import time

STEP = 0.1  # seconds between looks whether the end was asked for


class Closing:
    """An end that one thread asks for, and others wait for.

    As `threading.Event`, but without its lock: Ctrl-C in the moment in which Python takes that one leaves it taken, and
    whoever then asks for the end waits for ever.
    """

    def __init__(self) -> None:
        self.asked = False

    def ask(self) -> None:
        """Ask for the end."""
        self.asked = True

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until the end is asked for; whether it was."""
        until = time.monotonic() + seconds
        while not self.asked and (left := until - time.monotonic()) > 0.0:
            time.sleep(min(left, STEP))
        return self.asked
