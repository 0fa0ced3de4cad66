"""Answers about debates: started, status, result, list; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal

from pydantic import SkipValidation

from engine.chat.answers import PREFIX, Answer, Wording, answering
from engine.values.debate import Debate, Status, Value
from engine.values.language import N_, Text
from engine.values.messages import Estimate, File, Reveal, Where
from engine.values.text import headline, marked
from engine.words.buttons import again_buttons, deletion_buttons
from engine.words.card import Button
from engine.words.cards import result_pages, with_heading
from engine.words.details import detail_lines, reason_lines
from engine.words.marks_picture import marks_picture
from engine.words.phrases import about_minutes, estimated
from engine.words.reveal import UNREAD, outcome_line, reveal_lines
from engine.words.stored import moment
from engine.words.translation import plural, say

TOPIC_LENGTH = 200  # characters, in an answer about one debate
LINE_LENGTH = 100  # in a list

STOPPED = N_("`{code}` is stopping. What was said so far stays.")

ABOUT = "**{topic}** · `{code}`"
STATUSES = {
    Status.QUEUED: N_("It waits to start."),
    Status.RUNNING: N_("It is running: {turns} of {total} turns done."),
    Status.VOTING: N_("All turns are done; the vote opens once they are posted."),
    Status.CLOSED: N_("It is over. The result is in its thread."),
    Status.PARTIAL: N_("It stopped early."),
    Status.CANCELLED: N_("It was stopped."),
    Status.FAILED: N_("It failed."),
}
OVER: Mapping[Where, str] = {
    "thread": STATUSES[Status.CLOSED],
    "channel": N_("It is over. Its thread takes no messages, so the result is in its channel."),
    "starter": N_(
        "It is over. Nothing can be posted where it ran, so the person who started it "
        "got the result privately."
    ),
    "waiting": N_("It is over. The result is being posted."),
    "nowhere": N_("It is over, but the result could not be posted. The command `result` shows it."),
}

STATES = {
    Status.QUEUED: N_("queued"),
    Status.RUNNING: N_("running"),
    Status.VOTING: N_("vote open"),
    Status.CLOSED: N_("finished"),
    Status.PARTIAL: N_("incomplete"),
    Status.CANCELLED: N_("stopped"),
    Status.FAILED: N_("failed"),
}


class DebateLine(Value):
    """The public facts of a debate, safe to show at any time; `thread` is None before it opens.

    `asked`: it waits for the consent of the person who is to argue a side.
    """

    id: str
    code: str
    topic: str
    format: str
    language: str
    status: Status
    place: str
    thread: str | None
    created_at: datetime
    vote_deadline: datetime | None
    asked: bool = False

    @classmethod
    def of(cls, debate: Debate, *, asked: bool = False) -> DebateLine:
        """Take a debate's public facts."""
        return cls(
            id=debate.id,
            code=debate.code,
            topic=debate.request.topic,
            format=debate.request.format,
            language=debate.request.language,
            status=debate.status,
            place=debate.place,
            thread=debate.thread,
            created_at=debate.created_at,
            vote_deadline=debate.vote_deadline,
            asked=asked,
        )


class StartedAnswer(Answer):
    """A debate was queued; `models` (by contender) and `jurors` are the requested ones.

    `names` are those of contenders that have more than a letter.
    `mirror` is set for a mirrored debate; `estimate` then covers both. `waits`: it begins once a
    person agrees to argue a side.
    """

    debate: DebateLine
    mirror: DebateLine | None = None
    estimate: Estimate
    waits: bool = False
    warnings: tuple[str, ...] = ()
    models: Mapping[str, str] = {}
    names: Mapping[str, str] = {}
    jurors: tuple[str, ...] = ()

    def say(self, chat: Wording) -> Iterator[str]:
        """Confirm the debate, with its estimate."""
        template = (
            N_("Your debate waits for the person you named: **{topic}**")
            if self.waits
            else N_("Your debate starts now: **{topic}**")
        )
        yield say(template, topic=headline(self.debate.topic, TOPIC_LENGTH))
        if self.waits:
            yield say("It begins once the person agrees. They are asked in its thread.")
        # A process that ends leaves this answer as it is: it names where the truth stands.
        yield say(
            "`{prefix} status {code}` shows how far it is.",
            prefix=PREFIX,
            code=self.debate.code,
        )
        if self.mirror:
            yield say(
                "The same debate with the sides swapped, `{code}`, runs beside it in a "
                "thread of its own.",
                code=self.mirror.code,
            )
        yield estimated(self.estimate)
        chosen = [
            Text("`{model}` for {side}", model=model, side=self.names.get(side, marked(side)))
            for side, model in self.models.items()
        ]
        if self.jurors:
            jurors = tuple(f"`{juror}`" for juror in self.jurors)
            chosen.append(Text("the jury {jurors}", jurors=jurors))
        if chosen:
            yield say(
                "You chose {what:and}. No one else sees this before the reveal.", what=tuple(chosen)
            )
        yield from (say("⚠ {warning}", warning=say(warning)) for warning in self.warnings)

    def public(self) -> StartedAnswer:
        """Return it without the chosen models."""
        return self.model_copy(update={"models": {}, "jurors": ()})


