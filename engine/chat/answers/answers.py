"""A command's answer: a frozen value that renders itself as canonical Markdown.

The wording of each stands beside its class, ready for translation; adapters only display it.
Errors carry their own message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, NamedTuple

from engine.values.debate import Value
from engine.values.messages import File
from engine.words.buttons import Button


def _someone(user: str) -> str:
    return "?"


class Wording(NamedTuple):
    """How a platform writes its command prefix, links to threads, and people who want that."""

    prefix: str
    link: Callable[[str], str]
    person: Callable[[str], str] = _someone


class Answer(Value):
    """A command's answer; only the person who asked may see a `private` one."""

    private: ClassVar[bool] = False

    def say(self, chat: Wording) -> Iterator[str]:
        """Yield the answer line by line."""
        raise NotImplementedError

    def buttons(self) -> tuple[Button, ...]:
        """Return the buttons below it."""
        return ()

    def picture(self) -> File | None:
        """Return an SVG picture of what it says, for platforms that show one in a private answer.

        They draw it; one that cannot be drawn is left out, as the text says the same.
        """
        return None

    def public(self) -> Answer | None:
        """Return the part that everyone in the channel may read; None for nothing."""
        return None if self.private else self


class SentFile(Answer):
    """An answer that comes with a file, for the person who asked alone."""

    private: ClassVar[bool] = True
    name: str
    content: bytes


def to_markdown(
    answer: Answer,
    prefix: str = "/debate",
    link: Callable[[str], str] = str,
    person: Callable[[str], str] = _someone,
) -> str:
    """Write an answer as Markdown; `prefix` starts this platform's commands.

    `link` turns a thread into a link as this platform shows it, `person` a user's id into a name.
    """
    return "\n".join(answer.say(Wording(prefix, link, person)))
