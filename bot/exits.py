"""Running a command, and turning how it ended into an exit code and one line."""

from __future__ import annotations

import asyncio
import errno
import gc
import io
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

import typer

from engine.errors import RostrumError, UsageError
from engine.text import clean, headline

FAILED, WRONG_USAGE = 1, 2
READER_GONE = 141  # as a shell reports the end of any tool by SIGPIPE: 128 + 13
# The writer's thread gives the interpreter up at every statement, and while the loop is busy gets
# it back only after so long; Python's 5 ms would make a commit of ten take 50.
SWITCH_SECONDS = 0.0005
# A thousand debates are many objects, and few of them in cycles: with Python's own thresholds
# (700, 10, 10) looking for those stops the loop for most of a second.
COLLECT_AFTER = (10_000, 20, 50)
NO_OUTPUT = (errno.ENOSPC, errno.EIO)
UNWRITTEN = "The output could not be written: {why}."


def run(command: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a command on an event loop; exits 1 or 2 with one line on stderr when it fails."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*COLLECT_AFTER)
    gc.freeze()  # what is there now stays until the end
    gc.enable()
    _hold_streams()
    try:
        _check_words(sys.argv[1:])
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_until_terminated(command))
        sys.stdout.flush()
    except UsageError as error:
        fail(error, WRONG_USAGE)
    except RostrumError as error:
        fail(error, FAILED)
    except BrokenPipeError:  # the reader has enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(READER_GONE) from None
    except OSError as error:
        if error.errno not in NO_OUTPUT:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still kept
        fail(RostrumError(UNWRITTEN.format(why=error.strerror)), FAILED)
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise typer.Exit(FAILED) from None


def fail(error: RostrumError, code: int) -> None:
    """Print an error's sentence and exit."""
    print(clean(f"rostrum: {error} {error.hint}".rstrip()), file=sys.stderr)
    raise typer.Exit(code) from None


def _hold_streams() -> None:
    """Put the null device where a standard stream is closed, and escape what an encoding lacks.

    The loop or the database would get the number of a closed one, and be written to by whoever
    prints.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            stream = os.fdopen(os.open(os.devnull, os.O_RDWR), "w" if number else "r")
            setattr(sys, name, stream)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _check_words(words: Iterable[str]) -> None:
    for word in words:
        shown = os.fsencode(word).decode(errors="backslashreplace")
        if shown != word:
            raise UsageError(f"“{headline(shown, 60)}” is not UTF-8 text; write it as UTF-8.")


async def _until_terminated(command: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Treat SIGTERM as Ctrl-C is treated: the command is cancelled and ends in order."""
    task = asyncio.current_task()
    if task is not None and sys.platform != "win32":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await command()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop
