"""A parser of what comes in, what must hold whatever that is, and inputs that are nearly right."""

import asyncio
import hashlib
import json
import signal
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

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


# One event loop for parsers that are coroutines: a new one an example would take longer.


T = TypeVar("T")


@lru_cache(maxsize=1)
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


def wait(work: Coroutine[Any, Any, T]) -> T:
    return _loop().run_until_complete(work)


# Inputs that are nearly right: seeds with some of their bytes, or of their JSON, changed.


LONGEST = 200_000  # bytes of an input
MOST_COPIES = 3_000
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**400, -0.5, 1e308, float("nan"), float("inf"),
    "", " ", "0", "-1", "A", "tie", "1e999", "٣", "\x00", "\ud800", "\u202e", "İ", "a" * 5_000,
    "../../etc/passwd", "{{ 7 * 7 }}", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59",
    [], {}, [None], [[]], {"": None}, [[[[[[[[]]]]]]]],
)  # fmt: skip
ODD_BYTES = (
    b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\n\n", b'"', b"'",
    b"\\", b"{", b"}", b"[", b"]", b"<", b">", b"=", b"%", b"&", b";", b":", b",", b"|", b"#",
    b"--", b"\\ud800", b"1e999", b"NaN", b"-1", b"null", b"9" * 400, b"[" * 2_000, b'{"a":' * 2_000,
    b"data:", b"[DONE]", b"<think>", b"</think>", b"```", b"\xe2\x80\xa8", b"=?utf-8?q?",
)  # fmt: skip


def inputs(seeds: Sequence[bytes]) -> SearchStrategy[bytes]:
    """Return what to try: mostly changed seeds, sometimes anything."""
    changed = [_with_bytes(st.sampled_from(seeds))]
    if structured := [seed for seed in seeds if _is_json(seed)]:
        changed.append(_with_json(st.sampled_from(structured)))
        changed.append(_with_bytes(_with_json(st.sampled_from(structured))))
    anything = [st.binary(max_size=300), st.text(max_size=300).map(_encode)]
    return st.one_of(*changed, *changed, *anything)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@st.composite
def _with_bytes(draw: DrawFn, seeds: SearchStrategy[bytes]) -> bytes:
    data = draw(seeds)
    for _ in range(draw(st.integers(0, 4))):
        edit: Callable[[DrawFn, bytes], bytes] = draw(st.sampled_from((_put, _cut, _repeat, _swap)))
        data = edit(draw, data)[:LONGEST]
    return data


def _piece(draw: DrawFn, data: bytes) -> tuple[int, int]:
    start = draw(st.integers(0, len(data)))
    return start, draw(st.integers(start, min(len(data), start + 60)))


def _put(draw: DrawFn, data: bytes) -> bytes:
    start, end = _piece(draw, data)
    return data[:start] + draw(st.sampled_from(ODD_BYTES) | st.binary(max_size=8)) + data[end:]


def _cut(draw: DrawFn, data: bytes) -> bytes:
    start = draw(st.integers(0, len(data)))
    return data[:start] + data[draw(st.integers(start, len(data))) :]


def _repeat(draw: DrawFn, data: bytes) -> bytes:
    start, end = _piece(draw, data)
    times = draw(st.sampled_from((2, 10, 200, MOST_COPIES)))
    return data[:start] + data[start:end] * times + data[end:]


def _swap(draw: DrawFn, data: bytes) -> bytes:
    (a, b), (c, d) = sorted((_piece(draw, data), _piece(draw, data)))
    if b > c:
        return data
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


# --- JSON --------------------------------------------------------------------------------


def _is_json(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict | list)
    except (RecursionError, ValueError):
        return False


@st.composite
def _with_json(draw: DrawFn, seeds: SearchStrategy[bytes]) -> bytes:
    value = json.loads(draw(seeds))
    for _ in range(draw(st.integers(1, 3))):
        value = _changed(draw, value)
    return json.dumps(value).encode()


def _changed(draw: DrawFn, value: Any) -> Any:
    """Change one part of a value, somewhere within it."""
    places = _places(value) if isinstance(value, dict | list) else []
    if not places:
        return deepcopy(draw(st.sampled_from(ODD_VALUES)))
    whole, key = draw(st.sampled_from(places))
    kind = draw(st.sampled_from(("other", "other", "none", "twice", "elsewhere")))
    if kind == "none":
        del whole[key]
    elif kind == "twice":
        whole[key] = [whole[key]] * 2
    elif kind == "elsewhere":
        holder, name = draw(st.sampled_from(places))
        whole[key] = deepcopy(holder[name])
    else:
        other = draw(st.sampled_from(ODD_VALUES) | st.text(max_size=20) | st.integers())
        whole[key] = deepcopy(other)  # the next change may be within it
    return value


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place in a value: its list or object, and the key in that."""
    keys: Any = value if isinstance(value, dict) else range(len(value))
    found = []
    for key in keys:
        found.append((value, key))
        if isinstance(value[key], dict | list):
            found += _places(value[key])
    return found
