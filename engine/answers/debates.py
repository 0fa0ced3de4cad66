"""What commands answer on debates: queued, how far, how it ended; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Literal

from engine.answers.answers import Answer, Wording
from engine.debate import Debate, Status, Value
from engine.messages import Estimate, Reveal, Where
from engine.text import headline
from engine.words.phrases import about_minutes, estimated, plural
from engine.words.reveal import UNREAD, reveal_lines

TOPIC_LENGTH = 200  # characters, of the debate that is spoken of
LINE_LENGTH = 100  # and of each in a list

STARTED = "Debate `{code}` is queued: **{topic}**"
MIRRORED = "Debate `{code}` is its mirror: the same with sides exchanged, in a thread of its own."
CHOSEN = "You chose {what}. Nobody else is told before the reveal."
WARNING = "⚠ {warning}"
STOPPED = {
    "debate": "Debate `{code}` is asked to stop; what was said so far is kept.",
    "vote": "The vote on debate `{code}` is closed; the reveal follows in its thread.",
}
STOPPED_PAIR = (
    "The votes on debate `{code}` and on its mirror `{mirror}` are closed; the reveals follow in "
    "their threads."
)

ABOUT = "Debate `{code}`: **{topic}**"
STATUSES = {
    Status.QUEUED: "It waits for its turn.",
    Status.RUNNING: "It runs: {turns} of {total} turns are held.",
    Status.VOTING: "All turns are held; the vote opens when they are posted.",
    Status.CLOSED: "It is over, and the models are named in its thread.",
    Status.PARTIAL: "It stopped before its end.",
    Status.CANCELLED: "It was stopped.",
    Status.FAILED: "It could not go on.",
}
OVER: Mapping[Where, str] = {
    "thread": STATUSES[Status.CLOSED],
    "channel": "It is over. Its thread takes no messages, so the models are named in its channel.",
    "starter": "It is over. No message can be posted where it was held, so the result went to the "
    "one who started it.",
    "waiting": "It is over, and the result is being posted.",
    "nowhere": "It is over, but the result could not be posted. The command result shows it.",
}
RUNS_BY_THE_CLOCK = "It runs: {turns} turns are held."
JUDGING = "All {total} turns are held; the jury reads them."
VOTE_LEFT = "The vote is open for {minutes}."
VOTE_DUE = "The vote is being closed."
VOTE_TIED = "It closes together with the vote on its mirror, debate `{code}`."
GAPS = (
    "⚠ {n} message is missing in its thread, or may be; votes are counted, but decide nothing.",
    "⚠ {n} messages are missing in its thread, or may be; votes are counted, but decide nothing.",
)
VOTE_WAITS = "The vote stays open until people can vote on its mirror, debate `{code}`, too."
SEALED = "Nothing is told before the vote has closed."
NO_RESULT = "It has no result."

NO_DEBATES = "No debate was held here yet; start one."
STATES = {
    Status.QUEUED: "waits",
    Status.RUNNING: "runs",
    Status.VOTING: "vote open",
    Status.CLOSED: "over",
    Status.PARTIAL: "incomplete",
    Status.CANCELLED: "stopped",
    Status.FAILED: "failed",
}
VOTE_SOON = "vote opens soon"
DEBATE = "- `{code}` {state}, {when:%Y-%m-%d %H:%M} UTC, {format}: {topic}"


class DebateLine(Value):
    """What a channel may know of a debate at any time; `thread` is None until there is one."""

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

    @classmethod
    def of(cls, debate: Debate) -> DebateLine:
        """Take from a debate what gives nothing away."""
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
        )


class StartedAnswer(Answer):
    """A debate is queued; `models` (by contender) and `jurors` are those that were asked for.

    `mirror` is its mirror's, where one was asked for; `estimate` is for both then.
    """

    debate: DebateLine
    mirror: DebateLine | None = None
    estimate: Estimate
    warnings: tuple[str, ...] = ()
    models: Mapping[str, str] = {}
    jurors: tuple[str, ...] = ()

    def say(self, chat: Wording) -> Iterator[str]:
        """Say that a debate is queued, and what it will take."""
        yield STARTED.format(code=self.debate.code, topic=headline(self.debate.topic, TOPIC_LENGTH))
        if self.mirror:
            yield MIRRORED.format(code=self.mirror.code)
        yield f"{estimated(self.estimate)}."
        chosen = [f"`{model}` for {side}" for side, model in self.models.items()]
        if self.jurors:
            chosen.append("the jury " + ", ".join(f"`{juror}`" for juror in self.jurors))
        if chosen:
            yield CHOSEN.format(what=" and ".join(chosen))
        yield from (WARNING.format(warning=warning) for warning in self.warnings)

    def public(self) -> StartedAnswer:
        """Return it without what was chosen."""
        return self.model_copy(update={"models": {}, "jurors": ()})


class StoppedAnswer(Answer):
    """A debate is asked to stop, or its vote was closed early; that on its `mirror` with it."""

    what: Literal["debate", "vote"]
    debate: DebateLine
    mirror: DebateLine | None = None

    def say(self, chat: Wording) -> Iterator[str]:
        """Say that a debate is stopped, or its vote closed."""
        if self.mirror is not None:
            yield STOPPED_PAIR.format(code=self.debate.code, mirror=self.mirror.code)
        else:
            yield STOPPED[self.what].format(code=self.debate.code)


class StatusAnswer(Answer):
    """How far a debate is: `turns` of `turns_total` are held, 0 where nobody knows yet.

    `why` says why it ended early, `revealed` where the models were named.
    `minutes_left` are those of an open vote; `mirror` is the debate whose vote closes with it.
    `gaps` counts what is missing in its thread, or may be.
    `waits` says what it waits for, if it does. `unread`: its vote closed without its reactions.
    """

    debate: DebateLine
    turns: int
    turns_total: int
    why: str = ""
    revealed: Where | None = None
    minutes_left: float | None = None
    mirror: DebateLine | None = None
    gaps: int = 0
    waits: str = ""
    unread: bool = False

    def say(self, chat: Wording) -> Iterator[str]:
        """Say how far a debate is."""
        debate = self.debate
        yield ABOUT.format(code=debate.code, topic=headline(debate.topic, TOPIC_LENGTH))
        if debate.status is Status.VOTING and self.minutes_left is not None:
            yield from _vote_open(self.minutes_left, self.mirror)
        elif debate.status is Status.RUNNING and not self.turns_total:
            yield RUNS_BY_THE_CLOCK.format(turns=self.turns)
        elif debate.status is Status.RUNNING and self.turns >= self.turns_total:
            yield JUDGING.format(total=self.turns_total)
        elif self.revealed is not None:
            yield OVER[self.revealed]
        else:
            yield STATUSES[debate.status].format(turns=self.turns, total=self.turns_total)
        if self.gaps:
            yield plural(GAPS, self.gaps)
        if self.unread:
            yield UNREAD
        if self.waits:
            yield self.waits
        if self.why:
            yield self.why


def _vote_open(minutes: float, mirror: DebateLine | None) -> Iterator[str]:
    if mirror is not None and minutes <= 0 and mirror.vote_deadline is None:
        yield VOTE_WAITS.format(code=mirror.code)
        return
    yield _vote_left(minutes)
    if mirror is not None:
        yield VOTE_TIED.format(code=mirror.code)


def _vote_left(minutes: float) -> str:
    return VOTE_LEFT.format(minutes=about_minutes(minutes)) if minutes > 0 else VOTE_DUE


class ResultAnswer(Answer):
    """How a debate ended; `reveal` is None while nothing may be told."""

    debate: DebateLine
    reveal: Reveal | None
    minutes_left: float | None = None

    def say(self, chat: Wording) -> Iterator[str]:
        """Say how a debate ended, or that nothing is told yet."""
        debate = self.debate
        yield ABOUT.format(code=debate.code, topic=headline(debate.topic, TOPIC_LENGTH))
        if self.reveal is not None:
            yield from reveal_lines(self.reveal)
        elif debate.status in (Status.QUEUED, Status.RUNNING, Status.VOTING):
            if self.minutes_left is not None:
                yield _vote_left(self.minutes_left)
            yield SEALED
        else:
            yield STATUSES[debate.status]
            yield NO_RESULT


class DebatesAnswer(Answer):
    """The community's newest debates, newest first."""

    debates: tuple[DebateLine, ...]

    def say(self, chat: Wording) -> Iterator[str]:
        """List debates, one a line."""
        if not self.debates:
            yield NO_DEBATES
        for debate in self.debates:
            yield DEBATE.format(
                code=debate.code,
                state=_state(debate),
                when=debate.created_at,
                format=debate.format,
                topic=headline(debate.topic, LINE_LENGTH),
            )


def _state(debate: DebateLine) -> str:
    """Say what `status` says of it, in a word or two."""
    if debate.status is Status.VOTING and debate.vote_deadline is None:
        return VOTE_SOON
    return STATES[debate.status]
