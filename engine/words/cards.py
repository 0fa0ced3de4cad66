"""The wording and layout of each kind of message: one card per message.

Templates are filled with `str.format`; values are data and are never parsed as templates. Colours,
marks and small print belong to the adapters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import count
from pkgutil import resolve_name

from engine.values.debate import BallotKind, Length, Violation, not_given
from engine.values.language import N_
from engine.values.messages import (
    AgainInvite,
    Alert,
    Announcement,
    Before,
    File,
    Message,
    Notice,
    Phase,
    Progress,
    Report,
    Reveal,
    Skipped,
    TurnPost,
    VoteClosed,
    VoteInvite,
    Where,
)
from engine.values.text import headline, marked
from engine.words.buttons import (
    DETAILS,
    WHY,
    Button,
    again_buttons,
    ballot_buttons,
    debate_buttons,
    remark_button,
    result_buttons,
)
from engine.words.card import BallotPaper, Card, CardDetails, CardSpeaker, markdown_of
from engine.words.details import detail_lines, reason_lines
from engine.words.phrases import (
    estimated,
    lasting,
    rehearsed,
    round_name,
    round_names,
    sentence_case,
    source_name,
    to_read,
    told_reason,
)
from engine.words.reveal import ASIDE, news_lines, reveal_lines
from engine.words.translation import in_its_language, plural, say

DEBATE = N_("Debate")
THIS_DEBATE = N_("this debate")
REMATCH = N_("Rematch of {debate}: the same models. Who has which side is drawn again, and secret.")
SWAPPED = N_(
    "Swapped sides: each model of {debate} now argues the other side. You can know who is who, so "
    "this vote names no winner for the record."
)
TOPIC_LENGTH = 200  # characters, of the debate that a reveal is of
LENGTHS: Mapping[Length, str] = {
    Length.SHORT: N_("{format} (short)"),
    Length.LONG: N_("{format} (long)"),
}
SIDES = {"A": N_("**{side}** argues for it"), "B": N_("**{side}** argues against it")}
ARGUES = N_("**{side}** argues: {stance}")
BLIND = {True: N_("blind"), False: N_("with names")}
VOTE_LASTS = N_("the vote lasts {span}")
VIOLATIONS = {
    "too_many_words": N_("{measured:g} words; the limit is {limit:g}"),
    "too_few_words": N_("{measured:g} words; at least {limit:g} are needed"),
    "too_many_arguments": N_("{measured:g} arguments; the limit is {limit:g}"),
    "long_synthesis": N_("a synthesis of {measured:g} characters; the limit is {limit:g}"),
    "long_decision": N_("a decision of {measured:g} words; the limit is {limit:g}"),
    "no_decision": N_("no decision that can be read"),
    "long_reply": N_("a reply of {measured:,.0f} characters, cut to {limit:,.0f}"),
    "cut_off": N_("it breaks off: the model ran out of room"),
    "repeats": N_("it says one sentence {measured:g} times"),
    "cut": N_(
        "{measured:g} words, cut after {limit:g}: the rest of the time is for those who have "
        "not spoken"
    ),
    "overtime": N_("{measured:g} words; the time allows {limit:g}"),
    "shortened": N_("{measured:g} words, cut after {limit:g}"),
    "missed": N_("nothing was written in time"),
    "blocked": N_("what was written has a word that is not allowed here"),
    "flagged": N_("the automatic check for harmful content flagged what was written"),
    "replaced_characters": N_("characters that cannot be shown ({measured:g})"),
    "refusal": N_("the model declined to argue"),
    "unreadable": N_("not in the requested form"),
    "too_few_arguments": N_("{measured:g} arguments; at least {limit:g} are needed"),
    "short_claim": N_("a claim of {measured:g} characters; at least {limit:g} are needed"),
    "short_reasoning": N_("reasoning of {measured:g} characters; at least {limit:g} are needed"),
    "short_evidence": N_("evidence of {measured:g} characters; at least {limit:g} are needed"),
}
STATE = N_("State")
STATES: Mapping[Phase, str] = {
    "queued": N_("⏳ Waiting to start"),
    "asked": N_("⏳ Waiting for the person who was asked to argue. See {thread}."),
    "running": N_("🗣️ {round}{turns} of {total} turns posted in {thread}"),
    "judging": N_("⚖️ The jury is reading. All {total} turns are in {thread}."),
    "voting": N_("🗳️ Vote now in {thread}: closes {until}"),
    "closed": N_("✅ Read the whole debate in {thread}"),
    "partial": N_("🟠 Ended early. {reason}"),
    "cancelled": N_("⏹️ Stopped. {reason}"),
    "failed": N_("❌ Failed. {reason}"),
    "gone": N_("❌ Ended: its thread is gone, or Rostrum may not post there. {reason}"),
}
OVER: Mapping[Where, str] = {
    "thread": STATES["closed"],
    "channel": N_("✅ The result is in this channel, as {thread} takes no messages"),
    "starter": N_(
        "✅ Finished. Nothing can be posted here, so the person who started it got "
        "the result privately."
    ),
    "waiting": N_("✅ Finished. The result is being posted in {thread}."),
    "nowhere": N_(
        "✅ Finished, but the result could not be posted. The command `result` shows it."
    ),
}
VOTE_TIED = N_("🗳️ Vote now in {thread}: closes {until}, together with its mirror {mirror}")
WRITES = N_("✍️ {writing} is writing the {round} · {turns} of {total} turns posted in {thread}")
WRITE = N_("✍️ {writing} are writing the {round} · {turns} of {total} turns posted in {thread}")
INVITE = N_("Vote")
INVITE_MIRRORED = N_("It closes together with the vote on the mirrored debate.")
PERSON_ARGUES = N_("**{side}** is a person, not a model")
BY_A_PERSON = N_("written by a person")
CLOSED_EARLY = N_("The vote was closed early")
REVEAL = N_("Reveal")
LEVELS = {"info": N_("Note"), "warning": N_("Warning"), "error": N_("Error")}

SCHEDULE = N_("Schedule")
ALERT_TITLE = N_("Warning")
UNNAMED: Mapping[str, str] = {
    "deleted": N_(
        "In debate {code} both sides now speak under Rostrum's own name, as its webhook in the "
        "channel was deleted. Rostrum makes a new one for later debates; take Manage Webhooks from "
        "it if you do not want that."
    ),
    "full": N_(
        "In debate {code} both sides speak under Rostrum's own name, as the channel has as "
        "many webhooks as Discord allows. Delete one that is not needed."
    ),
    "refused": N_(
        "In debate {code} a side speaks under Rostrum's own name, as this platform does not "
        "allow the name that it was given. Nothing needs to be done."
    ),
    "scope": N_(
        "In debate {code} both sides speak under Rostrum's own name, as it lacks the scope "
        "chat:write.customize. An admin can add it to the app and reinstall the app."
    ),
}


# By kind of message; what few debates have is imported when it is first shown.
CARDS: Mapping[str, str] = {
    "announcement": "cards:announcement_card",
    "turn": "cards:turn_card",
    "vote_invite": "cards:vote_card",
    "vote_closed": "cards:closed_card",
    "reveal": "cards:reveal_card",
    "notice": "cards:notice_card",
    "alert": "cards:alert_card",
    "skipped": "cards:skipped_card",
    "report": "cards:report_card",
    "stance_invite": "invitations:stance_card",
    "again_invite": "invitations:again_card",
    "round_invite": "invitations:round_card",
    "confidence_invite": "invitations:confidence_card",
    "questions_invite": "invitations:questions_card",
    "questions_closed": "invitations:answers_card",
    "guest_invite": "invitations:guest_card",
    "speak_invite": "invitations:speak_card",
    "league": "league:league_card",
    "scoreboard": "scores:board_card",
    "arc": "scores:arc_card",
}


@in_its_language
def card_of(message: Message) -> Card:
    """Return what a message shows."""
    render: Callable[[Message], Card] = resolve_name(f"engine.words.{CARDS[message.kind]}")
    return render(message)


@in_its_language
def plain_text(message: Message) -> str:
    """Return a message as plain text, the fallback for a failed rendering.

    Raises ValueError for a message with a ballot or buttons.
    """
    match message:
        case TurnPost():  # in as few steps as that takes
            return f"{turn_title(message)}\n{message.text}"
        case Notice():
            return message.text
        case Reveal():
            message = message.model_copy(update={"code": ""})
    card = card_of(message)
    if card.ballot or card.buttons:
        raise ValueError(f"A message of kind {message.kind} is more than its text.")
    return "\n".join(filter(None, (card.title, markdown_of(card, {}), card.small)))


def closed_card(closed: VoteClosed) -> Card:
    """Return the card of a vote that has closed."""
    title = say(CLOSED_EARLY if closed.early else N_("The vote is closed"))
    cast = plural("{n} vote was cast.", "{n} votes were cast.", closed.votes)
    return Card(title, "vote", lines=(cast,))


def notice_card(notice: Notice) -> Card:
    """Return the card of a notice."""
    return Card(say(LEVELS[notice.level]), notice.level, lines=(notice.text,))


def report_card(report: Report) -> Card:
    """Return the card of a format's own text."""
    return Card(report.title, report.side, text=report.text, files=report.files)


