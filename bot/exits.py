"""Runs a command, and turns its end into an exit code and one line."""

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

from engine.values.errors import RostrumError, SettingsError, StoreError, UsageError
from engine.values.text import clean, headline

FAILED, WRONG_USAGE = 1, 2
# sysexits.h: EX_CONFIG. A service manager need not start it again before someone changes a setting.
WRONG_SETTINGS = 78
READER_GONE = 141  # as a shell reports the end of any tool by SIGPIPE: 128 + 13
# The writer's thread releases the interpreter at every statement, and gets it back from a busy loop
# only after this time; with Python's 5 ms, a commit of ten statements would take 50 ms.
SWITCH_SECONDS = 0.0005
# A thousand debates are many objects, with few cycles: with Python's own thresholds (700, 10, 10)
# garbage collection would block the loop for most of a second.
COLLECT_AFTER = (10_000, 20, 50)
NO_OUTPUT = (errno.ENOSPC, errno.EIO)
UNWRITTEN = "The output could not be written: {why}."


def serve(command: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a command that a service manager starts; exits 78 for settings that no retry can mend."""
    run(command, wrong_settings=WRONG_SETTINGS)


def run(command: Callable[[], Coroutine[Any, Any, None]], wrong_settings: int = FAILED) -> None:
    """Run a command on an event loop; exits 1 or 2 with one line on stderr if it fails."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*COLLECT_AFTER)
    gc.freeze()  # existing objects live until the exit
    gc.enable()
    hold_streams()
    try:
        _check_words(sys.argv[1:])
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_until_terminated(command))
        sys.stdout.flush()
    except UsageError as error:
        fail(error, WRONG_USAGE)
    except SettingsError as error:
        fail(error, FAILED if error.passing else wrong_settings)
    except RostrumError as error:
        wrong = isinstance(error, StoreError) and error.misconfigured
        fail(error, wrong_settings if wrong else FAILED)
    except OSError as error:
        raise typer.Exit(unwritten(error)) from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise typer.Exit(FAILED) from None


def fail(error: RostrumError, code: int) -> None:
    """Print an error's message and exit."""
    print(clean(f"rostrum: {error} {error.hint}".rstrip()), file=sys.stderr)
    raise typer.Exit(code) from None


def unwritten(error: OSError) -> int:
    """Say that the output could not be written, unless its reader has gone; return the exit code.

    Raises the error if it is another one.
    """
    gone = isinstance(error, BrokenPipeError)  # a closed pipe, as after `head`
    if not gone and error.errno not in NO_OUTPUT:
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for buffered output
    if gone:
        return READER_GONE
    print(f"rostrum: {UNWRITTEN.format(why=error.strerror)}", file=sys.stderr)
    return FAILED


def hold_streams() -> None:
    """Replace closed standard streams by the null device; escape characters an encoding lacks.

    The loop or the database would otherwise get a closed stream's number, and receive prints.
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
    """Treat SIGTERM like Ctrl-C: cancel the command, which then ends in order."""
    task = asyncio.current_task()
    if task is not None and sys.platform != "win32":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await command()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop
