"""Holds the series that people watch, in the process that serves their platform.

One loop looks after all of them. A series holds one debate at a time; the next begins when its time
has come and the one before has ended. When that is, is stored: after an outage one debate makes up
for all times that were missed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

import structlog

from engine.delivery.reasons import awaited
from engine.fleet.leases import Services
from engine.run.order import Defaults, check_allowed
from engine.run.service import Service
from engine.series.contents import Planned, next_time
from engine.series.matches import (
    MatchResult,
    champions,
    choose,
    decide,
    draw,
    drew_lots,
    met,
    place_of,
    standing,
)
from engine.series.recurrence import Recurrences, written
from engine.series.runner import FIRST_PAUSE, LONGEST_PAUSE, defaults_of, order_of
from engine.series.spec import League, Series, SeriesAudience, System
from engine.store import Lease, Post, Store
from engine.store.communities import CommunitySettings
from engine.store.series import SeriesDebate, StoredSeries
from engine.values.debate import Status
from engine.values.errors import LeaseLostError, RostrumError, SeriesCapError, StoreError
from engine.values.failures import without_words
from engine.values.messages import BoardRow, LeagueMatch, LeagueTable, Outcome
from engine.values.ports import Retries
from engine.values.text import headline
from engine.values.verdicts import TIE
from engine.votes.close import read_reveal

if TYPE_CHECKING:
    from engine.values.protocols import Venue

# What a league says in its channel after each reveal: the standing, and who won.


LONGEST_NAME = 16  # characters of a model in a table for a phone


LeagueRecord: TypeAlias = tuple[Mapping[int, MatchResult], Sequence[int]]
"""How matches of a league ended, and which are revealed, by their place among those drawn."""


async def read_record(
    store: Store, league: League, debates: Sequence[SeriesDebate]
) -> LeagueRecord:
    """Return the results of a league's matches that have ended."""
    results: dict[int, MatchResult] = {}
    revealed: list[int] = []
    for debate in debates:
        if _goes_on(debate):
            continue
        at = place_of(debate.key)
        results[at] = MatchResult(None, "")
        found = await store.debates.get(debate.id)
        if found.revealed_at is not None:
            results[at] = decide(league, await read_reveal(store, found))
            revealed.append(at)
    return results, revealed


def table_of(
    series: Series,
    league: League,
    record: LeagueRecord,
    *,
    due_at: datetime | None = None,
    outcome: Outcome = "going",
) -> LeagueTable:
    """Return the standing of a league; it names models of revealed matches alone."""
    results, revealed = record
    known = met(league, revealed)
    rows = [place for place in standing(league, results) if place.model in known]
    over = outcome == "over" and bool(revealed)
    newest = max(revealed, default=None)
    lot = ""  # who goes on by it after the latest match of a knock-out
    if newest is not None and league.system is System.KNOCKOUT:
        lot = drew_lots(league, results, league.drawn[newest].pair)
    return LeagueTable(
        language=series.languages[0],
        played=len(results),
        total=max(league.total, len(league.drawn)),
        rows=tuple(
            BoardRow(
                side="",
                name=f"{number} {headline(place.model.rpartition('/')[2], LONGEST_NAME)}",
                cells=(str(place.won), f"{place.points:g}"),
            )
            for number, place in enumerate(rows, start=1)
        ),
        unmet=len(league.models) - len(known),
        latest=None if newest is None else _latest(league, newest, results[newest]),
        lot=lot,
        next_match=written(series.people, due_at) if due_at else "",
        outcome=outcome,
        champions=champions(league, results) if over else (),
    )


def _latest(league: League, at: int, result: MatchResult) -> LeagueMatch:
    """Return the match that was revealed last."""
    winner, by = result
    one, other = league.drawn[at].a.ref, league.drawn[at].b.ref
    if winner == other:
        one, other = other, one
    how = "none" if winner is None else "tied" if winner == TIE else "won"
    return LeagueMatch(one=one, other=other, how=how, by=by)


