"""Answers about schedules; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator

from engine.chat.answers.answers import Answer, Wording
from engine.values.debate import Value
from engine.values.text import headline
from engine.values.topics import RANDOM
from engine.words.translation import say, say_stored

NEW = "The schedule is set. `{prefix} schedule off` ends it."
NONE = (
    'There is no schedule here. A manager can set one, for example: `{prefix} schedule "every '
    'weekday 09:00 Europe/Berlin"`.'
)
HERE = "**{said}** in this channel: {topic}. Next: {time}."
ELSEWHERE = "**{said}** in another channel: {topic}. Next: {time}."
WANTED = "the topic that people want most"
DRAWN = "a topic drawn from the list"
LAST_SKIPPED = "The last one was skipped. {problem}"
ENDED = "The schedule has ended; a debate that is going on is finished."
TOPIC_LENGTH = 100  # characters


class ScheduleLine(Value):
    """One schedule: when, as it was asked for, on what (empty: the topic most wanted), and next.

    `problem` is why the last time was skipped; empty if it was not.
    """

    said: str
    topic: str
    following: str
    here: bool
    problem: str = ""


class ScheduleAnswer(Answer):
    """The schedules of a community; `new`: one was set just now."""

    lines: tuple[ScheduleLine, ...]
    new: bool = False

    def say(self, chat: Wording) -> Iterator[str]:
        """List them."""
        if self.new:
            yield say(NEW, prefix=chat.prefix)
        if not self.lines:
            yield say(NONE, prefix=chat.prefix)
        for line in self.lines:
            template = HERE if line.here else ELSEWHERE
            yield say(template, said=line.said, topic=_topic(line), time=line.following)
            if line.problem:
                yield say(LAST_SKIPPED, problem=say_stored(line.problem))


class ScheduleEndedAnswer(Answer):
    """The schedule of a channel has ended."""

    def say(self, chat: Wording) -> Iterator[str]:
        """Say so."""
        yield say(ENDED)


def _topic(line: ScheduleLine) -> str:
    if line.topic.casefold() == RANDOM:
        return say(DRAWN)
    return f"“{headline(line.topic, TOPIC_LENGTH)}”" if line.topic else say(WANTED)
