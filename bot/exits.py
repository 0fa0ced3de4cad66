"""Running a command: its end as an exit code and one line, and how long a stop may take."""

from __future__ import annotations

import asyncio
import errno
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import structlog
import typer

from engine.values.errors import RostrumError, SettingsError, StoreError, UsageError
from engine.values.text import clean, headline

# How long a stop may take: `ROSTRUM_STOP_SECONDS`, after which service managers kill.
#
# From the first moment nothing new begins. Calls in flight, which are paid for, have all but its
# last 15 s (30 s of 45); meanwhile the platforms are left. Then deliveries end, leases are
# released, and everything is closed. Whatever still hangs in its last second is left behind: all
# that counts is stored by then, as for a kill.


END_SECONDS = 15.0  # of a stop, after its calls
CLOSE_SECONDS = 4.0  # for each of what is closed in the end
CUT_SECONDS = 1.0  # before a service manager kills
SAY_SECONDS = 0.5  # the log may be what hangs
CUT_OFF = 1
log = structlog.get_logger(__name__)


def calls_seconds(stop: float) -> float:
    """Return how much of a stop calls in flight have."""
    return max(stop - END_SECONDS, 0.0)


async def close_in_time(**closings: Callable[[], Awaitable[None]]) -> None:
    """Close parts one after the other, by their names; one that hangs is left behind."""
    for part, close in closings.items():
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await close()
        except TimeoutError:
            log.warning("stopped without waiting", part=part)


def end_in_time(stop: float) -> None:
    """End this process when a stop has to be over, whatever hangs by then, such as a thread."""
    timer = threading.Timer(stop - CUT_SECONDS, _cut_off)
    timer.daemon = True
    timer.start()


def _cut_off() -> None:
    saying = threading.Thread(target=log.error, args=("stop cut off",), daemon=True)
    saying.start()
    saying.join(SAY_SECONDS)
    os._exit(CUT_OFF)


FAILED, WRONG_USAGE = 1, 2
# sysexits.h: EX_CONFIG. A service manager need not start it again before someone changes a setting.
WRONG_SETTINGS = 78
READER_GONE = 141  # as a shell reports the end of any tool by SIGPIPE: 128 + 13
# The writer's thread releases the interpreter at every statement, and gets it back from a busy loop
# only after this time; with Python's 5 ms, a commit of ten statements would take 50 ms.
SWITCH_SECONDS = 0.0005
# A thousand debates are many objects, with few cycles: with Python's own thresholds (700, 10, 10)
# looking at all of them would block the loop for most of a second, so that is rare. The young are
# looked at often and a few at a time: of 10,000, that blocked it for 15 ms (measured; now 3).
COLLECT_AFTER = (1_000, 4, 2_500)
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
        words = sys.argv[1:]
        for word in words:
            shown = os.fsencode(word).decode(errors="backslashreplace")
            if shown != word:
                raise UsageError(f"“{headline(shown, 60)}” is not UTF-8 text; write it as UTF-8.")
        make_loop: Callable[[], asyncio.AbstractEventLoop] | None = None
        if sys.platform != "win32":
            import uvloop

            make_loop = uvloop.new_event_loop
        with asyncio.Runner(loop_factory=make_loop) as runner:
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
    from bot.console import fitted  # which takes a while, and most commands end well

    print(fitted(clean(f"rostrum: {error.for_operator}"), sys.stderr), file=sys.stderr)
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


async def _until_terminated(command: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Treat SIGTERM like Ctrl-C: cancel the command, which then ends in order."""
    task = asyncio.current_task()
    if task is not None and sys.platform != "win32":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await command()
