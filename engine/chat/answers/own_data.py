"""Answers about a person's own data and record; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from engine.chat.answers import PREFIX, Answer, SentFile, Wording, answering
from engine.chat.answers.debates import DebateLine
from engine.drawing import BLUE, EMPTY, GOLD, bar, darken, draw, fit, write
from engine.store.communities import PublicPart
from engine.store.privacy import GuessRecord, OwnVote, PersonTraces
from engine.values.language import N_, NN_, Text
from engine.values.messages import File
from engine.values.text import headline
from engine.words.phrases import option_name
from engine.words.stored import day
from engine.words.translation import plural, say

# Answers about a person's own data; Markdown for any chat.


NOTHING_OF_YOU = N_("Nothing is stored about you.")
YOU_ARE_FORGOTTEN = N_(
    "You asked to be forgotten: no record identifies you, and nothing new is stored. Only a keyed "
    "hash of your id remains, so that Rostrum knows not to store you again. "
    "`{prefix} optin` brings you back."
)
TRACES = {
    "votes": NN_("a vote on {n} debate", "votes on {n} debates"),
    "confidences": NN_("how clear you found {n} debate", "how clear you found {n} debates"),
    "grounds": NN_(
        "why you voted as you did on {n} debate",
        "why you voted as you did on {n} debates",
    ),
    "guesses": NN_("a guess at {n} model", "guesses at {n} models"),
    "rounds": NN_("a vote on {n} round", "votes on {n} rounds"),
    "stances": NN_("{n} stance on a topic", "{n} stances on topics"),
    "revisions": NN_("an answer after {n} reveal", "answers after {n} reveals"),
    "thumbs": NN_("thumbs on {n} turn", "thumbs on {n} turns"),
    "asked": NN_("{n} question to the sides", "{n} questions to the sides"),
    "supported": NN_("support in {n} question time", "support in {n} question times"),
    "started": NN_("{n} debate that you started", "{n} debates that you started"),
    "suggested": NN_("{n} topic that you suggested", "{n} topics that you suggested"),
    "labels": NN_("{n} debate that you labelled", "{n} debates that you labelled"),
    "upvotes": NN_("{n} suggested topic that you want", "{n} suggested topics that you want"),
}
OPTED_OUT = N_(
    "From now on, exports leave you out; your votes still count. Exports made earlier cannot be "
    "recalled. `{prefix} optin` undoes it."
)
CAME_BACK = N_(
    "Welcome back. You can vote on debates that start from now on, and start debates from tomorrow "
    "(UTC). Your earlier activity stays unlinked from you."
)
PRIVACY = N_("""**What is stored**
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
Debates are kept until the operator or a manager deletes them.""")


PARTS = {
    PublicPart.DEBATES: N_("debates"),
    PublicPart.LEADERBOARD: N_("ratings of models"),
    PublicPart.AGREEMENT: N_("agreement between jury and people"),
    PublicPart.LEAGUES: N_("leagues and schedules"),
    PublicPart.DATASET: N_("the dataset, with votes under pseudonyms"),
}


@answering(private=True)
def stored_data(
    _: Wording, traces: PersonTraces, on_the_web: Sequence[PublicPart] = ()
) -> Iterator[str]:
    """Describe what is stored: about the person who asked, then about people in general.

    `on_the_web` is what everyone sees of their community on the web.
    """
    yield say("**Your data**")
    if traces.forgotten:
        yield say(YOU_ARE_FORGOTTEN, prefix=PREFIX)
    else:
        yield from _own(traces)
        opted = (
            N_("Exports leave you out; `{prefix} optin` undoes it.")
            if traces.opted_out
            else N_("Exports include you under a pseudonym; `{prefix} optout` leaves you out.")
        )
        yield say(opted, prefix=PREFIX)
        if traces.known:
            yield say("`{prefix} mydata` sends you all of it as a file.", prefix=PREFIX)
        yield say("`{prefix} forget` removes your identity from all of it.", prefix=PREFIX)
    yield say(PRIVACY)
    if on_the_web:
        yield say(
            "Managers of this community show on public web pages, without any names of "
            "people: {what:and}.",
            what=tuple(Text(PARTS[part]) for part in on_the_web),
        )


def _own(traces: PersonTraces) -> Iterator[str]:
    counts = {name: getattr(traces, name) for name in TRACES}
    held = [plural(*TRACES[name], n) for name, n in counts.items() if n]
    if held:
        yield say("Stored with your user id: {what}.", what=tuple(held))
    else:
        yield say(N_("Your user id and nothing else.") if traces.known else NOTHING_OF_YOU)
    if traces.entries:
        yield plural(
            "{n} choice that you made or withdrew, with its time.",
            "{n} choices that you made or withdrew, with their times.",
            traces.entries,
        )
    if traces.since is not None:
        yield say(
            "You came back on {since}; you cannot vote on debates that started before then.",
            since=day(traces.since),
        )


def own_data(file: SentFile) -> Answer:
    """Describe the file of everything that is stored of a person, and what else they can do."""
    holds = Text(
        "`{name}` has everything that is stored about you here and in other communities.",
        name=file.name,
    )
    more = Text(
        "`{prefix} optout` leaves you out of exports; `{prefix} forget` removes your identity "
        "from all of it.",
        prefix=PREFIX,
    )
    return Answer(texts=(holds, more), file=file, private=True)


def no_own_data(size: int = 0, most: int = 0, *, forgotten: bool = False) -> Answer:
    """Explain why there is no such file: nothing is stored, or its bytes exceed `most`."""
    if size:
        why = Text(
            "Your data is {size:.1f} MiB; at most {most:.1f} MiB can be sent here. Ask the "
            "people who run Rostrum for it.",
            size=size / 2**20,
            most=most / 2**20,
        )
    else:
        why = Text(YOU_ARE_FORGOTTEN if forgotten else NOTHING_OF_YOU, prefix=PREFIX)
    return Answer(texts=(why,), private=True)


@answering(private=True)
def forgetting(_: Wording, traces: PersonTraces) -> Iterator[str]:
    """Explain what is deleted of a person who is to be forgotten."""
    if traces.forgotten:
        yield say(YOU_ARE_FORGOTTEN, prefix=PREFIX)
        return
    yield from _own(traces)
    yield say(
        "Your user id is deleted everywhere, at once and for good: no one can trace your "
        "votes and debates back to you. Your votes still count, but exports leave them "
        "out. Nothing you do afterwards is stored, so you cannot vote or start debates, "
        "and only a manager can stop your running debates. A keyed hash of your id "
        "remains, so that you are not stored again. The topics you wrote remain too."
    )
    yield say("To confirm: `{prefix} forget confirm=yes`", prefix=PREFIX)


def forgotten(*, rest: bool = False) -> Answer:
    """Confirm that a person is forgotten.

    `rest`: a reader still holds an older state of the database, which is overwritten afterwards.
    """
    gone = Text("You are forgotten. Your votes still count, but no record links them to you.")
    later = Text(
        "An export that is running still reads an older state of the database. Your id "
        "is overwritten there as soon as the export is done."
    )
    back = Text("To take part again: `{prefix} optin`", prefix=PREFIX)
    return Answer(texts=(gone, later, back) if rest else (gone, back), private=True)


def opted_out(*, forgotten: bool) -> Answer:
    """Confirm that exports leave a person out."""
    gone = N_("You are forgotten, so exports leave you out anyway.")
    return Answer(texts=(Text(gone if forgotten else OPTED_OUT, prefix=PREFIX),), private=True)


def opted_in(*, back: bool) -> Answer:
    """Confirm that exports include a person; `back` when they return after being forgotten."""
    included = N_("Exports include your choices under a pseudonym.")
    return Answer(texts=(Text(CAME_BACK if back else included),), private=True)


# A person's own record as a picture: a bar for each thing that could have been so every time.
#
# It is dark and opaque, and in that person's language. A line across a bar is what chance would
# give.


ENOUGH = 10  # times; with fewer, chance decides
WIDTH, MARGIN, BAR, ROW = 720, 32, 24, 88  # pixels; drawn at twice that
LETTERS = 20.0  # pixels, as the class large

BY_CHANCE = N_("by chance about {chance:.1f}")


class Frequency(NamedTuple):
    """How often something was so: `k` of `n` times."""

    k: int
    n: int

    def say(self) -> str:
        """Return it in words; few times are called few."""
        if not self.n:
            return say("nothing to compare yet")
        if self.n < ENOUGH:
            return say("{k} of {n}, too few to say much", k=self.k, n=self.n)
        return say(
            "{k} of {n} ({percent} %)", k=self.k, n=self.n, percent=round(100 * self.k / self.n)
        )


class _RecordBar(NamedTuple):
    """A bar: what it counts, how often that was so, and how often it would be by chance."""

    what: str
    share: Frequency
    chance: float | None

    @property
    def caption(self) -> str:
        """What stands above the bar."""
        said = say("{what}: {share}", what=self.what, share=self.share.say())
        if self.chance is None:
            return said
        return f"{said} · {say(BY_CHANCE, chance=self.chance)}"


def record_picture(title: str, shares: Sequence[_RecordBar]) -> File:
    """Return the picture of a record as an SVG file; its alt text says the same in words."""
    heading = title.replace("*", "")
    room = WIDTH - 2 * MARGIN
    alt = ". ".join((heading, *(one.caption for one in shares)))
    parts = [write(MARGIN, 44, fit(heading, room, LETTERS), "ink large")]
    for number, one in enumerate(shares):
        y, n = 96 + ROW * number, one.share.n
        parts.append(write(MARGIN, y, fit(one.caption, room, LETTERS), "ink large"))
        parts.append(bar(MARGIN, y + 12, room, BAR, EMPTY))
        if one.share.k:
            parts.append(bar(MARGIN, y + 12, room * one.share.k / n, BAR, BLUE))
        if n and one.chance is not None:
            x = MARGIN + room * min(one.chance / n, 1.0) - 2
            parts.append(bar(x, y + 8, 4, BAR + 8, GOLD))
    height = 96 + ROW * len(shares) - 24
    svg = darken(draw(heading, alt, WIDTH, height, parts, headed=False))
    return File(name="record.png", media="image/svg+xml", content=svg, alt=alt)


# Answer to `me`; Markdown for any chat.


TOPIC_LENGTH = 80  # characters

YOUR_VOTES = NN_(
    "**Your votes:** {n} revealed debate here",
    "**Your votes:** {n} revealed debates here",
)
NAMED = N_(
    "`{prefix} leaderboard` names you among those who guess models; `{prefix} me scoreboard=off` "
    "undoes it."
)
UNNAMED = N_(
    "`{prefix} me scoreboard=on` names you in `{prefix} leaderboard` among those who guess models."
)
NO_ONE = "–"


class OwnRecordAnswer(Answer):
    """A person's votes here: how often with the people, how often with the jury, and the last.

    Each of these with its debate, and with the names of what people chose among.
    """

    private: bool = True
    votes: int
    guessed: GuessRecord = GuessRecord()
    named: bool = False
    changed: bool = False
    people: Frequency
    jury: Frequency
    lines: tuple[tuple[OwnVote, DebateLine, Mapping[str, str]], ...]

    def say(self, chat: Wording) -> Iterator[str]:
        """Compare, then list the last votes."""
        if self.changed:
            yield self._standing(chat)
        if not self.votes:
            yield say(
                "You have no vote on a revealed debate here yet. Vote below a debate, and look "
                "again after its vote closes."
            )
            return
        yield plural(*YOUR_VOTES, self.votes)
        yield say("- You chose as the people did: {share}", share=self.people.say())
        yield say("- You chose as the jury did: {share}", share=self.jury.say())
        if self.guessed.n:
            share = Frequency(self.guessed.right, self.guessed.n)
            yield say(
                "- Models you guessed right: {share} (by chance about {chance:.1f})",
                share=share.say(),
                chance=self.guessed.chance,
            )
            if not self.changed:
                yield self._standing(chat)
        yield say("**Your last votes**")
        for vote, debate, names in self.lines:
            yield say(
                "- {thread} {topic}: you {own}, people {people}, jury {jury}",
                thread=chat.link(debate.thread or debate.place),
                topic=headline(debate.topic, TOPIC_LENGTH),
                own=_option(vote.option, names),
                people=_option(vote.people, names),
                jury=_option(vote.jury, names),
            )

    def picture(self) -> File | None:
        """Return how often they chose as others did, and guessed right."""
        if not self.votes:
            return None
        shares = [
            _RecordBar(say("As the people did"), self.people, None),
            _RecordBar(say("As the jury did"), self.jury, None),
        ]
        if self.guessed.n:
            right = Frequency(self.guessed.right, self.guessed.n)
            shares.append(_RecordBar(say("Models guessed right"), right, self.guessed.chance))
        return record_picture(plural(*YOUR_VOTES, self.votes), shares)

    def _standing(self, chat: Wording) -> str:
        return say(NAMED if self.named else UNNAMED, prefix=PREFIX)


def _option(option: str | None, stances: Mapping[str, str]) -> str:
    """Return a choice in a few words; a dash for none."""
    return headline(option_name(option, stances), 40) if option else NO_ONE