def vote_closed(debate: str, mirror: str = "", unread: str = "") -> Answer:
    """Confirm the early close of a debate's vote, together with that on its mirror, by code.

    `unread` is the platform that has to be read before, if it cannot be now.
    """
    if mirror:
        template = (
            N_(
                "The votes on `{code}` and on `{mirror}`, its mirror, close as soon as {platform} "
                "can be read. Rostrum retries automatically."
            )
            if unread
            else N_(
                "The votes on `{code}` and on `{mirror}`, its mirror, are closed. The results "
                "follow in their threads."
            )
        )
    else:
        template = (
            N_(
                "The vote on `{code}` closes as soon as {platform} can be read. Rostrum retries "
                "automatically."
            )
            if unread
            else N_("The vote on `{code}` is closed. The result follows in its thread.")
        )
    return Answer(texts=(Text(template, code=debate, mirror=mirror, platform=unread),))


class StatusAnswer(Answer):
    """A debate's progress: `turns` of `turns_total` are done; a total of 0 is unknown.

    `why` is the reason for an early end, `revealed` the place where the models were named.
    `minutes_left` is for an open vote; `mirror` is the debate whose vote closes with it.
    `gaps` counts messages that may be missing from its thread.
    `waits` explains what it is waiting for, if anything; `asked`: for the consent of the person who
    is to argue a side. `unread`: the vote closed although its
    reactions could not be read. `reveal` is the result, once people can see it.
    """

    debate: DebateLine
    turns: int
    turns_total: int
    why: SkipValidation[str] = ""
    revealed: Where | None = None
    minutes_left: float | None = None
    mirror: DebateLine | None = None
    gaps: int = 0
    waits: SkipValidation[str] = ""
    asked: bool = False
    unread: bool = False
    reveal: Reveal | None = None

    def say(self, chat: Wording) -> Iterator[str]:
        """Report a debate's progress."""
        debate = self.debate
        yield say(ABOUT, code=debate.code, topic=headline(debate.topic, TOPIC_LENGTH))
        if debate.status is Status.VOTING and self.minutes_left is not None:
            yield from _vote_open(self.minutes_left, self.mirror)
        elif debate.status is Status.RUNNING:
            yield self._runs()
        elif self.revealed is not None:
            if self.reveal is not None:
                yield outcome_line(self.reveal)
            yield say(OVER[self.revealed])
        else:
            yield say(STATUSES[debate.status], turns=self.turns, total=self.turns_total)
        voted = debate.status in (Status.VOTING, Status.CLOSED) or debate.vote_deadline is not None
        if self.gaps and voted:
            yield plural(
                "⚠ {n} message may be missing from its thread; votes are counted, but "
                "there is no winner.",
                "⚠ {n} messages may be missing from its thread; votes are counted, but "
                "there is no winner.",
                self.gaps,
            )
        if self.unread and voted:
            yield say(UNREAD)
        if self.waits:
            yield say(self.waits)
        if self.why:
            yield say(self.why)

    def _runs(self) -> str:
        """Say how far a running debate is."""
        if self.asked:
            return say("It waits for the person who was asked to argue a side.")
        if not self.turns_total:
            return plural(
                "It is running: {n} turn done.", "It is running: {n} turns done.", self.turns
            )
        if self.turns >= self.turns_total:
            return say("All {total} turns are done; the jury is reading.", total=self.turns_total)
        return say(STATUSES[Status.RUNNING], turns=self.turns, total=self.turns_total)


def _vote_open(minutes: float, mirror: DebateLine | None) -> Iterator[str]:
    if mirror is not None and minutes <= 0 and mirror.vote_deadline is None:
        yield say(
            "The vote stays open until the vote on its mirror, `{code}`, opens too.",
            code=mirror.code,
        )
        return
    yield _vote_left(minutes)
    if mirror is not None:
        yield say("It closes together with the vote on its mirror, `{code}`.", code=mirror.code)


def _vote_left(minutes: float) -> str:
    return (
        say("The vote is open: {minutes} left.", minutes=about_minutes(minutes))
        if minutes > 0
        else say("The vote is closing.")
    )


