"""A revealed debate for statistics: choices, without texts."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import fmean
from typing import NamedTuple, TypeAlias, TypeVar

from engine.jury.rubric import find_rubric
from engine.stats.confidence import Sure, SureVote, compare, sure_votes
from engine.store import Archive, DebateRecord, ExportFilter
from engine.store.journal import PANEL
from engine.tally import count
from engine.values.debate import TurnOrder
from engine.values.errors import StoppedError
from engine.values.text import headline, redact, split_draft
from engine.values.topics import topic_id
from engine.values.verdicts import IMPORT, TIE, WEAK, Ballot, Question, Tally, Verdict, Vote
from engine.votes.close import platform_of, tally_labels

BlindGuess: TypeAlias = tuple[bool, int]
"""A blind guess: whether it was right, and how many models were on the menu."""


def guesses_in(record: DebateRecord) -> Iterator[BlindGuess]:
    """Yield the blind guesses of a debate that could be right, with no model replaced in it."""
    setup = record.debate.setup
    for guess in record.asked(Question.GUESS) if not setup.replaced else ():
        model = setup.request.sides[guess.step].ref
        if guess.gold and model in setup.menu:
            yield guess.option == model, len(setup.menu)


def leads_in(ballots: Iterable[Ballot]) -> dict[str, float]:
    """Count in how many ballots each criterion has the widest lead of the side that won."""
    widest: dict[str, float] = defaultdict(float)
    for ballot in ballots:
        sheet = ballot.scores or {}
        if not ballot.valid or ballot.audit or ballot.verdict not in sheet or len(sheet) < 2:
            continue
        own = sheet[ballot.verdict]
        others = [marks for side, marks in sheet.items() if side != ballot.verdict]
        leads = {name: mark - fmean(one[name] for one in others) for name, mark in own.items()}
        first = [name for name, lead in leads.items() if lead == max(leads.values())]
        for name in first:
            widest[name] += 1 / len(first)
    return dict(widest)


TITLE_LENGTH = 80
GIVEN = (Question.VOTE, Question.LABEL)  # in chats and on pages


class JurorBallot(NamedTuple):
    """A ballot: `verdict` is None for an invalid one, `usd` None for an unknown cost.

    `marks` are the points from 1 to 10 by side, none of an invalid one.
    """

    juror: str
    family: str
    order: tuple[str, ...]
    audit: bool
    verdict: str | None
    usd: float | None
    marks: Mapping[str, float] = {}


FIRST = "first"
"""The name of the jury that read a debate when it was held."""


class _JuryReading(NamedTuple):
    """What a jury made of a debate: as the fields of a row with these names."""

    jury: str | None
    p_a: float | None
    readings: tuple[JurorBallot, ...]
    leads: Mapping[str, float]


class KnownAnswer(NamedTuple):
    """A question whose right answer is known: the contenders who give it, under which protocol.

    `advocate` is the side that spoke alone, or that the first model chose. A round table is named
    as its format is.
    """

    protocol: str
    right: frozenset[str]
    advocate: str = ""


UNREAD = _JuryReading(None, None, (), {})


@dataclass(frozen=True, slots=True)
class Row:
    """A revealed debate, with its `id`.

    `people` is the winner by gold votes, `jury` that of a blind panel (a contender or "tie"),
    None without one; `gold` counts gold votes, with “neither” as a tie; `p_a` is the panel's, for
    two contenders; `closer` had the last word, None with simultaneous turns. `revised` has, for
    each gold voter, the vote and the answer after the reveal. `mixed`: a model was replaced, or not
    both sides spoke, so sides do not stand for models. `sure` compares votes with how clear their
    people found it, and `percents` are those who said how sure they are;
    `words` are those that each side spoke. `guesses` are blind ones at the models, `grounds` counts
    what voters said decided, and `leads` what did for jurors, where a voter said so.
    `crowds` counts gold votes by the platform where they were given, and `web` is the winner by
    labels given on pages. `choices` has each person and their gold choice, in the chat (or
    terminal) and on pages; empty unless asked for. `later` are juries that read it afterwards, by
    their jurors and how they read, as `x/a,y/b:all`; `jury_name` is that of its own. `arm` is the
    one of its `series` that it fell to; both are empty where there is none.
    """

    topic: str
    title: str
    language: str
    format: str
    models: Mapping[str, str]
    families: Mapping[str, str]
    people: str | None
    jury: str | None
    gold: Mapping[str, int]
    p_a: float | None
    closer: str | None
    blind: bool
    readings: tuple[JurorBallot, ...]
    revised: tuple[tuple[str, str], ...] = ()
    mixed: bool = False
    sure: tuple[Sure, ...] = ()
    percents: tuple[SureVote, ...] = ()
    words: Mapping[str, int] = field(default_factory=dict)
    guesses: tuple[BlindGuess, ...] = ()
    grounds: Mapping[str, int] = field(default_factory=dict)
    leads: Mapping[str, float] = field(default_factory=dict)
    crowds: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    web: str | None = None
    choices: Mapping[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    later: Mapping[str, _JuryReading] = field(default_factory=dict)
    jury_name: str = FIRST
    id: str = ""
    series: str = ""
    arm: str = ""
    trial: KnownAnswer | None = None

    @property
    def compared(self) -> bool:
        """Whether people and panel both decided."""
        return self.people is not None and self.jury is not None

    def credit(self, winner: str, side: str) -> float:
        """Return a side's credit: 1 for its win, an equal share of a tie."""
        return 1 / len(self.models) if winner == TIE else float(winner == side)

    def verdicts(self) -> dict[str, str]:
        """Return each juror's choice on a blind panel; inconsistent readings count as a tie."""
        said: dict[str, set[str]] = {}
        for reading in self.readings if self.blind else ():
            if reading.verdict is not None and not reading.audit:
                said.setdefault(reading.juror, set()).add(reading.verdict)
        return {juror: min(one) if len(one) == 1 else TIE for juror, one in said.items()}


