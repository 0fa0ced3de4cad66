"""What messages say in any chat, as Markdown: announcements, turns, votes; ready for translation.

Templates are filled with `str.format`; what is filled in is data and never read as one. What a
chat puts around it (colours, marks, buttons, small print) is its adapter's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.debate import Rehearsal, Violation
from engine.messages import (
    AgainInvite,
    Announcement,
    Phase,
    Progress,
    TurnPost,
    VoteInvite,
    Where,
)
from engine.words.tables import closing_fence

DEBATE = "Debate {code}"
CONDITIONS = "**Conditions:** {conditions}"
REHEARSALS: Mapping[Rehearsal, str] = {
    "speakers": "The speakers are rehearsal models: they recite prepared text and are not language "
    "models.",
    "some speakers": "A speaker here is a rehearsal model: it recites prepared text and is not a "
    "language model.",
    "jury": "The jury has rehearsal models, which are not language models: its verdict is a "
    "stand-in.",
}
REHEARSAL = "🎭 **Rehearsal:** {who}"
SETTING = "Format {format} · language {language} · rounds: {rounds}"
SIDES = {"A": "**A** argues for it", "B": "**B** argues against it"}
SIDE = "**{side}** takes part"
JURY = ("{n} juror reads it blind", "{n} jurors read it blind")
JURY_SEEING = ("{n} juror reads it with names", "{n} jurors read it with names")
VOTE_LASTS = ("the vote lasts {n} minute", "the vote lasts {n} minutes")
SOON = "less than a minute"
MINUTES = "{n:.3g} minutes"
COST = "{usd:.2f} USD (at most {most:.2f})"
COST_UNKNOWN = "at a cost that nobody knows"
WORDS = "{words} words"
WORDS_OF = "{words} of {limit} words"
TIME_OF = "{used} of {given}"
VIOLATION = "**Against the rules:** {rule}"
VIOLATION_MARK = "⚠️"
VIOLATIONS = {
    "too_many_words": "{measured:g} words where {limit:g} are allowed",
    "too_many_arguments": "{measured:g} arguments where {limit:g} are allowed",
    "long_synthesis": "a synthesis of {measured:g} characters where {limit:g} are allowed",
    "long_decision": "a decision of {measured:g} words where {limit:g} are allowed",
    "missing_synthesis": "not in two parts with a line of hyphens between them",
    "long_reply": "a reply of {measured:,.0f} characters, cut after {limit:,.0f}",
    "overtime": "{measured:g} words where the time allows {limit:g}",
    "replaced_characters": "characters that cannot be shown ({measured:g})",
    "unreadable": "not in the form that was asked for",
    "too_few_arguments": "{measured:g} arguments where {limit:g} are needed",
    "short_claim": "a claim of {measured:g} characters where {limit:g} are needed",
    "short_reasoning": "reasoning of {measured:g} characters where {limit:g} are needed",
    "short_evidence": "evidence of {measured:g} characters where {limit:g} are needed",
}
OTHER_VIOLATION = "{kind} ({measured:g}, at most {limit:g})"
COUNTED_VIOLATION = "{kind} ({measured:g})"
ESTIMATE = "It takes about {calls} model calls (at most {most}), {minutes}, {cost}"
STATE = "State"
STATES: Mapping[Phase, str] = {
    "queued": "⏳ waits for its turn",
    "running": "🗣️ {round}{turns} of {total} turns held in {thread}",
    "judging": "⚖️ all {total} turns held, the jury reads, in {thread}",
    "voting": "🗳️ the vote is open in {thread} until {until}",
    "closed": "✅ over, the models are named in {thread}",
    "partial": "🟠 stopped before its end. {reason}",
    "cancelled": "⏹️ stopped. {reason}",
    "failed": "❌ it could not go on. {reason}",
    "gone": "❌ ended: its thread is gone, or Rostrum may not post there. {reason}",
}
OVER: Mapping[Where, str] = {
    "thread": STATES["closed"],
    "channel": "✅ over, the models are named in this channel: {thread} takes no messages",
    "starter": "✅ over; no message can be posted, so the result went to the one who started it",
    "waiting": "✅ over, the result is being posted in {thread}",
    "nowhere": "✅ over, but the result could not be posted; the command result shows it",
}
VOTE_TIED = "🗳️ the vote is open in {thread} until {until}, with that on its mirror {mirror}"
VOTE_WAITS = "🗳️ the vote is open in {thread} and closes together with that on its mirror {mirror}"
VOTE_HELD_UP = "⏳ {reason} It is held in {thread}."
RUNS_BY_THE_CLOCK = "🗣️ {round}{turns} turns held in {thread}"
IN_ROUND = "{round}: "
TURN = "{seat} · {round} · turn {number} of {total}"
TURN_OF_UNKNOWN = "{seat} · {round} · turn {number}"
STANCE_LASTS = ("The debate begins in {n} second.", "The debate begins in {n} seconds.")
INVITE = "Vote"
INVITE_ASKS = "**Who debated better?**"
OPTION = "{emoji} {name}"
INVITE_TERMS = "{lasts}; {quorum}."
INVITE_MIRRORED = "It closes together with the vote on the mirrored debate."
QUORUM = ("{n} vote makes it count", "{n} votes make it count")
ANY_QUORUM = "any number of votes counts"
WITHDRAW = "Take my vote back"
STANCE_BEFORE = "Before the debate"
STANCE_AFTER = "After the debate"
STANCE_QUESTION = "Where do you stand? {options}"
STANCE_ASKS = "**{topic}**\n" + STANCE_QUESTION
REVIEW_HINT = "{code}: who debated better?"
AGAIN = "And now that you know?"
AGAIN_ASKS = (
    "**Who debated better?** You have read who they were and what others said. Answer again, "
    "whether or not you change your mind: your vote above stays as it is."
)
AGAIN_LASTS = "Answers are taken for {lasts}."
HOURS = ("{n} hour", "{n} hours")
MINUTES_LEFT = ("{n} minute", "{n} minutes")
CLOSED = "The vote is closed"
CLOSED_EARLY = "The vote was closed early"
CLOSED_WITH = ("{n} vote was cast.", "{n} votes were cast.")
OPTIONS = {
    "tie": "tie",
    "weak": "both weak",
    "up": "for it",
    "down": "against it",
    "unsure": "unsure",
}
REVEAL = "Reveal"
LEVELS = {"info": "Note", "warning": "Warning", "error": "Error"}
STOP = "Stop"
STATUS = "Status"
DEFECT = "Rostrum itself failed at this; its log says where. Please tell whoever runs it."
TOPIC_HINT = "A motion to argue for and against"
VOTED = "Your vote is recorded: {option}. Press it again, or another, to change it."
VOTE_WITHDRAWN = "Your vote is taken back."
VOTE_CLOSED = "This vote is closed; your press changed nothing."
VOTE_FORGOTTEN = (
    "You asked to be forgotten, so nothing is stored of you in this debate. With /debate optin you "
    "can vote on debates that begin from then on."
)
VOTE_UNKNOWN = "There is no vote at this message, or not yet; try again in a moment."


def plural(forms: tuple[str, str], n: float, **more: object) -> str:
    """Fill in the singular or the plural form."""
    return forms[n != 1].format(n=f"{n:g}", **more)


def option_name(option: str) -> str:
    """Return how people read an option of a ballot."""
    return OPTIONS.get(option, option)


def announced(debate: Announcement) -> Iterator[str]:
    """Return what is announced of a debate, as lines."""
    plain = "\n" in debate.topic or "**" in debate.topic
    yield debate.topic if plain else f"**{debate.topic}**"
    if debate.conditions:
        yield CONDITIONS.format(conditions=debate.conditions)
    yield ""
    yield " · ".join(SIDES.get(s) or SIDE.format(side=s) for s in debate.contenders)
    yield SETTING.format(
        format=debate.format, language=debate.language, rounds=", ".join(debate.rounds)
    )
    if debate.rehearsal:
        yield rehearsed(debate.rehearsal)
    jury = plural(JURY if debate.blind else JURY_SEEING, debate.jurors)
    yield f"{jury} · {plural(VOTE_LASTS, debate.vote_minutes)}"


def rehearsed(who: Rehearsal) -> str:
    """Say who of a debate are rehearsal models."""
    return REHEARSAL.format(who=REHEARSALS[who])


def estimated(debate: Announcement) -> str:
    """Return what a debate is expected to take."""
    estimate, cost = debate.estimate, COST_UNKNOWN
    if estimate.usd is not None and estimate.usd_max is not None:
        cost = COST.format(usd=estimate.usd, most=estimate.usd_max)
    minutes = SOON if estimate.minutes < 1 else MINUTES.format(n=estimate.minutes)
    return ESTIMATE.format(
        calls=estimate.calls, most=estimate.calls_max, minutes=minutes, cost=cost
    )


def stoppable(debate: Announcement) -> bool:
    """Tell whether an announced debate can still be stopped, by what is known of it."""
    progress = debate.progress
    return progress is None or progress.phase in ("queued", "running", "judging")


def progressed(progress: Progress, *, thread: str, until: str = "") -> str:
    """Return how far a debate is; `thread` and `until` are written as the chat shows them."""
    return _state(progress).format(
        turns=progress.turns,
        total=progress.total or progress.turns,
        round=IN_ROUND.format(round=progress.round) if progress.round else "",
        thread=thread,
        until=until,
        mirror=progress.mirror,
        reason=progress.reason,
    )


def _state(progress: Progress) -> str:
    if progress.phase == "running" and not progress.total:
        return RUNS_BY_THE_CLOCK
    if progress.phase == "voting" and progress.reason:
        return VOTE_HELD_UP
    if progress.phase == "voting" and progress.mirror:
        return VOTE_WAITS if progress.until is None else VOTE_TIED
    if progress.phase == "closed":
        return OVER[progress.revealed or "thread"]
    return STATES[progress.phase]


def turn_title(turn: TurnPost) -> str:
    """Return whose turn it is, and which."""
    template = TURN if turn.total else TURN_OF_UNKNOWN
    return template.format(seat=turn.seat, round=turn.round, number=turn.number, total=turn.total)


def turn_used(turn: TurnPost) -> str:
    """Return the words and the time that a turn took."""
    used = words_used(turn.words, turn.limit)
    if turn.seconds is None:
        return used
    time = _clock(turn.seconds)
    if turn.seconds_limit:
        time = TIME_OF.format(used=time, given=_clock(turn.seconds_limit))
    return f"{used} · {time}"


def words_used(words: int, limit: int) -> str:
    """Return how many words there are, of how many; of any number for a limit of 0."""
    return (WORDS_OF if limit else WORDS).format(words=words, limit=limit)


def _clock(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02d}"


def turn_text(turn: TurnPost) -> str:
    """Return a turn's text with the rules that it broke below it."""
    broken = "".join(f"\n\n{VIOLATION_MARK} {said}" for said in violations(turn))
    # A fence that a turn leaves open would swallow what follows it.
    return turn.text + closing_fence(turn.text) + broken if broken else turn.text


