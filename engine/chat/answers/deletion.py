"""Answers to `delete`; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from engine.chat.answers.answers import Answer, Wording
from engine.chat.answers.debates import DebateLine
from engine.values.text import headline
from engine.words.buttons import Button, deletion_buttons
from engine.words.translation import say

TOPIC_LENGTH = 100  # characters

WHAT = (
    "This deletes debate `{code}` (“{topic}”) for good: its messages here, and everything stored "
    "of it, with all votes. The day's budget still counts what it cost."
)
STOPPED_FIRST = "It is still going on and is stopped first."
MIRROR_STAYS = "Its mirror `{code}` stays, unless you delete both."
HOW = "To confirm: `{prefix} delete {code} confirm=yes`"
BEGUN = (
    "Debate `{code}` is being deleted: its messages disappear within a minute or two. A thread "
    "that stays, and what people wrote in it, is for a moderator to delete."
)
BOTH_BEGUN = (
    "Debates `{code}` and `{mirror}` are being deleted: their messages disappear within a minute "
    "or two. A thread that stays, and what people wrote in it, is for a moderator to delete."
)


class DeletionAnswer(Answer):
    """What a deletion means, or that it has begun (`done`), also of its mirror (`both`)."""

    private: ClassVar[bool] = True
    debate: DebateLine
    mirror: DebateLine | None = None
    both: bool = False
    going: bool = False
    done: bool = False

    def say(self, chat: Wording) -> Iterator[str]:
        """Explain what is deleted, or confirm it."""
        if self.done:
            mirror = self.mirror if self.both else None
            if mirror is None:
                yield say(BEGUN, code=self.debate.code)
            else:
                yield say(BOTH_BEGUN, code=self.debate.code, mirror=mirror.code)
            return
        topic = headline(self.debate.topic, TOPIC_LENGTH)
        yield say(WHAT, code=self.debate.code, topic=topic)
        if self.going:
            yield say(STOPPED_FIRST)
        if self.mirror is not None:
            yield say(MIRROR_STAYS, code=self.mirror.code)
        yield say(HOW, prefix=chat.prefix, code=self.debate.code)

    def buttons(self) -> tuple[Button, ...]:
        """Return the buttons that confirm it."""
        if self.done:
            return ()
        return deletion_buttons(self.debate.code, both=self.mirror is not None)
