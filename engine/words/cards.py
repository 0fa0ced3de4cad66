"""The wording and layout of each kind of message: one card per message.

Templates are filled with `str.format`; values are data and are never parsed as templates. Colours,
marks and small print belong to the adapters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cache, partial
from itertools import count
from pkgutil import resolve_name

from engine.values.debate import BallotKind, Length, not_given
from engine.values.language import N_
from engine.values.messages import (
    AgainInvite,
    Announcement,
    File,
    Message,
    Notice,
    Report,
    Reveal,
    TurnPost,
    VoteClosed,
    VoteInvite,
)
from engine.values.text import headline, marked
from engine.words.card import (
    DEBATE,
    DETAILS,
    LABEL_LENGTH,
    PREFIX,
    SURE,
    WHY,
    BallotPaper,
    Button,
    Card,
    CardDetails,
    CardSpeaker,
    held_before,
    on_the_web,
    result_buttons,
)
from engine.words.details import detail_lines, reason_lines
from engine.words.phrases import (
    NO_STANCES,
    estimated,
    lasting,
    option_name,
    rehearsed,
    round_name,
    round_names,
    sentence_case,
    source_name,
    to_read,
)
from engine.words.reveal import ASIDE, reveal_lines
from engine.words.translation import in_its_language, plural, say

STOP = N_("Stop")
STATUS = N_("Status")
TOPIC_LENGTH = 200  # characters, of the debate that a reveal is of
LENGTHS: Mapping[Length, str] = {
    Length.SHORT: N_("{format} (short)"),
    Length.LONG: N_("{format} (long)"),
}
SIDES = {"A": N_("**{side}** argues for it"), "B": N_("**{side}** argues against it")}
ARGUES = N_("**{side}** argues: {stance}")
BLIND = {True: N_("blind"), False: N_("with names")}
VOTE_LASTS = N_("the vote lasts {span}")
INVITE = N_("Vote")
INVITE_MIRRORED = N_("It closes together with the vote on the mirrored debate.")
PERSON_ARGUES = N_("**{side}** is a person, not a model")
BY_A_PERSON = N_("written by a person")
CLOSED_EARLY = N_("The vote was closed early")
REVEAL = N_("Reveal")
LEVELS = {"info": N_("Note"), "warning": N_("Warning"), "error": N_("Error")}


# By kind of message; what few debates have is imported when it is first shown.
CARDS: Mapping[str, str] = {
    "announcement": "cards:announcement_card",
    "turn": "cards:turn_card",
    "vote_invite": "cards:vote_card",
    "vote_closed": "cards:closed_card",
    "reveal": "cards:reveal_card",
    "notice": "cards:notice_card",
    "alert": "progress:alert_card",
    "skipped": "progress:skipped_card",
    "report": "cards:report_card",
    "stance_invite": "invitations:stance_card",
    "again_invite": "invitations:again_card",
    "round_invite": "invitations:round_card",
    "confidence_invite": "invitations:confidence_card",
    "questions_invite": "invitations:questions_card",
    "questions_closed": "invitations:answers_card",
    "guest_invite": "invitations:guest_card",
    "speak_invite": "invitations:speak_card",
    "league": "scores:league_card",
    "scoreboard": "scores:board_card",
    "arc": "scores:arc_card",
}

_found = cache(resolve_name)  # what makes the cards of a kind is imported with its first


@in_its_language
def card_of(message: Message) -> Card:
    """Return what a message shows."""
    render: Callable[[Message], Card] = _found(f"engine.words.{CARDS[message.kind]}")
    return render(message)


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


# --- the announcement --------------------------------------------------------------------


def debate_buttons(code: str, *, stoppable: bool) -> tuple[Button, ...]:
    """Return the buttons of a debate's announcement."""
    status = Button(f"{PREFIX}:status:{code}", say(STATUS))
    return (
        (Button(f"{PREFIX}:stop:{code}", say(STOP), danger=True), status)
        if stoppable
        else (status,)
    )


def announcement_card(debate: Announcement) -> Card:
    """Return the card of an announcement, or of how its debate ended."""
    progress = debate.progress
    if progress is not None and progress.result is not None:
        from engine.words.progress import news_card  # a terminal shows no end in its place

        return news_card(debate, progress, progress.result)
    return Card(
        say(DEBATE),
        "info",
        debate.topic,
        lines=(*held_before(debate.before), *_terms(debate), *on_the_web(debate.page)),
        code=debate.code,
        small=estimated(debate.estimate),
        state=debate.progress,
        buttons=debate_buttons(
            debate.code,
            stoppable=progress is None
            or progress.phase in ("queued", "asked", "running", "judging"),
        ),
    )


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


# --- a turn ------------------------------------------------------------------------------


def turn_card(turn: TurnPost) -> Card:
    """Return the card of a turn."""
    broken: tuple[str, ...] = ()
    if turn.violations:
        from engine.words.stored import broken_rule  # most turns break none

        rules = map(broken_rule, turn.violations)
        broken = tuple(say("**Rule broken:** {rule}", rule=rule) for rule in rules)
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


def remark_button(code: str, *, reasons: bool, percent: bool = False) -> Button:
    """Return the button with which a voter says more about their vote."""
    label = N_("Say why") if reasons else N_("Guess the models")
    return Button(f"{PREFIX}:remark:{code}", say(SURE if percent else label))


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


def ballot_buttons(
    options: tuple[str, ...], stances: Mapping[str, str] = NO_STANCES
) -> tuple[Button, ...]:
    """Return a button per option, then the one that withdraws a vote."""
    names = {option: option_name(option, stances, bare=True) for option in options}
    named = (
        Button(f"{PREFIX}:vote:{option}", headline(name, LABEL_LENGTH), option)
        for option, name in names.items()
    )
    return (*named, Button(f"{PREFIX}:withdraw", say("Withdraw my vote")))


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
        lines=(*lines, *below, *on_the_web(reveal.page)),
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
        yield say(WHY), reasons
    yield say(DETAILS), tuple(detail_lines(reveal))


def with_heading(page: CardDetails) -> tuple[str, ...]:
    """Return a page's lines below its heading, to stand below other lines."""
    heading, lines = page
    return ("", f"**{heading}**", *lines)
