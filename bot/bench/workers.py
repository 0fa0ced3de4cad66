"""Processes that a benchmark spreads its work over."""

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
    """Open a process for each core; at the end all are gone, whatever they were at."""
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
    """Hand work to a process, started when it is needed, which leaves it to us to be stopped."""
    if sys.platform == "win32":
        return workers.submit(work, *args, **kwargs)
    # Ctrl-C goes to everybody in a terminal, and a pool that loses processes fails in many ways.
    # Who is started while signals are held back never gets them.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        return workers.submit(work, *args, **kwargs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