class ResultAnswer(Answer):
    """A debate's result, or a `part` of it; `reveal` is None while it is sealed."""

    debate: DebateLine
    reveal: Reveal | None
    minutes_left: float | None = None
    part: Literal["", "why", "details"] = ""

    def say(self, chat: Wording) -> Iterator[str]:
        """Report the result, or that it is still sealed."""
        debate = self.debate
        yield say(ABOUT, code=debate.code, topic=headline(debate.topic, TOPIC_LENGTH))
        if self.reveal is not None:
            yield from self._parts(self.reveal)
        elif debate.status in (Status.QUEUED, Status.RUNNING, Status.VOTING):
            if self.minutes_left is not None:
                yield _vote_left(self.minutes_left)
            yield say("Results stay sealed until the vote closes.")
        else:
            yield say(STATUSES[debate.status])
            yield say("It has no result.")

    def buttons(self) -> tuple[Button, ...]:
        """Return the buttons that hold the debate once more, below a whole result."""
        if self.reveal is None or self.part:
            return ()
        return again_buttons(self.debate.code, two=set(self.reveal.models) == {"A", "B"})

    def picture(self) -> File | None:
        """Return the jury's marks, beside what jurors wrote."""
        return marks_picture(self.reveal) if self.reveal and self.part == "why" else None

    def _parts(self, reveal: Reveal) -> tuple[str, ...]:
        """Return the lines asked for: what jurors wrote, the numbers, or everything."""
        if self.part == "why":
            return tuple(reason_lines(reveal)) or (
                say("No juror gave a reason that can be shown."),
            )
        if self.part == "details":
            return tuple(detail_lines(reveal))
        below = (line for page in result_pages(reveal) for line in with_heading(page))
        return (*reveal_lines(reveal), *below)


@answering()
def debate_list(
    _: Wording, debates: Sequence[DebateLine], pages: Mapping[str, str], web: str = ""
) -> Iterator[str]:
    """List the community's newest debates, newest first.

    Where everyone can read them on the web, `pages` are their addresses by id, and `web` is that of
    all of them.
    """
    if not debates:
        yield say("No debates here yet. Start one.")
    for debate in debates:
        yield say(
            N_("- `{code}` {state}, {when}, {format}: {topic} · [page]({link})")
            if debate.id in pages
            else "- `{code}` {state}, {when}, {format}: {topic}",
            code=debate.code,
            state=_state(debate),
            when=moment(debate.created_at),
            format=debate.format,
            topic=headline(debate.topic, LINE_LENGTH),
            link=pages.get(debate.id, ""),
        )
    if web:
        yield say("[All debates on the web]({link})", link=web)


def _state(debate: DebateLine) -> str:
    """Return its state in a word or two."""
    if debate.status is Status.VOTING and debate.vote_deadline is None:
        return say("vote opens soon")
    if debate.asked:
        return say("waiting for a person")
    return say(STATES[debate.status])


# Answers to `delete`; Markdown for any chat.


HEADLINE_LENGTH = 100  # characters


def deleted(debate: str, mirror: str = "") -> Answer:
    """Confirm that a debate is being deleted, maybe with its mirror; by code."""
    text = (
        Text(
            "Debates `{code}` and `{mirror}` are being deleted: their messages disappear "
            "within a minute or two. A thread that stays, and what people wrote in it, is "
            "for a moderator to delete.",
            code=debate,
            mirror=mirror,
        )
        if mirror
        else Text(
            "Debate `{code}` is being deleted: its messages disappear within a minute or "
            "two. A thread that stays, and what people wrote in it, is for a "
            "moderator to delete.",
            code=debate,
        )
    )
    return Answer(texts=(text,), private=True)


def deletion(debate: DebateLine, mirror: DebateLine | None, *, going: bool) -> Answer:
    """Explain what the deletion of a debate means, with the buttons that confirm it.

    `going`: it has not ended yet.
    """
    code, both = debate.code, mirror is not None
    texts = [
        Text(
            "This deletes debate `{code}` (“{topic}”) for good: its messages here, and everything "
            "stored of it, with all votes. The day's budget still counts what it cost.",
            code=code,
            topic=headline(debate.topic, HEADLINE_LENGTH),
        )
    ]
    if going:
        texts.append(Text("It is still going on and is stopped first."))
    if mirror is not None:
        texts.append(Text("Its mirror `{code}` stays, unless you delete both.", code=mirror.code))
    texts.append(Text("To confirm: `{prefix} delete {code} confirm=yes`", prefix=PREFIX, code=code))
    return Answer(texts=tuple(texts), below=lambda: deletion_buttons(code, both=both), private=True)
