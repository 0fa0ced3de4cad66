"""A debate at a glance: its row of a list, and what its page says before the first turn.

While anything is sealed, that is how far the debate has come; then it is who won, and why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from engine.delivery.reasons import INTERRUPTED
from engine.store.debates import ListedResult
from engine.values.debate import Debate, Status
from engine.values.language import N_
from engine.values.messages import Reveal
from engine.values.text import headline, redact
from engine.values.verdicts import TIE
from engine.words.phrases import captioned, lasting, money, option_name
from engine.words.reveal import AGREE, jury_line, own_line, people_line
from engine.words.stored import moment
from engine.words.translation import plural, say

MOST_WORDS, MOST_LETTERS = 40, 280  # of why; letters where no spaces part words
MIRROR, BEFORE, AFTER = N_("Mirror"), N_("Rematch of"), N_("Rematch")
SECTIONS_WEIGHT = 30_000  # bytes of HTML, about
LONGEST = 60_000  # of a turn that is shown whole
Rows: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
"""The rows of one debate, by table of an export; `turns` may lack some, `SPOKEN` names all."""
_MARKUP = b"<>&\"'*_`#|[]-=~\n"
MARKUP_WEIGHT = 9  # bytes that a character which means something in Markdown becomes, about


class _LinkedDebate(NamedTuple):
    """Another debate that belongs to one; `kind` says how."""

    kind: str
    id: str
    code: str


class DebateSituation(NamedTuple):
    """What is known beside a debate: turns `expected` (0: unknown), who is `writing` the next.

    `votes` so far are None where nobody may know them. `stopped` is when an interrupted debate last
    did something, and `command` goes on with one that stopped. `thread` is where it is held.
    `public`: everyone may read it.
    """

    linked: tuple[_LinkedDebate, ...] = ()
    expected: int = 0
    writing: tuple[str, ...] = ()
    votes: int | None = None
    stopped: datetime | None = None
    command: str = ""
    thread: str = ""
    public: bool = False


class _SideCard(NamedTuple):
    """A contender; its `model` is empty while that is sealed. `drawn`: at random."""

    side: str
    name: str
    stance: str
    model: str
    won: bool
    drawn: bool = False


class PageHead(NamedTuple):
    """What stands above a debate's turns; `outcome` and `why` are Markdown, empty while sealed.

    `facts` are how long it took and its cost, `news` what goes on, and `trouble` what an operator
    reads of a debate that stopped: the model, the cause, and the command that goes on with it.
    `below` are the sections that a reader can go to.
    """

    cards: tuple[_SideCard, ...]
    outcome: tuple[str, ...] = ()
    agree: bool | None = None
    agreement: str = ""
    why: str = ""
    facts: tuple[str, ...] = ()
    news: tuple[str, ...] = ()
    trouble: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    situation: DebateSituation = DebateSituation()


def make_head(
    debate: Debate,
    item: Item,
    reveal: Reveal | None,
    situation: DebateSituation,
    turns: int,
    cost: tuple[int, float | None] | None,
) -> PageHead:
    """Return a debate's head, in the language spoken.

    `cost` is its calls and USD; None for those who may not read it, who read no cause either.
    """
    head = PageHead(
        cards=tuple(_cards(debate, item, reveal)),
        facts=tuple(_facts(debate, cost)),
        news=tuple(_news(debate, situation, turns)),
        trouble=tuple(_trouble(debate, item, situation)) if cost is not None else (),
        situation=situation,
    )
    if reveal is None:
        return head
    outcome = (people_line(reveal), jury_line(reveal), own_line(reveal))
    why = reveal.why.text if reveal.why else ""
    has = {"ballots": bool(reveal.jurors), "people": any(reveal.tally.counts.values())}
    return head._replace(
        outcome=tuple(redact(line) for line in outcome if line),
        agree=reveal.agree,
        agreement="" if reveal.agree is None else say(AGREE[reveal.agree]),
        why=redact(brief(why)),
        below=tuple(name for name, there in has.items() if there),
    )


def brief(text: str) -> str:
    """Return why a jury decided so, in at most forty words."""
    words = text.split()
    first = " ".join(words[:MOST_WORDS]) + (" …" if words[MOST_WORDS:] else "")
    return headline(first, MOST_LETTERS)


def _cards(debate: Debate, item: Item, reveal: Reveal | None) -> Iterator[_SideCard]:
    request, names = debate.request, debate.setup.called
    models, won = dict(item.models), _winner(reveal)
    stances = captioned(request.sides, request.stances)
    for side in request.sides:
        yield _SideCard(
            side=side,
            name=option_name(side, names),
            stance="" if side in names else redact(stances.get(side, "")),
            model=models.get(side, ""),
            won=side == won,
            drawn=side in models and side in request.drawn,
        )


def _winner(reveal: Reveal | None) -> str:
    """Return the side that people and jury chose, as far as they did; empty where they differ."""
    if reveal is None:
        return ""
    own = reveal.own.winner if reveal.own else None
    chosen = {reveal.tally.winner, reveal.verdict.winner} - {None} or {own}
    winner = chosen.pop() if len(chosen) == 1 else None
    return winner if winner and winner != TIE else ""


def _facts(debate: Debate, cost: tuple[int, float | None] | None) -> Iterator[str]:
    if debate.opened_at and debate.vote_opened_at:
        began, ended = (
            at.replace(microsecond=0) for at in (debate.opened_at, debate.vote_opened_at)
        )
        if ended > began:
            yield say("held in {span}", span=lasting((ended - began).total_seconds() / 60))
    if cost is not None and cost[0]:
        yield money(cost[1])


def _news(debate: Debate, situation: DebateSituation, turns: int) -> Iterator[str]:
    """Yield how far a debate has come."""
    if debate.status is Status.RUNNING and situation.expected > turns:
        number, of = turns + 1, situation.expected
        if len(situation.writing) == 1:
            (who,) = situation.writing
            yield say("turn {number} of {of}, {who} speaks", number=number, of=of, who=who)
        else:
            yield say("turn {number} of {of}", number=number, of=of)
    else:
        yield plural("{n} turn", "{n} turns", turns)
    if debate.status is Status.VOTING:
        if debate.vote_deadline is not None:
            yield say("open until {moment}", moment=moment(debate.vote_deadline))
        if situation.votes is not None:
            yield plural("{n} vote", "{n} votes", situation.votes)


def _trouble(debate: Debate, item: Item, situation: DebateSituation) -> Iterator[str]:
    """Yield what an operator reads of a debate that stopped."""
    if item.state == INTERRUPTED:
        yield (
            say("Interrupted since {moment}.", moment=moment(situation.stopped))
            if situation.stopped
            else say("No process holds it any more.")
        )
    elif debate.status is Status.FAILED:
        if debate.cause_model:
            yield debate.cause_model
        yield redact(debate.reason)
    if situation.command:
        yield say("Go on with: {command}", command=situation.command)


def mirror_and_rematches(
    mirror: str | None, before: str | None, after: Sequence[str]
) -> tuple[_LinkedDebate, ...]:
    """Return the debates that belong to one, by their ids."""
    found = [(MIRROR, mirror), (BEFORE, before), *((AFTER, one) for one in after)]
    return tuple(_LinkedDebate(kind, id_, id_[-6:].lower()) for kind, id_ in found if id_)


class Item(NamedTuple):
    """A debate in a list; `models`, by side, are those of one that has ended.

    `state` is a `Status`, or `INTERRUPTED`. `community` is empty in an export, which names none.
    `result` is empty until nothing in it is sealed, and where no list is shown.
    """

    id: str
    code: str
    topic: str
    state: str
    format: str
    language: str
    platform: str
    community: str
    series: str
    held: datetime
    models: tuple[tuple[str, str], ...]
    result: ListedResult = ListedResult()


def cut(text: str, most: int = LONGEST) -> str:
    """Return a text, or its beginning where it is too heavy for a page."""
    weight = weigh(text)
    if weight <= most:
        return text
    return text[: max(1, len(text) * most // weight)].rstrip() + " …"


def weigh(text: str) -> int:
    """Return about how many bytes a text takes as HTML."""
    written = text.encode()
    return len(written) + MARKUP_WEIGHT * (len(written) - len(written.translate(None, _MARKUP)))
