"""A parser of what comes in, and what must hold whatever that is.

It returns a value that its own checks accept, or raises a documented error; and it does so soon.
"""

from __future__ import annotations

import hashlib
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from engine.values.errors import RostrumError

SEEDS = Path(__file__).parent / "seeds"
SOON = 1.0  # seconds of processor time for one input
HANGS = 20  # seconds by the clock, after which it is interrupted


class SlowError(AssertionError):
    """An input took more time than any may."""


@dataclass(frozen=True, slots=True)
class Target:
    """A parser: `read` takes bytes, checks what it makes of them, and may raise `errors`.

    Parsers of the same inputs share a `corpus`.
    """

    name: str
    read: Callable[[bytes], object]
    errors: tuple[type[Exception], ...] = (RostrumError,)
    corpus: str = ""

    @property
    def folder(self) -> Path:
        """Where its seeds are: inputs of the doubles, and every one that once failed."""
        return SEEDS / (self.corpus or self.name)

    def seeds(self) -> list[bytes]:
        """Return its seeds."""
        return [path.read_bytes() for path in sorted(self.folder.iterdir())]

    def hold(self, data: bytes) -> None:
        """Read an input. Raises whatever it must not raise, or SlowError."""
        began = time.process_time()
        with _interrupted(HANGS), suppress(*self.errors):
            self.read(data)
        if (took := time.process_time() - began) > SOON:
            raise SlowError(f"{len(data)} bytes took {took:.1f} s")

    def keep(self, data: bytes) -> Path:
        """Store an input that failed as a seed, and return its file."""
        path = self.folder / f"found-{hashlib.sha256(data).hexdigest()[:10]}"
        path.write_bytes(data)
        return path


@contextmanager
def _interrupted(seconds: int) -> Iterator[None]:
    def end(_: int, __: FrameType | None) -> None:
        raise SlowError(f"not over after {seconds} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