def alert_card(alert: Alert) -> Card:
    """Return the card of what managers have to know."""
    return Card(say(ALERT_TITLE), "warning", lines=tuple(_alerted(alert)))


def skipped_card(skipped: Skipped) -> Card:
    """Return the card of a scheduled debate that was skipped."""
    said = say(
        "The debate of {due} was skipped. {why}",
        due=skipped.due,
        why=told_reason(skipped.why),
    )
    return Card(
        say(SCHEDULE),
        "info",
        lines=(
            said,
            say(
                "Next one: {time}. As long as the cause is the same, this is not said again.",
                time=skipped.following,
            ),
        ),
    )


def _alerted(alert: Alert) -> Iterator[str]:
    if alert.unnamed:
        yield say(UNNAMED[alert.unnamed], code=alert.code)
        return
    yield say(
        "Today's debates in this community have used or reserved at least {percent:g} % of the "
        "{usd:.2f} USD for a day. Debate {code} passed that mark. Once nothing is left, new "
        "debates have to wait until tomorrow (UTC).",
        percent=alert.percent,
        usd=alert.usd,
        code=alert.code,
    )
    yield say(
        "`/debate settings` shows the amount and can lower it; the operator of Rostrum can raise "
        "it."
    )


# --- the announcement --------------------------------------------------------------------


