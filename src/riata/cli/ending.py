"""How a command ends when something else wants it to end: a signal, a closed pipe, a full disk.

Whatever happens, temporary files are removed, what was written before stays whole, and one sentence says why. The exit
code is 2 for an error, and 128 + the number of the signal, as shells have it, for a signal: 130 for Ctrl-C, 143 for
SIGTERM, 129 for SIGHUP. Ctrl-C in the middle of a fit is a wish for the model so far, and no end. A reader of standard
output that has seen enough, as `head` has, ends a command without a word, as it ends any other: with 141, for SIGPIPE.
"""

import _thread
import os
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import click

from riata.errors import OutputError, RiataError
from riata.files import reason
from riata.reporting.terminal.wording import as_typed
from riata.visible_text import on_one_line

ERROR = 2  # the exit code
OF_SIGNAL = 128  # plus the signal's number: the exit code
SIGPIPE = 13  # which Python ignores, and Windows does not have
AGAIN_SECONDS = 0.05  # until a signal that was lost, or came in the wrong moment, comes once more
ENDING = ("SIGTERM", "SIGHUP")  # those that the system has
# What takes and releases locks in steps: an exception between two of them leaves a lock taken for ever, or is lost in
# an error about one that is not taken.
CONDITION = threading.Condition
OF_LOCKS = {
    one.__code__
    for one in (CONDITION.__enter__, CONDITION.__exit__, CONDITION._release_save, CONDITION._acquire_restore)  # type: ignore[attr-defined]
}
IMPORTING = "<frozen importlib._bootstrap>"  # which has locks of its own, and drops exceptions where it forgets them


class Ended(BaseException):
    """A signal asked this process to end: no error, so that nothing on the way takes it for one."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def ending_well(ctx: click.Context, say: Callable[[str], None]) -> Iterator[None]:
    """Everything that ends a command before its time becomes a sentence and an exit code."""
    with _spoken_warnings(say):
        try:
            with _heard_signals():  # within: one may come as soon as it is heard
                yield
                sys.stdout.flush()
        except RiataError as error:
            _say(ctx, as_typed(str(error)), ERROR)
        except MemoryError:
            _say(ctx, "there is not enough memory for this; give --memory, or a machine with more", ERROR)
        except OSError as error:
            unread = isinstance(error, BrokenPipeError) and _nobody_reads_output()
            _give_up_output()
            if unread:
                ctx.exit(OF_SIGNAL + SIGPIPE)
            _say(ctx, _what_failed(error), ERROR)
        except KeyboardInterrupt:
            _say(ctx, "interrupted: nothing was saved but what was said to be", OF_SIGNAL + signal.SIGINT)
        except Ended as end:
            name = signal.Signals(end.number).name
            _say(ctx, f"ended by {name}: nothing was saved but what was said to be", OF_SIGNAL + end.number)


def _say(ctx: click.Context, sentence: str, code: int) -> None:
    with suppress(OSError):  # nobody listens
        click.echo(f"riata: {on_one_line(sentence)}", err=True)
    ctx.exit(code)


def _what_failed(error: OSError) -> str:
    if isinstance(error, OutputError):
        return str(error)
    if error.filename is None:  # files of ours name themselves
        return f"cannot write to standard output: {reason(error)}"
    return f"cannot use {os.fsdecode(error.filename)}: {reason(error)}"


def _nobody_reads_output() -> bool:
    """Whether standard output is a pipe whose other end is closed; other pipes may break, too."""
    if not hasattr(select, "poll"):
        return True
    with suppress(OSError, ValueError):
        output = select.poll()
        output.register(sys.stdout.fileno(), 0)
        return any(events & select.POLLERR for _, events in output.poll(0))
    return False


def _give_up_output() -> None:
    """Let what is left in Python's buffer go nowhere, or it would fail once more when Python ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def _heard_signals() -> Iterator[None]:
    """Signals that would end this process at once are raised in it instead; only a main thread can hear them."""
    interrupting: tuple[Any, Any, Any] = (signal.SIGINT, signal.default_int_handler, _interrupt)
    known = [interrupting, *((getattr(signal, name), signal.SIG_DFL, _end) for name in ENDING if hasattr(signal, name))]
    if threading.current_thread() is not threading.main_thread():
        known = []
    # one that is ignored, as by nohup, stays so
    before = {one: signal.signal(one, handler) for one, usual, handler in known if signal.getsignal(one) is usual}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _end(number: int, frame: FrameType | None) -> None:
    if _is_wrong_moment(frame):
        _send_again(number)
        return
    signal.signal(number, signal.SIG_IGN)  # it is on its way out
    raise Ended(number)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Ctrl-C, as Python has it but for wrong moments."""
    if _is_wrong_moment(frame):
        _send_again(number)
        return
    raise KeyboardInterrupt


def _is_wrong_moment(frame: FrameType | None) -> bool:
    return frame is not None and (frame.f_code in OF_LOCKS or frame.f_code.co_filename == IMPORTING)


def _send_again(number: int) -> None:
    """Let a signal come once more, a little later; nothing here takes a lock."""

    def send() -> None:
        time.sleep(AGAIN_SECONDS)
        os.kill(os.getpid(), number)

    _thread.start_new_thread(send, ())


def _heard_again(lost: BaseException | None) -> bool:
    """Whether an exception that Python drops, as in a function that C calls, was a signal: it then comes once more."""
    if isinstance(lost, Ended):
        signal.signal(lost.number, _end)
    elif not isinstance(lost, KeyboardInterrupt):
        return False
    _send_again(lost.number if isinstance(lost, Ended) else signal.SIGINT)
    return True


@contextmanager
def _spoken_warnings(say: Callable[[str], None]) -> Iterator[None]:
    """Warnings of Python are notes of the command, without lines of code."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        say(str(message))

    def pass_over(unraisable: Any) -> None:
        """Arrow, which cannot show us a bad row that is no text, refuses it: that is said, and this would be noise."""
        if not (_heard_again(unraisable.exc_value) or isinstance(unraisable.exc_value, UnicodeError)):
            sys.__unraisablehook__(unraisable)

    before, sys.unraisablehook = sys.unraisablehook, pass_over
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)  # each once
            warnings.showwarning = show
            yield
    finally:
        sys.unraisablehook = before