LOOK_SECONDS = 1.0
STANDING, STOPPED = "league", "league/stopped"  # keys of a league's posts
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Schedule:
    """Holds the series on some platforms, one debate of each at a time."""

    venues: Mapping[str, Venue]
    service: Service
    services: Services
    installed: Defaults
    frame: Callable[[Defaults, CommunitySettings], Defaults] = lambda defaults, _: defaults
    recurrences: Recurrences | None = None
    first_pause: float = FIRST_PAUSE
    _told: set[str] = field(default_factory=set)  # the newest debates whose end was looked at
    # Of series, and of waiting debates.
    _retries: Retries = field(default_factory=lambda: Retries(LONGEST_PAUSE))

    async def run(self) -> None:
        """Look after every series, until cancelled."""
        while True:
            for stored in await self.services.store.series.scheduled(tuple(self.venues)):
                await self._look_after(stored)
            await self.services.notifier.wait("series", LOOK_SECONDS)

    async def _look_after(self, stored: StoredSeries) -> None:
        """Do what is due, once; a problem of one series does not stop the others."""
        debates = await self.services.store.series.debates(stored.name)
        try:
            if any(_goes_on(debate) for debate in debates):
                await self._try_again(debates)
            if self._has_work(stored, debates):
                async with self.services.lease_manager.hold(
                    f"series/{stored.name}", stoppable=False
                ) as lease:
                    await self._step(lease, stored.name)
        except LeaseLostError as error:
            log.info("series held by another process", series=stored.name, why=str(error))
        except StoreError:
            raise
        except Exception:  # a bug in one series must not end the others
            log.exception("unhandled error in a series", series=stored.name)
            self._put_off(stored.name)

    async def _try_again(self, debates: Sequence[SeriesDebate]) -> None:
        """Go on with a debate whose model was away, after pauses that grow."""
        for debate in debates:
            waits = debate.status is Status.QUEUED and awaited(debate.reason)
            if not waits or self._rests(debate.id):
                continue
            if debate.id in self._retries:
                await self.service.dispatcher.submit(debate.id)
            self._put_off(debate.id)

    def _has_work(self, stored: StoredSeries, debates: Sequence[SeriesDebate]) -> bool:
        """Return whether anything is to be stored or begun now."""
        if stored.due_at is None or self._rests(stored.name):
            return False
        if _uses(debates, stored.due_at):
            return True
        now = self.services.clock.now()
        if any(map(_goes_on, debates)):
            return stored.recurs and (stored.stop or now >= stored.due_at)
        told = not debates or debates[-1].id in self._told
        return stored.stop or not told or now >= stored.due_at

    async def _step(self, lease: Lease, name: str) -> None:
        now = (
            self.services.clock.now()
        )  # first: a series that is stopped before its time begins nothing
        stored = await self.services.store.series.find(name)
        if stored is None or stored.due_at is None:
            return
        series = Series.model_validate_json(stored.body)
        debates = await self.services.store.series.debates(name)
        if series.recurring is not None:
            self._told.update(debate.id for debate in debates[-1:])
            recurrences = self.recurrences
            if recurrences and await recurrences.step(lease, stored, series, debates):
                self._retries.forget(stored.name)
            else:
                self._put_off(stored.name)
            return
        people = _people_of(series)
        if _uses(debates, stored.due_at):
            due = next_time(people, stored.due_at, now)
            await self._keep(lease, stored, due_at=due, problem=None)
        elif not any(map(_goes_on, debates)):
            over = False
            if series.league is not None:
                stored, over = await self._referee(lease, stored, series.league, debates)
                series = Series.model_validate_json(stored.body)
            self._told.update(debate.id for debate in debates[-1:])
            if stored.stop or over:
                await self._end(lease, stored)
            elif stored.due_at is not None and now >= stored.due_at:
                await self._begin_next(lease, stored, series, debates)

    async def _referee(
        self, lease: Lease, stored: StoredSeries, league: League, debates: Sequence[SeriesDebate]
    ) -> tuple[StoredSeries, bool]:
        """Draw the next round of a league once it is due, and post the standing."""
        series = Series.model_validate_json(stored.body)
        record = await read_record(self.services.store, league, debates)
        if len(record[0]) == len(league.drawn) and not stored.stop:
            drawn = draw(league, record[0])
            over = drawn == league
            series, league = series.model_copy(update={"league": drawn}), drawn
            stored = await self._keep(lease, stored, body=series.model_dump_json())
        else:
            over = False
        outcome: Outcome = "over" if over else "stopped" if stored.stop else "going"
        if debates:
            due = (
                stored.due_at
                if stored.due_at and stored.due_at > self.services.clock.now()
                else None
            )
            table = table_of(series, league, record, due_at=due, outcome=outcome)
            # After a match, and once more if the league is stopped later.
            newest, outbox = debates[-1].id, self.services.store.outbox
            known = await outbox.find(newest, STANDING)
            if known is None or (outcome != "going" and known.message != table):
                key = STANDING if known is None else STOPPED
                await outbox.publish(lease, newest, [Post(key=key, message=table)])
                self.services.notifier.publish(f"outbox/{stored.platform}", newest)
        return stored, over

    async def _end(self, lease: Lease, stored: StoredSeries) -> None:
        await self._keep(lease, stored, due_at=None, problem=None)
        log.info("series ended", series=stored.name, stopped=stored.stop)

    async def _begin_next(
        self,
        lease: Lease,
        stored: StoredSeries,
        series: Series,
        debates: Sequence[SeriesDebate],
    ) -> None:
        """Begin the next debate, or end the series."""
        begun = {debate.key for debate in debates}
        results = await self.services.store.series.results(series.name)
        chosen = choose(series).next(begun, results)
        planned = next(iter(chosen), None)
        if planned is None:
            await self._end(lease, stored)
            return
        try:
            await self._begin(lease, stored, series, debates, planned)
        except SeriesCapError as error:
            await self._keep(
                lease,
                stored,
                due_at=None,
                problem=(
                    f"{error} Raise limits.usd in its file, and run rostrum series run "
                    "with it again."
                ),
            )
        except (LeaseLostError, StoreError):
            raise
        except RostrumError as error:
            log.warning("series waits", series=series.name, why=str(error))
            self._put_off(series.name)
            await self._keep(lease, stored, problem=without_words(error.text))

    async def _begin(
        self,
        lease: Lease,
        stored: StoredSeries,
        series: Series,
        debates: Sequence[SeriesDebate],
        planned: Planned,
    ) -> None:
        """Begin a debate, or the newest one again if it could not be posted."""
        people = _people_of(series)
        where = await self.venues[people.place.platform].locate(people.place.channel)
        check_allowed(self.installed, people.place.platform, where.community)
        defaults = defaults_of(series, self.installed)
        if series.league is not None:  # to which the settings of its community apply
            of = people.place.platform, where.community
            defaults = self.frame(self.installed, await self.services.store.communities.get(*of))
        stored = await self._keep(lease, stored, community=where.community)
        if debates and debates[-1].gone and debates[-1].status is Status.FAILED:
            due = next_time(people, self.services.clock.now(), self.services.clock.now())
            await self._keep(lease, stored, due_at=due, problem=None)
            await self.service.resume(debates[-1].id, defaults.caps)
        else:
            await self.service.start(order_of(series, planned, where), defaults)

    async def _keep(self, lease: Lease, stored: StoredSeries, **changes: Any) -> StoredSeries:
        changed = stored.model_copy(update=changes)
        if changed != stored:
            await self.services.store.series.schedule(lease, changed)
        return changed

    def _rests(self, name: str) -> bool:
        now = self.services.clock.now()
        return self._retries.due(name, now) > now

    def _put_off(self, name: str) -> None:
        """Let a series or a debate rest, twice as long as the last time."""
        self._retries.put_off(name, self.services.clock.now(), self.first_pause)


def _goes_on(debate: SeriesDebate) -> bool:
    return debate.status.live or debate.status is Status.VOTING


def _uses(debates: Sequence[SeriesDebate], due: datetime) -> bool:
    """Return whether the debate that was due has begun."""
    return bool(debates) and debates[-1].created_at >= due


def _people_of(series: Series) -> SeriesAudience:
    """Return where and when people watch a series that has been scheduled."""
    if series.people is None:
        raise StoreError(f"The series {series.name} has a time and no place; run its file again.")
    return series.people