def announcement_card(debate: Announcement) -> Card:
    """Return the card of an announcement, or of how its debate ended."""
    progress = debate.progress
    if progress is not None and progress.result is not None:
        return _news(debate, progress, progress.result)
    return Card(
        say(DEBATE),
        "info",
        debate.topic,
        lines=(*_held_before(debate.before), *_terms(debate), *_on_the_web(debate.page)),
        code=debate.code,
        small=estimated(debate.estimate),
        state=debate.progress,
        buttons=debate_buttons(
            debate.code,
            stoppable=progress is None
            or progress.phase in ("queued", "asked", "running", "judging"),
        ),
    )


def _news(debate: Announcement, progress: Progress, result: Reveal) -> Card:
    """Return what an announcement becomes at the end: the outcome, and why."""
    # While people vote on a mirror there is no rematch.
    two = debate.contenders == ("A", "B")
    again = () if progress.veiled else again_buttons(debate.code, two=two)
    return Card(
        say(DEBATE),
        "info",
        debate.topic,
        code=debate.code,
        lines=(
            *news_lines(result, veiled=progress.veiled),
            *tuple(reversed(_held_before(debate.before))),
            *_on_the_web(debate.page),
        ),
        state=progress,
        buttons=(*result_buttons(debate.code), *again),
    )


def _on_the_web(page: str) -> tuple[str, ...]:
    """Return the link to where everyone can read a debate, if there is one."""
    return (say("[Read it on the web]({link})", link=page),) if page else ()


def _held_before(before: Before | None) -> tuple[str, ...]:
    """Return what a rematch repeats, and who has which side."""
    if before is None:
        return ()
    linked = f"[{say(THIS_DEBATE)}]({before.link})" if before.link else f"`{before.code}`"
    return (say(SWAPPED if before.swapped else REMATCH, debate=linked), "")


def _terms(debate: Announcement) -> Iterator[str]:
    if debate.conditions:
        yield say("**Conditions:** {conditions}", conditions=debate.conditions)
    if debate.sources:
        names = " · ".join(map(source_name, count(1), debate.sources))
        yield say("**Sources that everyone reads:** {sources}", sources=names)
    if debate.searches:
        yield plural(
            "Before it begins, each side may look something up once; everyone reads what is found.",
            "Before it begins, each side may look things up {n} times; everyone reads what is "
            "found.",
            debate.searches,
        )
    yield ""
    if debate.stances:
        yield from (say(ARGUES, side=marked(s), stance=said) for s, said in debate.stances.items())
    elif debate.names:
        yield say(
            "At the table: {names}",
            names=" · ".join(f"**{debate.names[s]}**" for s in debate.contenders),
        )
    else:
        takes_part = N_("**{side}** takes part")
        sides = {s: SIDES.get(s, takes_part) for s in debate.contenders}
        yield " · ".join(say(text, side=marked(s)) for s, text in sides.items())
    if debate.guest:
        yield say(PERSON_ARGUES, side=marked(debate.guest))
    yield _format(debate)
    if debate.rehearsal:
        yield rehearsed(debate.rehearsal)
    yield f"{_jury(debate)} · {say(VOTE_LASTS, span=lasting(debate.vote_minutes))}"


