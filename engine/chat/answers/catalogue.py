"""Answers that list models, topics, formats and commands; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from engine.chat.answers import PREFIX, Answer, Wording, answering
from engine.prompts import NAMES
from engine.store.suggestions import Suggestion
from engine.values.debate import Value
from engine.values.language import N_, NN_, Count, Text
from engine.values.text import headline
from engine.values.topics import Topic
from engine.words.buttons import approval_buttons, upvote_button
from engine.words.card import Button
from engine.words.phrases import money, to_read
from engine.words.stored import called_language
from engine.words.translation import plural, say

DEBATERS = N_("**Debaters**")
JURORS = N_("**Jurors**")
NONE = "none"
FORMATS = N_("**Formats**")
HELP = (
    N_(
        "Rostrum holds debates between AI models: a blind jury scores them and people vote. "
        "The models are named when the vote closes."
    ),
    N_(
        "Refer to a debate by its code, or leave the code out for the debate in this channel or "
        "thread."
    ),
)


class ModelsAnswer(Answer):
    """The models that may debate here and those that judge, as `backend/name`."""

    private: bool = True
    models: tuple[str, ...]
    jurors: tuple[str, ...]

    def say(self, chat: Wording) -> Iterator[str]:
        """List debaters, then jurors."""
        for title, models in ((DEBATERS, self.models), (JURORS, self.jurors)):
            yield say(title)
            yield from (f"- `{model}`" for model in models or (say(NONE),))


def topic_line(topic: Topic) -> str:
    """Return a topic on one line, with its stances and conditions."""
    stances = (
        say(" · 🔵 A: {a} · 🔴 B: {b}", a=topic.stance_a, b=topic.stance_b)
        if topic.stance_a
        else ""
    )
    return topic.text + stances + (f" ({topic.conditions})" if topic.conditions else "")


class FormatLine(Value):
    """A format: what it is like, its own options, and how long it takes to read and to pay.

    `minutes` is None where no debate of this format can begin here; `usd` where a price is unknown.
    """

    name: str
    about: str = ""
    options: tuple[str, ...] = ()
    minutes: float | None = None
    usd: float | None = None

    def say(self, *, options: bool = True) -> str:
        """Return it on one line, with its `options` if wanted."""
        parts = [say(self.about) if self.about else ""]
        if self.minutes is not None:
            parts += [to_read(self.minutes), money(self.usd)]
        if options and self.options:
            listed = tuple(f"`{option}`" for option in self.options)
            parts.append(say("options {options}", options=listed))
        return "- `{name}`: {about}".format(name=self.name, about=" · ".join(filter(None, parts)))


@answering()
def format_list(_: Wording, formats: Iterable[FormatLine]) -> Iterator[str]:
    """List formats with their options."""
    yield from (line.say() for line in formats)


class HelpAnswer(Answer):
    """All commands by name, and the formats; or the full usage of `command`.

    Of each of the `commands`: its usage, what it does, and who may use it, if not everyone.
    `beside` is what a platform offers instead of some of them.
    """

    commands: tuple[tuple[str, str, str], ...]
    command: str | None = None
    formats: tuple[FormatLine, ...] = ()
    beside: str = ""

    def _beside(self) -> str:
        return say(self.beside)

    def without(self, names: Collection[str], *, instead: str) -> HelpAnswer:
        """Return the answer without commands that a platform offers in another way."""
        kept = tuple(one for one in self.commands if one[0].split()[0] not in names)
        if len(kept) == len(self.commands):
            return self
        return self.model_copy(update={"commands": kept, "beside": instead})

    def say(self, chat: Wording) -> Iterator[str]:
        """Introduce Rostrum and list its commands, or explain one."""
        lines = [
            f"`{PREFIX} {usage}` {say(about)}{say(note) if note else ''}"
            for usage, about, note in self.commands
        ]
        if self.command is not None:
            yield from lines or (self._beside(),)
            return
        yield from map(say, HELP)
        yield from (f"- {line}" for line in lines)
        if self.beside:
            yield f"- {self._beside()}"
        if self.formats:
            yield say(FORMATS)
            yield from (line.say(options=False) for line in self.formats)


# Answers about topics that people suggest; Markdown for any chat.


LISTED = 25
WITH_BUTTON, WITH_APPROVAL = 10, 5  # of which Discord shows 25 in a message
TOPIC_LENGTH = 200  # characters

IDEAS = N_("**Ideas**")


class TopicsAnswer(Answer):
    """The topics that people suggested, and `ideas` for everyone, with `others` by language.

    Those `waiting` are for managers alone.
    """

    suggested: tuple[Suggestion, ...] = ()
    waiting: tuple[Suggestion, ...] = ()
    ideas: tuple[Topic, ...] = ()
    others: tuple[tuple[str, int], ...] = ()

    def public(self) -> Answer:
        """Return it without what only managers may read, and without who wants what."""
        plain = tuple(one.model_copy(update={"mine": False}) for one in self.suggested)
        return self.model_copy(update={"suggested": plain, "waiting": ()})

    def say(self, chat: Wording) -> Iterator[str]:
        """List what people want debated, what waits, and ideas."""
        yield from self._suggested()
        if self.waiting:
            yield say("**Waiting for a manager**")
            yield from _lines("- `{number}` · ▲ {upvotes} · {topic}", self.waiting)
        yield say(IDEAS)
        yield from (f"- {topic_line(topic)}" for topic in self.ideas)
        if self.others:
            counted = tuple(
                f"{called_language(code) or NAMES.get(code.split('-')[0].lower(), code)} {n}"
                for code, n in self.others
            )
            yield say("In other languages: {counted}.", counted=counted)

    def _suggested(self) -> Iterator[str]:
        if not self.suggested:
            yield say(
                "No one has suggested a topic yet. Suggest one: `{prefix} suggest your topic`",
                prefix=PREFIX,
            )
            return
        yield say("**Topics that people here suggested**")
        for one in self.suggested[:LISTED]:
            yield from _lines(
                "- **▲ {upvotes}** · {topic}" if one.mine else "- ▲ {upvotes} · {topic}", (one,)
            )
        if len(self.suggested) > LISTED:
            yield plural("and {n} more topic", "and {n} more topics", len(self.suggested) - LISTED)
        yield say(
            "Press ▲ for a topic that you want debated; press it again to take that back. Suggest "
            "your own: `{prefix} suggest your topic`",
            prefix=PREFIX,
        )

    def buttons(self) -> tuple[Button, ...]:
        """Return the buttons of the most wanted topics, then those of managers."""
        ours = (_button(one) for one in self.suggested[:WITH_BUTTON])
        waits = (b for one in self.waiting[:WITH_APPROVAL] for b in approval_buttons(one.number))
        return (*ours, *waits)


SUGGESTED = {
    "listed": N_("“{topic}” is on the list now. `{prefix} topics` shows it."),
    "waits": N_("“{topic}” is suggested. It is on the list once a manager approves it."),
    "known": N_("“{topic}” was suggested before; your ▲ is added to it."),
    "taken_back": N_("Your ▲ for “{topic}” is taken back."),
    "removed": N_("“{topic}” is removed from the list."),
}
UPVOTED = NN_(
    "Your ▲ counts. {n} person wants a debate on “{topic}”.",
    "Your ▲ counts. {n} people want a debate on “{topic}”.",
)


def suggested(outcome: str, suggestion: Suggestion) -> Answer:
    """Confirm what became of a suggestion, or of a press on one, with the button that undoes it.

    `outcome` is one of `SUGGESTED`, or "upvoted".
    """
    topic = headline(suggestion.text, TOPIC_LENGTH)
    text = (
        Count(*UPVOTED, suggestion.upvotes, topic=topic)
        if outcome == "upvoted"
        else Text(SUGGESTED[outcome], topic=topic, prefix=PREFIX)
    )
    if outcome not in ("upvoted", "taken_back"):
        return Answer(texts=(text,), private=True)
    return Answer(texts=(text,), below=lambda: (_button(suggestion),), private=True)


def _button(one: Suggestion) -> Button:
    return upvote_button(one.number, one.text, one.upvotes)


def _lines(template: str, suggested: tuple[Suggestion, ...]) -> Iterator[str]:
    for one in suggested:
        topic = headline(one.text, TOPIC_LENGTH)
        yield say(template, number=one.number, upvotes=one.upvotes, topic=topic)
