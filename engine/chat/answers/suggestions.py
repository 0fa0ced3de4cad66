"""Answers about topics that people suggest; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from engine.chat.answers.answers import Answer, Wording
from engine.chat.answers.catalogue import IdeasAnswer
from engine.store.suggestions import Suggestion
from engine.values.text import headline
from engine.words.buttons import Button, approval_buttons, upvote_button
from engine.words.translation import plural, say

LISTED = 25
WITH_BUTTON, WITH_APPROVAL = 10, 5  # of which Discord shows 25 in a message
TOPIC_LENGTH = 200  # characters

OURS = "**Topics that people here suggested**"
WAITING = "**Waiting for a manager**"
IDEAS = "**Ideas**"
LINE = "- ▲ {upvotes} · {topic}"
MINE = "- **▲ {upvotes}** · {topic}"
WAITING_LINE = "- `{number}` · ▲ {upvotes} · {topic}"
MORE = ("and {n} more topic", "and {n} more topics")
NO_TOPICS = "No one has suggested a topic yet. Suggest one: `{prefix} suggest your topic`"
HOW = (
    "Press ▲ for a topic that you want debated; press it again to take that back. Suggest your "
    "own: `{prefix} suggest your topic`"
)
ON_THE_LIST = "“{topic}” is on the list now. `{prefix} topics` shows it."
WAITS = "“{topic}” is suggested. It is on the list once a manager approves it."
KNOWN = "“{topic}” was suggested before; your ▲ is added to it."
WANTED = (
    "Your ▲ counts. {n} person wants a debate on “{topic}”.",
    "Your ▲ counts. {n} people want a debate on “{topic}”.",
)
TAKEN_BACK = "Your ▲ for “{topic}” is taken back."
REMOVED = "“{topic}” is removed from the list."


class TopicsAnswer(Answer):
    """The topics that people suggested, and `ideas`; `waiting` ones are for managers alone."""

    suggested: tuple[Suggestion, ...] = ()
    waiting: tuple[Suggestion, ...] = ()
    ideas: IdeasAnswer

    def public(self) -> Answer:
        """Return it without what only managers may read, and without who wants what."""
        plain = tuple(one.model_copy(update={"mine": False}) for one in self.suggested)
        return self.model_copy(update={"suggested": plain, "waiting": ()})

    def say(self, chat: Wording) -> Iterator[str]:
        """List what people want debated, what waits, and ideas."""
        yield from self._suggested(chat)
        if self.waiting:
            yield say(WAITING)
            yield from _lines(WAITING_LINE, self.waiting)
        yield say(IDEAS)
        yield from self.ideas.say(chat)

    def _suggested(self, chat: Wording) -> Iterator[str]:
        if not self.suggested:
            yield say(NO_TOPICS, prefix=chat.prefix)
            return
        yield say(OURS)
        for one in self.suggested[:LISTED]:
            yield from _lines(MINE if one.mine else LINE, (one,))
        if len(self.suggested) > LISTED:
            yield plural(MORE, len(self.suggested) - LISTED)
        yield say(HOW, prefix=chat.prefix)

    def buttons(self) -> tuple[Button, ...]:
        """Return the buttons of the most wanted topics, then those of managers."""
        ours = (_button(one) for one in self.suggested[:WITH_BUTTON])
        waits = (b for one in self.waiting[:WITH_APPROVAL] for b in approval_buttons(one.number))
        return (*ours, *waits)


class SuggestedAnswer(Answer):
    """What became of a suggestion, or of a press on one."""

    private: ClassVar[bool] = True
    outcome: Literal["listed", "waits", "known", "upvoted", "taken_back", "removed"]
    suggestion: Suggestion

    def say(self, chat: Wording) -> Iterator[str]:
        """Confirm it."""
        topic = headline(self.suggestion.text, TOPIC_LENGTH)
        match self.outcome:
            case "listed":
                yield say(ON_THE_LIST, topic=topic, prefix=chat.prefix)
            case "waits":
                yield say(WAITS, topic=topic)
            case "known":
                yield say(KNOWN, topic=topic)
            case "upvoted":
                yield plural(WANTED, self.suggestion.upvotes, topic=topic)
            case "taken_back":
                yield say(TAKEN_BACK, topic=topic)
            case "removed":
                yield say(REMOVED, topic=topic)

    def buttons(self) -> tuple[Button, ...]:
        """Return the button that changes one's mind."""
        votes = self.outcome in ("upvoted", "taken_back")
        return (_button(self.suggestion),) if votes else ()


def _button(one: Suggestion) -> Button:
    return upvote_button(one.number, one.text, one.upvotes)


def _lines(template: str, suggested: tuple[Suggestion, ...]) -> Iterator[str]:
    for one in suggested:
        topic = headline(one.text, TOPIC_LENGTH)
        yield say(template, number=one.number, upvotes=one.upvotes, topic=topic)
