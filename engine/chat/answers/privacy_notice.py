"""Answers about a person's own data; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from engine.chat.answers.answers import Answer, SentFile, Wording
from engine.store import Traces
from engine.store.community import PublicPart
from engine.values.language import Text
from engine.words.translation import day, plural, say

OF_YOU = "**Your data**"
NOTHING_OF_YOU = "Nothing is stored about you."
YOU_ARE_FORGOTTEN = (
    "You asked to be forgotten: no record identifies you, and nothing new is stored. Only a keyed "
    "hash of your id remains, so that Rostrum knows not to store you again. "
    "`{prefix} optin` brings you back."
)
TRACES = {
    "votes": ("a vote on {n} debate", "votes on {n} debates"),
    "confidences": ("how clear you found {n} debate", "how clear you found {n} debates"),
    "grounds": (
        "why you voted as you did on {n} debate",
        "why you voted as you did on {n} debates",
    ),
    "guesses": ("a guess at {n} model", "guesses at {n} models"),
    "rounds": ("a vote on {n} round", "votes on {n} rounds"),
    "stances": ("{n} stance on a topic", "{n} stances on topics"),
    "revisions": ("an answer after {n} reveal", "answers after {n} reveals"),
    "thumbs": ("thumbs on {n} turn", "thumbs on {n} turns"),
    "asked": ("{n} question to the sides", "{n} questions to the sides"),
    "supported": ("support in {n} question time", "support in {n} question times"),
    "started": ("{n} debate that you started", "{n} debates that you started"),
    "suggested": ("{n} topic that you suggested", "{n} topics that you suggested"),
    "labels": ("{n} debate that you labelled", "{n} debates that you labelled"),
    "upvotes": ("{n} suggested topic that you want", "{n} suggested topics that you want"),
}
YOUR_TRACES = "Stored with your user id: {what}."
YOUR_ENTRIES = (
    "{n} choice that you made or withdrew, with its time.",
    "{n} choices that you made or withdrew, with their times.",
)
ONLY_YOUR_ID = "Your user id and nothing else."
YOU_OPTED_OUT = "Exports leave you out; `{prefix} optin` undoes it."
YOU_MAY_OPT_OUT = "Exports include you under a pseudonym; `{prefix} optout` leaves you out."
YOU_CAME_BACK = "You came back on {since}; you cannot vote on debates that started before then."
YOU_MAY_SEE_IT = "`{prefix} mydata` sends you all of it as a file."
YOU_MAY_BE_FORGOTTEN = "`{prefix} forget` removes your identity from all of it."
OWN_FILE = "`{name}` has everything that is stored about you here and in other communities."
OWN_FILE_HOW = (
    "`{prefix} optout` leaves you out of exports; `{prefix} forget` removes your identity from all "
    "of it."
)
OWN_TOO_LARGE = (
    "Your data is {size:.1f} MiB; at most {most:.1f} MiB can be sent here. Ask the people who run "
    "Rostrum for it."
)
FORGET_WHAT = (
    "Your user id is deleted everywhere, at once and for good: no one can trace your votes and "
    "debates back to you. Your votes still count, but exports leave them out. Nothing you do "
    "afterwards is stored, so you cannot vote or start debates, and only a manager can stop your "
    "running debates. A keyed hash of your id remains, so that you are not stored again. The "
    "topics you wrote remain too."
)
FORGET_HOW = "To confirm: `{prefix} forget confirm=yes`"
FORGOTTEN = "You are forgotten. Your votes still count, but no record links them to you."
FORGOTTEN_SOON = (
    "An export that is running still reads an older state of the database. Your id is overwritten "
    "there as soon as the export is done."
)
BACK_HOW = "To take part again: `{prefix} optin`"
ALREADY_FORGOTTEN = "You are forgotten, so exports leave you out anyway."
OPTED_OUT = (
    "From now on, exports leave you out; your votes still count. Exports made earlier cannot be "
    "recalled. `{prefix} optin` undoes it."
)
OPTED_IN = "Exports include your choices under a pseudonym."
CAME_BACK = (
    "Welcome back. You can vote on debates that start from now on, and start debates from tomorrow "
    "(UTC). Your earlier activity stays unlinked from you."
)
PRIVACY = """**What is stored**
- Per debate: its topic and conditions, its starter and channel, every model request and reply, \
and the jury's ballots.
- Per vote: every choice and withdrawal, with voter and time; on Discord also how many days old \
the account and the membership were.
- Per suggested topic: its text, who suggested it, and who wants it debated.
- Per person: the platform's user id, in a single table that maps it to a number; all other \
records hold only that number. No names, no pictures, and no messages except the text of commands.
- For this community: its id and its settings. The settings are deleted when Rostrum is removed, \
the debates some weeks later.
**Who gets it**
- A debate's models get its topic, conditions and speeches, and nothing about people. A \
moderation model, if the operator has named one, gets topic, conditions and stances first.
- Managers can export this community's debates, and the operator of Rostrum can export all. Voters \
appear under pseudonyms that differ from export to export.
Debates are kept until the operator or a manager deletes them."""


PUBLIC = (
    "Managers of this community show on public web pages, without any names of people: {what:and}."
)
PARTS = {
    PublicPart.DEBATES: "debates",
    PublicPart.LEADERBOARD: "ratings of models",
    PublicPart.AGREEMENT: "agreement between jury and people",
    PublicPart.LEAGUES: "leagues and schedules",
    PublicPart.DATASET: "the dataset, with votes under pseudonyms",
}


class PrivacyAnswer(Answer):
    """What is stored about people in general and about the person who asked.

    `on_the_web` is what everyone sees of their community on the web.
    """

    private: ClassVar[bool] = True
    traces: Traces
    on_the_web: tuple[PublicPart, ...] = ()

    def say(self, chat: Wording) -> Iterator[str]:
        """Describe the stored data, the person's own first."""
        yield say(OF_YOU)
        if self.traces.forgotten:
            yield say(YOU_ARE_FORGOTTEN, prefix=chat.prefix)
        else:
            yield from _own(self.traces)
            opted = YOU_OPTED_OUT if self.traces.opted_out else YOU_MAY_OPT_OUT
            yield say(opted, prefix=chat.prefix)
            if self.traces.known:
                yield say(YOU_MAY_SEE_IT, prefix=chat.prefix)
            yield say(YOU_MAY_BE_FORGOTTEN, prefix=chat.prefix)
        yield say(PRIVACY)
        if self.on_the_web:
            yield say(PUBLIC, what=tuple(Text(PARTS[part]) for part in self.on_the_web))