def _format(debate: Announcement) -> str:
    """Return what the format is like, and how long the debate takes to read."""
    about = say(debate.about) if debate.about else ""
    length = LENGTHS.get(debate.length)
    format = say(length, format=debate.format) if length else debate.format
    template = N_("**{format}**: {about}") if about else N_("**{format}**: {rounds}")
    rounds = round_names(debate.rounds)
    said = say(template, format=format, about=about, rounds=rounds)
    reading = debate.estimate.reading
    return f"{said} · {to_read(reading)}" if reading else said


def _jury(debate: Announcement) -> str:
    """Return how many jurors will read, and whether they know the models."""
    how, n = say(BLIND[debate.blind]), debate.jurors
    fewest, most = debate.readers or (n, n)
    if debate.single:
        return say("a single juror reads it {how}", how=how)
    if fewest == most:
        return plural("{n} juror reads it {how}", "{n} jurors read it {how}", most, how=how)
    return say("{fewest} to {most} jurors read it {how}", fewest=fewest, most=most, how=how)


def progressed(progress: Progress, *, thread: str, until: str = "") -> str:
    """Return a debate's progress; `thread` and `until` are already in the chat's own format."""
    named = round_name(progress.round) if progress.round else ""
    return say(
        _state(progress),
        turns=progress.turns,
        total=progress.total or progress.turns,
        round=named if progress.writing or not named else say("{round}: ", round=named),
        writing=say(", ").join(map(marked, progress.writing)),
        thread=thread,
        until=until,
        mirror=progress.mirror,
        reason=told_reason(progress.reason),
    )


def _state(progress: Progress) -> str:
    if progress.phase in ("running", "voting") and progress.reason:
        return N_("⏳ {reason} See {thread}.")
    if progress.phase == "running" and progress.writing and progress.total:
        return WRITES if len(progress.writing) == 1 else WRITE
    if progress.phase == "running" and not progress.total:
        return (
            N_("✍️ {writing} is writing the {round} · {turns} turns posted in {thread}")
            if progress.writing
            else N_("🗣️ {round}{turns} turns posted in {thread}")
        )
    if progress.phase == "voting" and progress.mirror:
        return (
            N_("🗳️ Vote now in {thread}: closes together with its mirror {mirror}")
            if progress.until is None
            else VOTE_TIED
        )
    if progress.phase == "closed":
        return OVER[progress.revealed or "thread"]
    return STATES[progress.phase]


# --- a turn ------------------------------------------------------------------------------


def turn_card(turn: TurnPost) -> Card:
    """Return the card of a turn."""
    broken = tuple(say("**Rule broken:** {rule}", rule=broken_rule(one)) for one in turn.violations)
    checked = ("", turn.quotations) if turn.quotations else ()
    return Card(
        turn_title(turn),
        turn.side,
        text=turn.text,
        warnings=broken,
        lines=checked,
        footer=_used(turn),
        speaker=CardSpeaker(turn.speaker, turn.side) if turn.speaker else None,
    )


def turn_title(turn: TurnPost) -> str:
    """Return the title of a turn: speaker, round and number."""
    template = (
        N_("{seat} · {round} · turn {number} of {total}")
        if turn.total
        else N_("{seat} · {round} · turn {number}")
    )
    return say(
        template,
        seat=turn.name or turn.seat,
        round=round_name(turn.round),
        number=turn.number,
        total=turn.total,
    )


def _used(turn: TurnPost) -> str:
    """Return a turn's words and time, and whether a person wrote it; nothing for a missed one."""
    if not_given(turn.violations):
        return ""
    used = words_used(turn.words, turn.limit)
    if turn.person:
        return f"{used} · {say(BY_A_PERSON)}"
    if turn.seconds is None:
        return used
    time = _clock(turn.seconds)
    if turn.seconds_limit:
        time = say("{used} of {given}", used=time, given=_clock(turn.seconds_limit))
    return f"{used} · {time}"


def words_used(words: int, limit: int) -> str:
    """Return a word count and its limit; a limit of 0 is none."""
    return say(
        N_("{words} of {limit} words") if limit else N_("{words} words"), words=words, limit=limit
    )


def _clock(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02d}"


def broken_rule(broken: Violation) -> str:
    """Return the rule that a turn broke, with the measured value and the limit."""
    other = (
        N_("{kind} ({measured:g}, at most {limit:g})") if broken.limit else "{kind} ({measured:g})"
    )
    kind = broken.kind.replace("_", " ")
    template = VIOLATIONS.get(broken.kind, other)
    return say(template, kind=say(kind), measured=broken.measured, limit=broken.limit)


