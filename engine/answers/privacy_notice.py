"""What people are told of themselves and what is stored of them; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from engine.answers.answers import Answer, Wording
from engine.store import Traces
from engine.words.phrases import plural

OF_YOU = "**Of you**"
NOTHING_OF_YOU = "Nothing is stored of you."
YOU_ARE_FORGOTTEN = (
    "You asked to be forgotten: nothing says any more what you did, and nothing new is stored. "
    "What remains is a keyed hash of your id, by which you are known as somebody not to store. "
    "`{prefix} optin` brings you back."
)
TRACES = {
    "votes": ("a vote on {n} debate", "votes on {n} debates"),
    "stances": ("{n} stance on a topic", "{n} stances on topics"),
    "revisions": ("an answer after {n} reveal", "answers after {n} reveals"),
    "thumbs": ("thumbs on {n} turn", "thumbs on {n} turns"),
    "started": ("{n} debate that you started", "{n} debates that you started"),
}
YOUR_TRACES = "Your user id, under which there are: {what}."
YOUR_ENTRIES = (
    "With its time, {n} choice that you made or took back.",
    "With their times, {n} choices that you made or took back.",
)
ONLY_YOUR_ID = "Your user id, and nothing that you did."
YOU_OPTED_OUT = "You are left out of exports; `{prefix} optin` undoes it."
YOU_MAY_OPT_OUT = "You are in exports, under a pseudonym; `{prefix} optout` leaves you out."
YOU_CAME_BACK = "You came back on {since:%Y-%m-%d}; debates begun before take no answers of yours."
YOU_MAY_BE_FORGOTTEN = "`{prefix} forget` deletes who you are from all of it."
FORGET_WHAT = (
    "Your user id is deleted everywhere, at once and for good: nobody can tell any more what you "
    "chose or started. Your votes still count; exports do not show them. Nothing that you do from "
    "then on is stored, so you cannot vote or start debates, and debates of yours that still run "
    "can be stopped by a manager only. A keyed hash of your id stays, so that you are not stored "
    "again. What you wrote into a topic stays."
)
FORGET_HOW = "If that is what you want: `{prefix} forget confirm=yes`"
FORGOTTEN = "You are forgotten. Your votes count on, and nobody can tell that they were yours."
FORGOTTEN_SOON = (
    "An export is being made of an older state of the database; your id is overwritten in it as "
    "soon as that is done."
)
BACK_HOW = "Should you want to take part again: `{prefix} optin`"
ALREADY_FORGOTTEN = "You are forgotten, and so in no export anyway."
OPTED_OUT = (
    "From now on, exports show nothing of you; what you chose still counts. Exports made before "
    "are with those who have them. `{prefix} optin` undoes it."
)
OPTED_IN = "Exports show what you chose, under a pseudonym."
CAME_BACK = (
    "Welcome back. You can vote on debates that begin from now on, and start debates from tomorrow "
    "(UTC): what you did before you were forgotten stays unknown."
)
PRIVACY = """**What is stored**
- Of a debate: its topic and conditions, who started it and in which channel, every request to a \
model and its reply, the jury's ballots.
- Of a vote: what was chosen and taken back, by whom, and when.
- Of people: the platform's user id, in one table, which gives it a number; everything else knows \
the number only. No name, no picture, and no message but what a command was given.
- Of this community: its id and its settings; the settings are deleted when Rostrum is removed, \
and its debates some weeks later.
**Who gets it**
- The models of a debate get its topic, conditions and speeches; of people they learn nothing.
- Exports are made by managers (this community's debates) and by whoever runs Rostrum. Voters are \
in them under pseudonyms that differ from export to export.
Debates are kept until whoever runs Rostrum deletes them."""


class PrivacyAnswer(Answer):
    """What is stored of people, and of the one who asks."""

    private: ClassVar[bool] = True
    traces: Traces

    def say(self, chat: Wording) -> Iterator[str]:
        """Say what is stored, first of who asks."""
        yield OF_YOU
        if self.traces.forgotten:
            yield YOU_ARE_FORGOTTEN.format(prefix=chat.prefix)
        else:
            yield from _own(self.traces)
            opted = YOU_OPTED_OUT if self.traces.opted_out else YOU_MAY_OPT_OUT
            yield opted.format(prefix=chat.prefix)
            yield YOU_MAY_BE_FORGOTTEN.format(prefix=chat.prefix)
        yield PRIVACY


def _own(traces: Traces) -> Iterator[str]:
    counts = {name: getattr(traces, name) for name in TRACES}
    held = [plural(TRACES[name], n) for name, n in counts.items() if n]
    if held:
        yield YOUR_TRACES.format(what=", ".join(held))
    else:
        yield ONLY_YOUR_ID if traces.known else NOTHING_OF_YOU
    if traces.entries:
        yield plural(YOUR_ENTRIES, traces.entries)
    if traces.since is not None:
        yield YOU_CAME_BACK.format(since=traces.since)


class ForgottenAnswer(Answer):
    """What forgetting would delete, or that it is done.

    `rest` says that an older state of the database is still read, and then overwritten.
    """

    private: ClassVar[bool] = True
    done: bool
    traces: Traces
    rest: bool = False

    def say(self, chat: Wording) -> Iterator[str]:
        """Say what forgetting means, or that it is done."""
        if self.done:
            yield FORGOTTEN
            if self.rest:
                yield FORGOTTEN_SOON
            yield BACK_HOW.format(prefix=chat.prefix)
        elif self.traces.forgotten:
            yield YOU_ARE_FORGOTTEN.format(prefix=chat.prefix)
        else:
            yield from _own(self.traces)
            yield FORGET_WHAT
            yield FORGET_HOW.format(prefix=chat.prefix)


class OptedAnswer(Answer):
    """Whether somebody is in exports now; `back` when they came back after being forgotten."""

    private: ClassVar[bool] = True
    out: bool
    forgotten: bool = False
    back: bool = False

    def say(self, chat: Wording) -> Iterator[str]:
        """Say what became of being in exports."""
        if self.out:
            yield ALREADY_FORGOTTEN if self.forgotten else OPTED_OUT.format(prefix=chat.prefix)
        else:
            yield CAME_BACK if self.back else OPTED_IN