def names_of(rows: Iterable[Row]) -> list[str]:
    """Return the names of all juries, the one that rows rest on first."""
    own = {row.jury_name: None for row in rows} or {FIRST: None}
    return [*own, *sorted({name for row in rows for name in row.later})]


def read_by(rows: Iterable[Row], name: str) -> Iterator[Row]:
    """Yield rows with a jury's verdict; one that it did not read has none."""
    for row in rows:
        if name == row.jury_name:
            yield row
        else:
            own = _JuryReading(row.jury, row.p_a, row.readings, row.leads)
            others = {row.jury_name: own, **row.later}
            read = others.pop(name, UNREAD)
            yield replace(row, **read._asdict(), jury_name=name, later=others)


def row_of(record: DebateRecord, *, people: bool = False) -> Row | None:
    """Reduce a record to a row; None without a closed vote between at least two models.

    With `people` it keeps who chose what.
    """
    request = record.debate.request
    sides = tuple(request.sides)
    if record.debate.revealed_at is None or len(sides) < 2 or request.guest:
        return None
    topic = redact(request.topic)
    tally = count(record.asked(Question.VOTE), sides, request.quorum)
    first = _jury(record, record.verdict, record.ballots)
    votes = [vote for vote in record.asked(Question.VOTE) if vote.reason != "scripted"]
    grounds = Counter(vote.ground for vote in votes if vote.ground)
    words: Counter[str] = Counter()
    for turn in record.turns:
        words[turn.side] += turn.words
    return Row(
        topic=topic_id(topic),
        title=headline(topic, TITLE_LENGTH),
        language=request.language,
        format=request.format,
        models={side: model.ref for side, model in request.sides.items()},
        families={side: model.family for side, model in request.sides.items()},
        people=tally.winner,
        jury=first.jury,
        gold=_count_choices(tally),
        id=record.debate.id,
        series=record.debate.series or "",
        arm=record.debate.arm or "",
        trial=_trial(record),
        p_a=first.p_a,
        closer=_closer(record),
        blind=record.debate.setup.panel.blind,
        readings=first.readings,
        revised=_revised(record),
        # Neither do sides stand for models where only one of them spoke, or none.
        mixed=bool(record.debate.setup.replaced)
        or (request.protocol is not None and not request.protocol.opposed),
        sure=tuple(compare(record.asked(Question.VOTE), sides)),
        percents=tuple(chain.from_iterable(sure_votes(record.asked(one), sides) for one in GIVEN)),
        words=dict(words),
        guesses=tuple(guesses_in(record)),
        grounds=grounds,
        leads=first.leads if grounds else {},
        crowds=_crowds(record),
        web=tally_labels(record.asked(Question.LABEL), sides).winner,
        choices=_choices(record) if people else {},
        later=_later(record),
    )


def _trial(record: DebateRecord) -> KnownAnswer | None:
    """Return who gives the right answer; at a round table, whose final answer names it."""
    request = record.debate.request
    if not record.answer or request.protocol is None:
        return None
    from engine.run.trial import SealedAnswer  # few answers are known

    answer = SealedAnswer.of(record.answer)
    if answer.side is not None:
        advocate = record.debate.setup.advocate
        return KnownAnswer(request.protocol.value, frozenset(answer.side), advocate)
    last = {turn.side: turn for turn in record.turns}
    final = {
        side: turn.text if turn.round == "draft" else split_draft(turn.text)[0]
        for side, turn in last.items()
    }
    named = (side for side, text in final.items() if answer.chosen_in(text) == answer.answer)
    return KnownAnswer(request.format, frozenset(named))