# --- votes and the reveal ----------------------------------------------------------------


def vote_card(invite: VoteInvite) -> Card:
    """Return the card that asks people to vote."""
    paper = vote_on(invite)
    more = (
        (remark_button(invite.code, reasons=invite.reasons, percent=invite.percent),)
        if invite.code
        else ()
    )
    return Card(
        say(INVITE),
        "vote",
        invite.topic,
        lines=tuple(_recall(invite)),
        ballot=paper,
        small=invite_terms(invite),
        buttons=(*paper_buttons(paper), *more),
        closes=invite.until,
    )


def _recall(invite: VoteInvite) -> Iterator[str]:
    """Yield what was debated: each side's case in a line, and where it begins."""
    if invite.cases:
        yield say(
            N_("What each of them answers:")
            if invite.names
            else N_("What each side says at the end:")
        )
    for side, text in invite.cases.items():
        yield say("**{side}:** {text}", side=invite.names.get(side, marked(side)), text=text)
    if invite.guest:
        yield say(PERSON_ARGUES, side=marked(invite.guest))
    if invite.link:
        yield say("[Read it from the first turn]({link})", link=invite.link)
    if invite.topic:
        yield ""


def closes(card: Card, until: Callable[[datetime], str]) -> str:
    """Return when people can no longer answer, as a platform writes times; empty if unknown."""
    return say("Closes {until}", until=until(card.closes)) if card.closes else ""


def invite_terms(invite: VoteInvite) -> str:
    """Return a vote's quorum, and how long it lasts unless the time of its close is shown."""
    if invite.known:
        return say("The models are known, so every vote is an opinion.")
    quorum = (
        plural("{n} vote is enough", "needs {n} votes", invite.quorum)
        if invite.quorum
        else say("every vote counts")
    )
    if invite.until is not None:
        return sentence_case(quorum)
    lasts = say(VOTE_LASTS, span=lasting(invite.minutes))
    terms = say("{lasts} · {quorum}", lasts=sentence_case(lasts), quorum=quorum)
    return f"{terms} · {say(INVITE_MIRRORED)}" if invite.mirrored else terms


def vote_on(invite: VoteInvite | AgainInvite) -> BallotPaper:
    asks = say(
        N_("**Which answer is right?**")
        if invite.trial
        else N_("**Which final answer is best?**")
        if invite.names
        else N_("**Who debated better?**")
    )
    captions = {**invite.stances, **invite.names}
    return BallotPaper(asks, invite.options, invite.ballot, False, captions)


def paper_buttons(paper: BallotPaper) -> tuple[Button, ...]:
    """Return a ballot's buttons: options for a private one, withdraw alone for a secret one."""
    if paper.kind is BallotKind.OPEN:
        return ()
    return ballot_buttons(paper.options if paper.kind is BallotKind.PRIVATE else (), paper.stances)


def reveal_card(reveal: Reveal) -> Card:
    """Return the card of a reveal."""
    aside = (say(ASIDE[reveal.aside]), "") if reveal.aside else ()
    lines, pages = (*aside, *reveal_lines(reveal)), tuple(result_pages(reveal))
    opened = bool(reveal.code) and reveal.aside != "starter"  # to whom nothing else can be said
    below = () if opened else tuple(line for page in pages for line in with_heading(page))
    return Card(
        say(REVEAL),
        "vote",
        headline(reveal.topic, TOPIC_LENGTH),
        lines=(*lines, *below, *_on_the_web(reveal.page)),
        broadcast=reveal.broadcast,
        buttons=result_buttons(reveal.code) if opened else (),
        pages=pages if opened else (),
        picture=partial(_draw_result, reveal) if opened else None,
    )


@in_its_language
def _draw_result(reveal: Reveal) -> File:
    from engine.words.result_picture import result_picture  # not all platforms show pictures

    return result_picture(reveal)


def result_pages(reveal: Reveal) -> Iterator[CardDetails]:
    """Yield what stands behind a result: what each juror wrote, and the numbers."""
    if reasons := tuple(reason_lines(reveal)):
        yield CardDetails(say(WHY), reasons)
    yield CardDetails(say(DETAILS), tuple(detail_lines(reveal)))


def with_heading(page: CardDetails) -> tuple[str, ...]:
    """Return a page's lines below its heading, to stand below other lines."""
    return ("", f"**{page.heading}**", *page.lines)
