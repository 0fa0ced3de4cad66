"""What a league says in its channel after each reveal: the standing, and who won."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from engine.series.league import League, System
from engine.series.matches import (
    Result,
    champions,
    decide,
    drew_lots,
    met,
    place_of,
    standing,
)
from engine.series.spec import Series
from engine.store import Store
from engine.store.series import SeriesDebate
from engine.values.debate import Status
from engine.values.judging import TIE
from engine.values.messages import BoardRow, LeagueMatch, LeagueTable, Outcome
from engine.values.text import headline
from engine.votes.result import read_reveal

LONGEST_NAME = 16  # characters of a model in a table for a phone
GOES_ON = (Status.QUEUED, Status.RUNNING, Status.VOTING)


class Record(NamedTuple):
    """How matches of a league ended, and which are revealed, by their place among those drawn."""

    results: dict[int, Result]
    revealed: tuple[int, ...]


async def read_record(store: Store, league: League, debates: Sequence[SeriesDebate]) -> Record:
    """Return the results of a league's matches that have ended."""
    results: dict[int, Result] = {}
    revealed = []
    for debate in debates:
        if debate.status in GOES_ON:
            continue
        at = place_of(debate.key)
        results[at] = Result(None, "")
        found = await store.debates.get(debate.id)
        if found.revealed_at is not None:
            results[at] = decide(league, await read_reveal(store, found))
            revealed.append(at)
    return Record(results, tuple(revealed))


def table_of(
    series: Series,
    league: League,
    record: Record,
    *,
    due_at: datetime | None = None,
    outcome: Outcome = "going",
) -> LeagueTable:
    """Return the standing of a league; it names models of revealed matches alone."""
    known = met(league, record.revealed)
    rows = [place for place in standing(league, record.results) if place.model in known]
    over = outcome == "over" and bool(record.revealed)
    return LeagueTable(
        language=series.languages[0],
        played=len(record.results),
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
        latest=_latest(league, record),
        lot=_lot(league, record),
        next_match=written(series, due_at),
        outcome=outcome,
        champions=champions(league, record.results) if over else (),
    )


def _latest(league: League, record: Record) -> LeagueMatch | None:
    """Return the match that was revealed last."""
    if not record.revealed:
        return None
    at = max(record.revealed)
    winner, by = record.results[at]
    one, other = league.drawn[at].a.ref, league.drawn[at].b.ref
    if winner == other:
        one, other = other, one
    how = "none" if winner is None else "tied" if winner == TIE else "won"
    return LeagueMatch(one=one, other=other, how=how, by=by)


def _lot(league: League, record: Record) -> str:
    """Return who goes on by lot after the latest match of a knock-out; empty for no one."""
    if league.system is not System.KNOCKOUT or not record.revealed:
        return ""
    return drew_lots(league, record.results, league.drawn[max(record.revealed)].pair)


def written(series: Series, due_at: datetime | None) -> str:
    """Return a time in the time zone of the league; empty for none."""
    if due_at is None:
        return ""
    people = series.people
    zone = people.at.zone if people and people.at else "UTC"
    return f"{due_at.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M} ({zone})"
