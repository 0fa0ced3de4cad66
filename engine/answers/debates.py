"""What commands answer on debates: queued, how far, how it ended; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.answers.answers import (
    DebateLine,
    DebatesAnswer,
    ResultAnswer,
    StartedAnswer,
    StatusAnswer,
    StoppedAnswer,
)
from engine.debate import Estimate, Status
from engine.messages import Where
from engine.text import headline
from engine.words.phrases import COST_UNKNOWN, SOON, plural
from engine.words.reveal import UNREAD, reveal_lines

TOPIC_LENGTH = 200  # characters, of the debate that is spoken of
LINE_LENGTH = 100  # and of each in a list

STARTED = "Debate `{code}` is queued: **{topic}**"
MIRRORED = "Debate `{code}` is its mirror: the same with sides exchanged, in a thread of its own."
ESTIMATE = "It takes about {calls} model calls (at most {calls_max}), {minutes}, {cost}."
COST = "{usd:.2f} USD (at most {usd_max:.2f})"
MINUTES = ("about {n} minute", "about {n} minutes")
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


def started_lines(answer: StartedAnswer) -> Iterator[str]:
    """Say that a debate is queued, and what it will take."""
    yield STARTED.format(code=answer.debate.code, topic=headline(answer.debate.topic, TOPIC_LENGTH))
    if answer.mirror:
        yield MIRRORED.format(code=answer.mirror.code)
    yield _estimate(answer.estimate)
    chosen = [f"`{model}` for {side}" for side, model in answer.models.items()]
    if answer.jurors:
        chosen.append("the jury " + ", ".join(f"`{juror}`" for juror in answer.jurors))
    if chosen:
        yield CHOSEN.format(what=" and ".join(chosen))
    yield from (WARNING.format(warning=warning) for warning in answer.warnings)


def _estimate(estimate: Estimate) -> str:
    cost = COST_UNKNOWN
    if estimate.usd is not None and estimate.usd_max is not None:
        cost = COST.format(usd=estimate.usd, usd_max=estimate.usd_max)
    return ESTIMATE.format(
        calls=estimate.calls,
        calls_max=estimate.calls_max,
        minutes=_minutes(estimate.minutes),
        cost=cost,
    )


def stopped_line(answer: StoppedAnswer) -> str:
    """Say that a debate is stopped, or its vote closed."""
    if answer.mirror is not None:
        return STOPPED_PAIR.format(code=answer.debate.code, mirror=answer.mirror.code)
    return STOPPED[answer.what].format(code=answer.debate.code)


def status_lines(answer: StatusAnswer) -> Iterator[str]:
    """Say how far a debate is."""
    debate = answer.debate
    yield ABOUT.format(code=debate.code, topic=headline(debate.topic, TOPIC_LENGTH))
    if debate.status is Status.VOTING and answer.minutes_left is not None:
        yield from _vote_open(answer.minutes_left, answer.mirror)
    elif debate.status is Status.RUNNING and not answer.turns_total:
        yield RUNS_BY_THE_CLOCK.format(turns=answer.turns)
    elif debate.status is Status.RUNNING and answer.turns >= answer.turns_total:
        yield JUDGING.format(total=answer.turns_total)
    elif answer.revealed is not None:
        yield OVER[answer.revealed]
    else:
        yield STATUSES[debate.status].format(turns=answer.turns, total=answer.turns_total)
    if answer.gaps:
        yield plural(GAPS, answer.gaps)
    if answer.unread:
        yield UNREAD
    if answer.waits:
        yield answer.waits
    if answer.why:
        yield answer.why


def _vote_open(minutes: float, mirror: DebateLine | None) -> Iterator[str]:
    if mirror is not None and minutes <= 0 and mirror.vote_deadline is None:
        yield VOTE_WAITS.format(code=mirror.code)
        return
    yield _vote_left(minutes)
    if mirror is not None:
        yield VOTE_TIED.format(code=mirror.code)


def _vote_left(minutes: float) -> str:
    return VOTE_LEFT.format(minutes=_minutes(minutes)) if minutes > 0 else VOTE_DUE


def result_lines(answer: ResultAnswer) -> Iterator[str]:
    """Say how a debate ended, or that nothing is told yet."""
    debate = answer.debate
    yield ABOUT.format(code=debate.code, topic=headline(debate.topic, TOPIC_LENGTH))
    if answer.reveal is not None:
        yield from reveal_lines(answer.reveal)
    elif debate.status in (Status.QUEUED, Status.RUNNING, Status.VOTING):
        if answer.minutes_left is not None:
            yield _vote_left(answer.minutes_left)
        yield SEALED
    else:
        yield STATUSES[debate.status]
        yield NO_RESULT


def debates_lines(answer: DebatesAnswer) -> Iterator[str]:
    """List debates, one a line."""
    if not answer.debates:
        yield NO_DEBATES
    for debate in answer.debates:
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


def _minutes(minutes: float) -> str:
    return SOON if minutes < 1 else plural(MINUTES, round(minutes))
