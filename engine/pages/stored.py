"""Pages of an installation's database, read beside a running process."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Container, Sequence, Set
from dataclasses import replace
from hashlib import sha256
from secrets import token_bytes
from typing import Any, TypeAlias

import structlog

from engine.dataset.entry import Entry, Pseudonyms, make_entry
from engine.dataset.findings_tables import retrieved
from engine.dataset.page import ReportedDebate, lay_out
from engine.dataset.prompt_table import PROMPTS, redact_keys
from engine.dataset.tables import TABLES
from engine.delivery.board import turns_expected
from engine.delivery.reasons import INTERRUPTED, interrupted, way_on
from engine.drawing import Picture
from engine.pages.assembly import (
    PageSources,
    assemble,
    call_page,
    calls_page,
    earlier_call,
    readable,
    sealed_calls,
    whole_text,
)
from engine.pages.debate_page import (
    A_PAGE,
    HARDEST,
    SPOKEN,
    CallPage,
    CallsPage,
    DebatePage,
    ListFigures,
    ListPage,
    PageTry,
    PartsOutline,
    TurnsPart,
    figures_of,
    front_of,
    item_of,
    outline,
    pages_of,
    total_of,
)
from engine.pages.head import DebateSituation, Item, Rows, mirror_and_rematches
from engine.pages.sections import report_sections
from engine.pages.timeline import picture_of
from engine.store import DebateRecord, ExportFilter, Store
from engine.store.communities import PublicPart
from engine.store.journal import Part
from engine.store.listings import DebateQuery, DebateSummary
from engine.store.usage import UsageFilter
from engine.values.debate import BallotKind, Debate, Source, Status, side_of
from engine.values.errors import NotFoundError, StoreError
from engine.values.language import speaking
from engine.values.text import marked, redact
from engine.values.verdicts import RETRIEVED
from engine.votes.close import read_reveal
from engine.votes.outcome import tally_of

log = structlog.get_logger(__name__)
FOUND = {"judgments", "scores", "adjustments", "artifacts", "judgings"}
ABOVE = {"turns", "scores", "artifacts"}  # what stands at the turns
BELOW = FOUND | {"debates", "votes", "guesses", "questions"}  # what stands below the turns
MOST_OUTLINES = 64
CHOICES_SECONDS = 60.0
UNKNOWN = "There is no such page of this debate; go back to the debate."
Gate: TypeAlias = Callable[[Debate], Awaitable[tuple[bool, int]]]
"""Whether all of a debate is open to its readers, and how many newest turns they may not see."""


async def show_ended(debate: Debate) -> tuple[bool, int]:
    """Show all of a debate that has ended, and every turn of others."""
    return readable(debate), 0


EVERY_DEBATE = DebateQuery()


class StoredLibrary:
    """The debates of a store as pages; `secrets` are taken out of prompts and replies.

    Without an `operator` pages have neither calls nor what they cost. `gate` decides how much of a
    debate is shown. Lists have those `within` a query; the words and the state in it are free.
    """

    def __init__(
        self,
        store: Store,
        secrets: Sequence[str] = (),
        *,
        operator: bool = True,
        gate: Gate = show_ended,
        within: DebateQuery = EVERY_DEBATE,
    ) -> None:
        self._store, self._secrets, self._operator = store, tuple(secrets), operator
        self._gate = gate
        self._within = {name: value for name, value in within._asdict().items() if value}
        self._choices, self._outlines = _Choices(store, within), _Outlines(store)
        # Pages show no pseudonym; those that rows have lead nowhere.
        self._voters = Pseudonyms(token_bytes(16), ExportFilter(), None)

    async def find(self, sought: DebateQuery, number: int) -> ListPage:
        """Return a page of a list, or its last one."""
        within = sought._replace(**self._within)
        facets = await self._store.listings.facets(within)
        total = total_of(facets, sought)
        if sought.interrupted:
            total = await self._store.listings.count(within)
        count = pages_of(total)
        number = min(number, count)
        debates = await self._store.listings.page(within, (number - 1) * A_PAGE, A_PAGE)
        gone = await self._gone(*debates)
        items = await list_items(self._store, debates, gone)
        choices, figures, hardest = await self._choices.read()
        front = None
        if sought == DebateQuery(order=sought.order):
            front = front_of(facets, figures, hardest)
        return ListPage(sought, items, total, number, count, choices, facets, front)

    async def debate(self, name: str, part: int = 0, turn: int = 0) -> DebatePage:
        """Return a part of a debate: the one of a number, or with a turn; else the first."""
        debate = await self._store.debates.get(name)
        opened, count = await self._seen(debate)
        parts = await self._outlines.read(debate, count)
        number = parts.choose(part, turn)
        turns = await self._store.journal.turns_between(debate.id, *parts.bounds[number - 1])
        chosen = TurnsPart(number, len(parts.bounds), turns)
        looked_up = []
        if number == 1:
            results = retrieved(
                (await self._store.journal.read(debate.id, artifacts=RETRIEVED)).artifacts
            )
            looked_up = [Source(title=one["title"], text=one["text"]) for one in results]
        item = item_of(debate, await self._gone(debate))
        found = PageSources(
            item,
            debate,
            parts.spoken,
            looked_up=looked_up,
            calls=0 if self._operator else None,
            situation=await self._situation(debate, item, opened=opened),
        )
        if opened:
            found = await self._opened(found, chosen, parts)
        return assemble(found, chosen)._replace(pulse=_pulse(debate, item, count, opened=opened))

    async def report(self, name: str) -> ReportedDebate:
        """Return a debate as one page, as far as it may be read now."""
        debate = await self._store.debates.get(name)
        told = debate.revealed_at is not None
        parts: tuple[Part, ...] = ("turns", "ballots") if told else ("turns",)
        kept = await self._store.journal.read(debate.id, *parts, artifacts=RETRIEVED)
        results = retrieved(kept.artifacts)
        looked_up = [Source(title=one["title"], text=one["text"]) for one in results]
        reveal = await read_reveal(self._store, debate) if told else None
        with speaking(debate.request.language):
            page = lay_out(debate, kept.turns, reveal, kept.ballots, looked_up)
        if reveal is None:
            return page
        rows = await self._rows(await self._record(debate), FOUND)
        rows = {**rows, SPOKEN: outline(kept.turns).spoken}
        posts = await self._store.deliveries.found(debate.id)
        totals = (await self._store.usage.read(UsageFilter(debate=debate.id))).totals
        with speaking(debate.request.language):
            sections = report_sections(rows, posts, totals, debate.setup.called)
        return page._replace(sections=sections)

    async def place(self, name: str, turn: int) -> tuple[Item, int]:
        """Return a debate and the number of the part that has a turn."""
        debate = await self._store.debates.get(name)
        parts = await self._outlines.read(debate, (await self._seen(debate))[1])
        return item_of(debate), parts.choose(0, turn)

    async def calls(self, name: str, number: int = 1) -> CallsPage:
        """Return a page of a debate's calls; none while anything of it is sealed."""
        debate = await self._store.debates.get(name)
        item = item_of(debate)
        if not (self._operator and readable(debate)):
            return sealed_calls(item)
        tries = await self._tries(debate)
        return calls_page(item, tries, number, kept=debate.pruned_at is None)

    async def call_of(self, name: str, step: str) -> tuple[Item, int]:
        """Return a debate and the number of the last try of a step's call."""
        debate = await self._store.debates.get(name)
        tries = await self._tries(debate) if self._operator and readable(debate) else ()
        number = max((one.number for one in tries if one.step == step), default=0)
        if not number:
            raise NotFoundError(UNKNOWN)
        return item_of(debate), number

    async def call(self, name: str, number: int) -> CallPage:
        """Return a call with what was asked and answered, by its place from 1."""
        debate = await self._store.debates.get(name)
        if not (self._operator and readable(debate)):
            raise NotFoundError(UNKNOWN)
        tries = await self._tries(debate)
        if not 1 <= number <= len(tries):
            raise NotFoundError(UNKNOWN)
        tried = tries[number - 1]
        row = await self._prompt(debate, tried)
        before = earlier_call(tries, number)
        return call_page(
            item_of(debate), tries, number, row, before and await self._prompt(debate, before)
        )

    async def picture(self, name: str, picture: str) -> Picture:
        """Return a picture of a debate's page."""
        debate = await self._store.debates.get(name)
        opened, count = await self._seen(debate)
        if opened:
            rows = await self._rows(await self._record(debate), BELOW)
            rows = {**rows, SPOKEN: (await self._outlines.read(debate, count)).spoken}
            if drawn := picture_of(rows, debate.setup.called, picture, debate.request.language):
                return drawn
        raise NotFoundError(UNKNOWN)

    async def turn_text(self, name: str, turn: int) -> str:
        """Return a turn's whole text, as voters read it."""
        debate = await self._store.debates.get(name)
        parts = await self._outlines.read(debate, (await self._seen(debate))[1])
        last = parts.bounds[-1][1]  # none that may not be read yet
        turns = await self._store.journal.turns_between(debate.id, turn, min(turn, last))
        text = whole_text(debate, turns, turn)
        if text is None:
            raise NotFoundError(UNKNOWN)
        return text

    async def pulse(self, name: str) -> str:
        """Return what changes whenever a debate's page grows or changes; cheap to ask often."""
        debate = await self._store.debates.get(name)
        opened, turns = await self._seen(debate)
        return _pulse(debate, item_of(debate, await self._gone(debate)), turns, opened=opened)

    async def _gone(self, *debates: Debate) -> frozenset[str]:
        """Return which debates were interrupted; visitors of a running process need not know."""
        return await interrupted(self._store, debates) if self._operator else frozenset()

    async def _seen(self, debate: Debate) -> tuple[bool, int]:
        """Return whether all of a debate is open to its readers, and how many turns they see."""
        held = await self._store.journal.turns_held(debate.id)
        opened, unread = await self._gate(debate)  # later: no turn counts before it was posted
        return opened, max(0, held - unread)

    async def _opened(
        self, found: PageSources, part: TurnsPart, parts: PartsOutline
    ) -> PageSources:
        """Add what may be read of a debate in which nothing is sealed any more."""
        debate = found.debate
        steps = [f"{turn.step}{rest}" for turn in part.turns for rest in ("", "/shorten")]
        record = await self._record(debate, steps)
        rows = await self._rows(record, ABOVE | (BELOW if part.last else set()))
        told = debate.revealed_at is not None
        reveal = await read_reveal(self._store, debate) if told else None
        if self._operator:
            calls, usd = await self._store.journal.spending(debate.id)
            found = found._replace(calls=calls, usd=usd)
        return found._replace(
            reveal=reveal,
            ballots=record.ballots,
            judgings=record.judgings,
            rows={**rows, SPOKEN: parts.spoken},
        )

    async def _situation(self, debate: Debate, item: Item, *, opened: bool) -> DebateSituation:
        """Return what is known beside a debate; what only an operator may know, only for one."""
        calls = self._store.usage
        mirror, before = await self._store.debates.mirror_of(debate), debate.setup.rematch_of
        after = await self._store.listings.rematches(debate.id) if opened else []
        shown = (await self._store.communities.get(debate.platform, debate.community)).public
        known = DebateSituation(
            linked=mirror_and_rematches(mirror.id if mirror else None, before, after),
            expected=await turns_expected(self._store, debate) if debate.status.live else 0,
            public=PublicPart.DEBATES in shown,
        )
        if debate.status is Status.RUNNING:
            steps = await calls.under_way(debate.id)
            seats = {step.split("/")[2] for step in steps if step.startswith("turn/")}
            names = debate.setup.called
            writing = tuple(names.get(side_of(seat), marked(seat)) for seat in sorted(seats))
            known = known._replace(writing=writing)
        if debate.status is Status.VOTING and debate.request.ballot is BallotKind.OPEN:
            tally = tally_of(debate, await self._store.votes.events(debate.id))
            known = known._replace(votes=sum(tally.counts.values()))
        if not self._operator:
            return known
        if item.state == INTERRUPTED:
            stopped = await calls.newest_call(debate.id)
            return known._replace(stopped=stopped, command=way_on(debate))
        failed = debate.status is Status.FAILED
        return known._replace(
            thread=debate.thread or "", command=f"rostrum resume {debate.code}" if failed else ""
        )

    async def _tries(self, debate: Debate) -> tuple[PageTry, ...]:
        tries = await self._store.usage.tries(debate.id)
        parts = await self._outlines.read(debate, await self._store.journal.turns_held(debate.id))
        turns = {one["step"]: one["number"] for one in parts.spoken}
        first = min((one.began for one in tries), default=None)
        return tuple(
            PageTry(
                number,
                *one[:-2],
                began=(one.began - first).total_seconds() if first else None,
                error=redact(redact_keys(one.error, self._secrets)),
                turn=turns.get(one.step, 0),
            )
            for number, one in enumerate(tries, 1)
        )

    async def _prompt(self, debate: Debate, tried: PageTry) -> dict[str, Any]:
        """Return the row of a try in `prompts`."""
        record = await self._record(debate, (tried.step,), prompts=True)
        one = tuple(call for call in record.calls if call.attempt == tried.attempt)
        return PROMPTS.rows(self._entry(replace(record, calls=one, turns=())))[0]

    async def _record(
        self, debate: Debate, steps: Sequence[str] = (), *, prompts: bool = False
    ) -> DebateRecord:
        """Return what is kept of a debate, with the turns and calls of some steps."""
        where = ExportFilter(ids=(debate.id,), steps=tuple(steps), prompts=prompts)

        def read() -> DebateRecord | None:
            with self._store.archive.reading(where) as records:
                return next(records, None)

        record = await asyncio.to_thread(read)
        if record is None:  # deleted meanwhile
            raise NotFoundError(UNKNOWN)
        return record

    async def _rows(self, record: DebateRecord, tables: Set[str]) -> Rows:
        """Return a record's rows in some tables, as an export has them."""

        def make() -> Rows:
            entry = self._entry(record)
            return {table.name: table.rows(entry) for table in TABLES if table.name in tables}

        return await asyncio.to_thread(make)

    def _entry(self, record: DebateRecord) -> Entry:
        entry = make_entry(record, self._voters, b"")
        return replace(entry, secrets=self._secrets)


