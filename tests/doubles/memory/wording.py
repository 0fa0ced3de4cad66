"""How each message reads where there is nothing but plain text."""

from __future__ import annotations

from collections.abc import Iterator

from engine.messages import (
    AgainInvite,
    Announcement,
    ConfidenceInvite,
    JurorLine,
    Message,
    Notice,
    Reveal,
    RoundInvite,
    StanceInvite,
    TurnPost,
    VoteClosed,
    VoteInvite,
)
from engine.words.card import markdown_of
from engine.words.cards import card_of, progressed


def wording(message: Message) -> str:  # noqa: C901 - one case a message
    """Return all that a message says, as readable lines."""
    match message:
        case TurnPost():
            return "\n".join(_turn(message))
        case Announcement():
            return "\n".join(_announcement(message))
        case VoteInvite():
            options = ", ".join(message.options)
            return f"Vote: {options}. {message.minutes:g} minutes, quorum {message.quorum}."
        case StanceInvite():
            when = "after the debate" if message.after else f"{message.seconds:g} seconds"
            return f"Stance, {when}: {message.topic} {', '.join(message.options)}."
        case AgainInvite():
            options = ", ".join(message.options)
            return f"After the reveal: {options}. {message.minutes:g} minutes."
        case RoundInvite():
            return f"Round {message.round}: {', '.join(message.options)}."
        case ConfidenceInvite():
            return f"How clear: {', '.join(message.options)}."
        case VoteClosed():
            early = " early" if message.early else ""
            return (
                f"The vote closed{early} with {message.votes} votes: {', '.join(message.options)}."
            )
        case Reveal():
            return "\n".join(_reveal(message))
        case Notice():
            return f"{message.level}: {message.text}"
        case _:
            card = card_of(message)
            files = "".join(f"\n[file {file.name}]" for file in card.attached())
            return f"{card.title}\n{markdown_of(card, {})}{files}"


def _turn(turn: TurnPost) -> Iterator[str]:
    of = f" of {turn.limit}" if turn.limit else ""
    all_turns = f" of {turn.total}" if turn.total else ""
    yield f"{turn.seat}, {turn.round}, turn {turn.number}{all_turns}, {turn.words}{of} words"
    yield turn.text
    if turn.seconds is not None:
        yield f"Time: {turn.seconds} of {turn.seconds_limit} s"
    for violation in turn.violations:
        yield f"Violation: {violation.kind}, {violation.measured:g} of {violation.limit:g}"


def _announcement(debate: Announcement) -> Iterator[str]:
    yield f"Debate {debate.code}: {debate.topic}"
    if debate.conditions:
        yield f"Conditions: {debate.conditions}"
    yield f"Format {debate.format}, language {debate.language}, rounds {', '.join(debate.rounds)}"
    yield f"Contenders {', '.join(debate.contenders)}, {debate.jurors} jurors"
    yield f"About {debate.estimate.calls} calls; the vote takes {debate.vote_minutes:g} minutes"
    if debate.progress is not None:
        yield progressed(debate.progress, thread=debate.progress.thread or "")


def _reveal(reveal: Reveal) -> Iterator[str]:
    yield f"Reveal: {reveal.topic}"
    for contender, model in reveal.models.items():
        yield f"{contender}: {model}{' (drawn)' if contender in reveal.drawn else ''}"
    for seat, model in reveal.seats.items():
        yield f"{seat}: {model}"
    yield from (f"{was} was replaced by {now}" for was, now in reveal.replaced)
    if reveal.judges:
        yield f"Judged by {', '.join(reveal.judges)}"
    yield f"People: {reveal.tally.winner}, {reveal.tally.counts}, share {reveal.tally.share}"
    if reveal.unread:
        yield "The reactions could not be read."
    yield f"Jury: {reveal.verdict.winner}, {reveal.verdict.p} {reveal.verdict.problem}".rstrip()
    if reveal.persuasion is not None:
        moved = reveal.persuasion
        yield f"Persuaded: {moved.winner}, {moved.moved} of {moved.people}"
    yield from (f"After {one.round}: {one.counts}" for one in reveal.course)
    yield from map(_juror, reveal.jurors)
    yield f"Agree: {reveal.agree}; {reveal.calls} calls, {reveal.usd} USD"


def _juror(line: JurorLine) -> str:
    flag = ", contradictory" if line.contradictory else ""
    return f"{line.juror} ({''.join(line.order)}{flag}): {line.verdict or line.problem}"