def violations(turn: TurnPost) -> Iterator[str]:
    """Return a line for each rule that a turn broke."""
    return (VIOLATION.format(rule=broken_rule(broken)) for broken in turn.violations)


def broken_rule(broken: Violation) -> str:
    """Return which rule a turn broke, and by how much."""
    other = OTHER_VIOLATION if broken.limit else COUNTED_VIOLATION
    kind = broken.kind.replace("_", " ")
    template = VIOLATIONS.get(broken.kind, other)
    return template.format(kind=kind, measured=broken.measured, limit=broken.limit)


def again_lasts(invite: AgainInvite) -> str:
    """Return how long it is asked again."""
    return AGAIN_LASTS.format(lasts=_span(invite.minutes))


def _span(minutes: float) -> str:
    return plural(HOURS, minutes / 60) if minutes >= 60 else plural(MINUTES_LEFT, minutes)


def invite_terms(invite: VoteInvite) -> str:
    """Return how long a vote lasts, and what makes it count."""
    lasts = plural(VOTE_LASTS, invite.minutes)
    quorum = plural(QUORUM, invite.quorum) if invite.quorum else ANY_QUORUM
    terms = INVITE_TERMS.format(lasts=lasts[0].upper() + lasts[1:], quorum=quorum)
    return f"{terms} {INVITE_MIRRORED}" if invite.mirrored else terms
