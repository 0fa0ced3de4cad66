"""Answers to a person who argues a side, as canonical Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from engine.chat.answers.answers import Answer, Wording
from engine.words.translation import plural, say

ACCEPTED = "You take part. The debate begins, and you are mentioned here when it is your turn."
DECLINED = "You do not take part, so the debate is called off. The person who asked is notified."
TAKEN = (
    "Rostrum has your turn of {n} word and posts it.",
    "Rostrum has your turn of {n} words and posts it.",
)


class ConsentAnswer(Answer):
    """A person agreed to argue a side, or did not."""

    private: ClassVar[bool] = True
    accepted: bool

    def say(self, chat: Wording) -> Iterator[str]:
        """Confirm the answer."""
        yield say(ACCEPTED if self.accepted else DECLINED)


class TurnAnswer(Answer):
    """A person's turn was taken."""

    private: ClassVar[bool] = True
    words: int

    def say(self, chat: Wording) -> Iterator[str]:
        """Confirm the turn."""
        yield plural(TAKEN, self.words)
