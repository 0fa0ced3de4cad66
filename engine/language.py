"""The language that people read at the moment: a debate's own, English where none is set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ENGLISH = "en"
_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)


def spoken() -> str:
    """Return the language of what is written now, as a BCP-47 code."""
    return _spoken.get()


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Write in a language, also in tasks that begin meanwhile."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)