def _own(traces: Traces) -> Iterator[str]:
    counts = {name: getattr(traces, name) for name in TRACES}
    held = [plural(TRACES[name], n) for name, n in counts.items() if n]
    if held:
        yield say(YOUR_TRACES, what=tuple(held))
    else:
        yield say(ONLY_YOUR_ID if traces.known else NOTHING_OF_YOU)
    if traces.entries:
        yield plural(YOUR_ENTRIES, traces.entries)
    if traces.since is not None:
        yield say(YOU_CAME_BACK, since=day(traces.since))


class OwnDataAnswer(SentFile):
    """Everything that is stored of the person who asked, as a file."""

    def say(self, chat: Wording) -> Iterator[str]:
        """Describe the file, and what else the person can do."""
        yield say(OWN_FILE, name=self.name)
        yield say(OWN_FILE_HOW, prefix=chat.prefix)


class NoOwnDataAnswer(Answer):
    """Why there is no such file: nothing is stored, or its `bytes` exceed `bytes_max`."""

    private: ClassVar[bool] = True
    forgotten: bool = False
    bytes: int = 0
    bytes_max: int = 0

    def say(self, chat: Wording) -> Iterator[str]:
        """Explain why."""
        if self.bytes:
            size, most = self.bytes / 2**20, self.bytes_max / 2**20
            yield say(OWN_TOO_LARGE, size=size, most=most)
        elif self.forgotten:
            yield say(YOU_ARE_FORGOTTEN, prefix=chat.prefix)
        else:
            yield say(NOTHING_OF_YOU)


class ForgottenAnswer(Answer):
    """A preview of being forgotten, or its confirmation (`done`).

    `rest`: a reader still holds an older state of the database, which is overwritten afterwards.
    """

    private: ClassVar[bool] = True
    done: bool
    traces: Traces
    rest: bool = False

    def say(self, chat: Wording) -> Iterator[str]:
        """Explain what is deleted, or confirm it."""
        if self.done:
            yield say(FORGOTTEN)
            if self.rest:
                yield say(FORGOTTEN_SOON)
            yield say(BACK_HOW, prefix=chat.prefix)
        elif self.traces.forgotten:
            yield say(YOU_ARE_FORGOTTEN, prefix=chat.prefix)
        else:
            yield from _own(self.traces)
            yield say(FORGET_WHAT)
            yield say(FORGET_HOW, prefix=chat.prefix)


class OptedAnswer(Answer):
    """Whether exports include a person; `back` when they return after being forgotten."""

    private: ClassVar[bool] = True
    out: bool
    forgotten: bool = False
    back: bool = False

    def say(self, chat: Wording) -> Iterator[str]:
        """Confirm the choice."""
        if self.out:
            yield say(ALREADY_FORGOTTEN) if self.forgotten else say(OPTED_OUT, prefix=chat.prefix)
        else:
            yield say(CAME_BACK if self.back else OPTED_IN)
