"""Answers to somebody who asks the sides of a debate something, as canonical Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from engine.chat.answers.answers import Answer, Wording
from engine.words.translation import say

ASKED = "Your question is number {number}. Others can support it now."
UNLISTED = (
    "Your question is number {number}. The list is full, so it joins once another one is removed. "
    "Meanwhile you can support one in the list."
)
REMOVED = "Question {number} is removed."


class AskedAnswer(Answer):
    """A question was kept; without a place in the list no one can support it yet."""

    private: ClassVar[bool] = True
    number: int
    listed: bool

    def say(self, chat: Wording) -> Iterator[str]:
        """Confirm the question."""
        yield say(ASKED if self.listed else UNLISTED, number=self.number)


class UnaskedAnswer(Answer):
    """A question was removed."""

    private: ClassVar[bool] = True
    number: int

    def say(self, chat: Wording) -> Iterator[str]:
        """Confirm the removal."""
        yield say(REMOVED, number=self.number)
