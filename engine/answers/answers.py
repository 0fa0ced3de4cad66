"""A command's answer: a frozen value that says itself, as canonical Markdown.

Each is worded where it is declared, in a file of its subject, ready for translation; an adapter
need only show it. Errors carry their own sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, NamedTuple

from engine.debate import Value


class Wording(NamedTuple):
    """How a chat writes: what its commands begin with, and a link to a thread."""

    prefix: str
    link: Callable[[str], str]


class Answer(Value):
    """What a command answers; what is `private` is for nobody but the person who asked."""

    private: ClassVar[bool] = False

    def say(self, chat: Wording) -> Iterator[str]:
        """Yield it line by line."""
        raise NotImplementedError

    def public(self) -> Answer | None:
        """Return what everybody in the channel may read of it; None for nothing."""
        return None if self.private else self


def to_markdown(answer: Answer, prefix: str = "/debate", link: Callable[[str], str] = str) -> str:
    """Write an answer as Markdown; `prefix` is how this platform's commands begin.

    `link` returns a thread as this platform shows a link to it.
    """
    return "\n".join(answer.say(Wording(prefix, link)))