def _pulse(debate: Debate, item: Item, turns: int, *, opened: bool) -> str:
    told = debate.revealed_at is not None
    return sha256(f"{item.state}/{turns}/{debate.reason}/{told}/{opened}".encode()).hexdigest()[:16]


class _Outlines:
    """What the parts of debates are, by debate and how many turns it had: turns never change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[tuple[str, int], PartsOutline] = OrderedDict()

    async def read(self, debate: Debate, count: int) -> PartsOutline:
        """Return what the parts of a debate's first turns are."""
        if (known := self._known.get((debate.id, count))) is None:
            known = outline((await self._store.journal.read(debate.id, "turns")).turns[:count])
            self._known[debate.id, count] = known
            while len(self._known) > MOST_OUTLINES:
                self._known.popitem(last=False)
        return known


async def list_items(
    store: Store, debates: Sequence[Debate], gone: Container[str] = ()
) -> tuple[Item, ...]:
    """Return debates as a list shows them; `gone` are those that were interrupted."""
    results = await store.listings.results([debate.id for debate in debates])
    return tuple(item_of(debate, gone, results.get(debate.id)) for debate in debates)


_Known: TypeAlias = tuple[DebateSummary, ListFigures, Sequence[Item]]


class _Choices:
    """What takes a look at every debate: what lists are chosen by and came to, a minute ago."""

    def __init__(self, store: Store, within: DebateQuery) -> None:
        self._store, self._within = store, within
        self._known: _Known = DebateSummary(), figures_of((), 0.0), ()
        self._until = 0.0
        self._reading: asyncio.Task[None] | None = None

    async def read(self) -> _Known:
        """Return what is known; only the first call waits for it."""
        if time.monotonic() >= self._until and self._reading is None:
            self._reading = asyncio.create_task(self._look(), name="choices")
        if not self._until and self._reading is not None:
            await asyncio.shield(self._reading)
        return self._known

    async def _look(self) -> None:
        try:
            totals = await self._store.listings.totals(self._within)
            figures = await asyncio.to_thread(figures_of, *totals)
            choices = await self._store.listings.choices()
            hardest = self._within._replace(order="disputed", disagreement=True)
            found = await self._store.listings.page(hardest, 0, HARDEST)
            self._known = choices, figures, await list_items(self._store, found)
            self._until = time.monotonic() + CHOICES_SECONDS
        except StoreError as error:
            log.debug("choices not read", why=error.text)
        finally:
            self._reading = None