def _jury(record: DebateRecord, verdict: Verdict | None, ballots: Sequence[Ballot]) -> _JuryReading:
    """Return what a jury found, with every ballot's marks on the common scale."""
    panel, sides = record.debate.setup.panel, tuple(record.debate.request.sides)
    rubric = find_rubric(panel.rubric, panel.criteria)
    blind = verdict if verdict and verdict.blind else None
    readings = tuple(
        JurorBallot(
            juror=ballot.juror,
            family=ballot.family,
            order=ballot.order,
            audit=ballot.audit,
            verdict=ballot.verdict if ballot.valid else None,
            usd=ballot.cost,
            marks={side: rubric.score(of) for side, of in (ballot.scores or {}).items()},
        )
        for ballot in ballots
    )
    return _JuryReading(
        jury=blind.winner if blind else None,
        p_a=blind.p.get(sides[0]) if blind and len(sides) == 2 else None,
        readings=readings,
        leads=leads_in(ballots) if blind else {},
    )


def _later(record: DebateRecord) -> dict[str, _JuryReading]:
    """Return what juries that read the debate later found, by their names."""
    return {
        name: _jury(record, found.verdicts.get(PANEL), found.ballots)
        for one in record.judgings
        if (found := one.found) and (name := one.jury)
    }


def _revised(record: DebateRecord) -> tuple[tuple[str, str], ...]:
    voted = {vote.person: vote.option for vote in record.asked(Question.VOTE) if vote.gold}
    return tuple(
        (_plain(voted[again.person]), _plain(again.option))
        for again in record.asked(Question.AGAIN)
        if again.person in voted and not again.ambiguous
    )


def _crowds(record: DebateRecord) -> dict[str, Counter[str]]:
    """Count gold votes by the platform where they were given."""
    crowds: dict[str, Counter[str]] = {}
    for vote in (*record.asked(Question.VOTE), *record.asked(Question.LABEL)):
        if _counts(vote):
            own = platform_of(vote.question, record.debate.platform)
            where = IMPORT if vote.recovery == "imported" else own
            crowds.setdefault(where, Counter())[_plain(vote.option)] += 1
    return crowds


def _choices(record: DebateRecord) -> dict[str, tuple[tuple[int, str], ...]]:
    asked = {"chat": record.asked(Question.VOTE), "web": record.asked(Question.LABEL)}
    return {
        crowd: tuple((one.person, _plain(one.option)) for one in votes if _counts(one))
        for crowd, votes in asked.items()
    }


def _counts(vote: Vote) -> bool:
    return vote.gold and not vote.ambiguous


def _plain(option: str) -> str:
    """Return a choice, with “neither” as a tie."""
    return TIE if option == WEAK else option


def _count_choices(tally: Tally) -> dict[str, int]:
    choices: Counter[str] = Counter()
    for option, number in tally.gold.items():
        choices[_plain(option)] += number
    return {option: number for option, number in choices.items() if number}


def _closer(record: DebateRecord) -> str | None:
    """Return the last speaker of two, unless turns were simultaneous."""
    request = record.debate.request
    if request.turn_order is TurnOrder.SIMULTANEOUS or len(request.sides) != 2 or not record.turns:
        return None
    last = record.turns[-1].side
    return last if last in request.sides else None


# Reads debates for statistics, in a worker thread.


T = TypeVar("T")


async def work_out(
    archive: Archive,
    where: ExportFilter,
    make: Callable[[Sequence[Row]], T],
    *,
    people: bool = False,
) -> T:
    """Apply a function to the revealed debates of a filter, in a worker thread.

    Only a small row of each debate is kept in memory, with its `people` if asked. Cancelling stops
    the reading. Raises StoreError if the debates cannot be read.
    """
    stopped = threading.Event()

    def work() -> T:
        return make(read_rows(archive, where, stopped, people=people))

    try:
        return await asyncio.to_thread(work)
    finally:
        stopped.set()


def read_rows(
    archive: Archive, where: ExportFilter, stopped: threading.Event, *, people: bool = False
) -> list[Row]:
    """Read the revealed debates of a filter, in one consistent view, by id."""
    rows = []
    with archive.reading(where) as records:
        for record in records:
            if stopped.is_set():
                raise StoppedError("The statistics were stopped.")
            row = row_of(record, people=people)
            if row is not None:
                rows.append(row)
    return rows
