"""Worker processes for benchmarks."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def open_workers() -> Iterator[ProcessPoolExecutor]:
    """Open one process per core; kills them all at the end."""
    workers = ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn"))
    try:
        yield workers
    finally:
        for worker in active_children():
            worker.kill()
        workers.shutdown()


def submit(
    workers: ProcessPoolExecutor, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> Future[T]:
    """Submit work to a process that ignores Ctrl-C; we stop it ourselves."""
    if sys.platform == "win32":
        return workers.submit(work, *args, **kwargs)
    # Ctrl-C reaches every process of a terminal, and a pool without processes fails in odd ways.
    # A process started while signals are blocked never gets them.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        return workers.submit(work, *args, **kwargs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
