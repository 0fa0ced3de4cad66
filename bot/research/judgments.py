"""`rostrum judge`: scores a debate that has ended once more, by other judges."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ulid import ULID

from bot import sentences
from bot.app import defaults_of, open_configured_models
from bot.commands.choice import EVERY_DEBATE, DebateChoice
from bot.console import confirm, print_json, print_lines
from bot.database import read_store
from bot.record.filters import debates_of
from bot.record.tables import show_table
from bot.research.series_progress import Display, open_display
from bot.settings.load import load_settings, read_models
from bot.settings.settings import Settings
from engine.fleet.leases import LeaseManager, Notifier
from engine.fleet.limits import Fleet, FleetMember
from engine.formats.judges import tell_judges
from engine.run.later_judges import judge_again, read_again
from engine.series.later_juries import SeriesJury, cap_left
from engine.series.runner import Ending
from engine.series.spec import Series
from engine.store import DebateRecord, ExportFilter, Judging, Note, Store
from engine.store.debates import no_debate
from engine.store.journal import PANEL, Record
from engine.store.usage import UsageFilter
from engine.values.debate import Debate, PanelMode
from engine.values.errors import NotFoundError, RostrumError
from engine.values.limits import Caps
from engine.values.options import parse_choice
from engine.values.text import clean, headline
from engine.values.verdicts import TIE, Score, Verdict
from engine.words.translation import plural

if TYPE_CHECKING:
    from engine.values.protocols import Models

# What a command needs that asks models about debates which have ended, beside other processes.


class JudgingServices(NamedTuple):
    """The services of such a command."""

    store: Store
    models: Models
    lease_manager: LeaseManager


@asynccontextmanager
async def asking(settings: Settings) -> AsyncIterator[JudgingServices]:
    """Keep the command's leases while the body runs, and to its part of the backends' limits."""
    async with read_store(settings) as store:
        fleet, notifier = Fleet(), Notifier()
        models = open_configured_models(settings, fleet)
        lease_manager = LeaseManager(store, notifier, holder=str(ULID()))
        jobs = [lease_manager.run()]
        if settings.shared:
            jobs.append(FleetMember(fleet, store, lease_manager, notifier).run())
        tasks = [asyncio.create_task(work) for work in jobs]
        try:
            yield JudgingServices(store, models, lease_manager)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await models.aclose()


# `rostrum judge`: scores a debate that has ended once more, by other judges.


SCHEMA_VERSION = 1
NONE, LEVEL = "no verdict", "level"
ALONE, MEDIAN, SPREAD, HELD = "judge", "median", "spread", "while it was held"


class _Compared(NamedTuple):
    """A later judging beside the one while the debate was held."""

    debate: Debate
    judging: Judging
    held: Verdict | None
    first: Mapping[tuple[str, str, str], float]

    @property
    def found(self) -> Note:
        """Everything that the later judges found."""
        return self.judging.found or Note()

    @property
    def verdict(self) -> Verdict | None:
        """The later verdict."""
        return next(iter(self.found.verdicts.values()), None)

    @property
    def spread(self) -> dict[str, float]:
        """How far the judges' totals of each contender are apart; empty for one judge."""
        by_judge = self.verdict.totals_by_judge if self.verdict else ()
        alone = [given for given in by_judge if given]
        if len(alone) < 2:
            return {}
        columns = {side: [given[side] for given in alone] for side in alone[0]}
        return {side: max(given) - min(given) for side, given in columns.items()}

    @property
    def both(self) -> list[tuple[Score, float]]:
        """Every score that both judgings gave, with the earlier one; totals are in the table."""
        keyed = ((score, self.first.get(key_of(score))) for score in self.found.scores)
        return [(s, before) for s, before in keyed if before is not None and s.subject != "total"]


async def run_judge(
    code: str | None,
    judges: str,
    chosen: DebateChoice = EVERY_DEBATE,
    *,
    yes: bool = False,
    as_json: bool = False,
) -> None:
    """Score debates by the judges of a comma-separated list, and print the results.

    The same judges are paid once: asked again, they only show what they found.
    """
    settings = load_settings()
    named = read_models(judges)
    async with asking(settings) as (store, models, lease_manager):
        debates = await debates_of(store, code, chosen)
        if code is None:
            await confirm(sentences.JUDGE_ALL.format(n=len(debates)), yes)
        caps, found = defaults_of(settings).caps, []
        for debate in debates:
            judging = await judge_again(debate, named, caps, store, models, lease_manager)
            record = await asyncio.to_thread(_read, store, debate)
            found.append(compare(record, judging))
            if not as_json:
                _print(found[-1])
    if as_json:
        shown = [to_json(one) for one in found]
        print_json({"debates": shown} if code is None else shown[0])


def _read(store: Store, debate: Debate) -> DebateRecord:
    with store.archive.reading(ExportFilter(ids=(debate.id,))) as records:
        for record in records:
            return record
    raise NotFoundError(f"Debate {debate.code} was deleted meanwhile.")


def compare(record: DebateRecord, judging: Judging) -> _Compared:
    """Put a later judging beside the first one."""
    held = record.verdicts.get(record.debate.request.format)
    first = {key_of(score): score.value for score in record.scores}
    return _Compared(record.debate, judging, held, first)


def key_of(score: Score) -> tuple[str, str, str]:
    """Return what a score is of."""
    return score.subject, score.side, score.criterion


# --- as text -----------------------------------------------------------------------------


def _print(compared: _Compared) -> None:
    judging = compared.judging
    judges = ", ".join(judge.ref for judge in judging.judges)
    debate = compared.debate
    head = f"Debate {debate.code} ({debate.request.format}), judging {judging.number} by {judges}"
    print_lines([head])
    sides = list(compared.debate.request.sides)
    called = compared.debate.setup.called
    titles = [called.get(side, side) for side in sides]
    verdict, spread = compared.verdict, compared.spread
    rows: list[tuple[str, Mapping[str, float], str]] = []
    if verdict is not None:
        alone = zip(verdict.by_judge, verdict.totals_by_judge, strict=False)
        for judge, (winner, totals) in zip(compared.judging.judges, alone, strict=False):
            rows.append((judge.ref, totals or {}, _ahead(compared, winner)))
        name = MEDIAN if verdict.by_judge else compared.judging.judges[0].ref
        rows.append((name, verdict.totals, _ahead(compared, verdict.winner)))
    if spread:
        rows.append((SPREAD, spread, ""))
    held = compared.held
    rows.append((HELD, held.totals if held else {}, _ahead(compared, _winner(held))))
    show_table(
        "",
        ("", *titles, "ahead"),
        (
            (name, *(f"{totals[side]:.2f}" if side in totals else "–" for side in sides), ahead)
            for name, totals, ahead in rows
        ),
        complete=True,
    )
    print_lines(_lines(compared))


def _ahead(compared: _Compared, winner: str | None) -> str:
    if winner is None:
        return NONE
    return LEVEL if winner == TIE else compared.debate.setup.called.get(winner, winner)


def _winner(verdict: Verdict | None) -> str | None:
    return verdict.winner if verdict else None


def _lines(compared: _Compared) -> Iterator[str]:
    verdict, held = compared.verdict, compared.held
    now = _ahead(compared, _winner(verdict))
    earlier = _ahead(compared, _winner(held))
    if verdict is not None and verdict.by_judge:
        debate = compared.debate
        format, called = debate.request.format, debate.setup.called
        yield tell_judges(verdict.by_judge, compared.found.scores, format, called)
        yield "The median is taken score by score, and then added up."
    if moved_by := len(compared.found.adjustments):
        yield plural(
            "All totals are after {n} adjustment by the format's rules; exports have it "
            "in adjustments.",
            "All totals are after {n} adjustments by the format's rules; exports have them "
            "in adjustments.",
            moved_by,
        )
    yield (
        f"The result is the same as while it was held: {now}."
        if now == earlier
        else f"The result changed: {earlier} while it was held, {now} now."
    )
    moved = [(score, before) for score, before in compared.both if score.value != before]
    if moved:
        by = sum(abs(score.value - before) for score, before in moved) / len(moved)
        yield plural(
            "{n} of {scores} score differs from the one that was given then, by {by:.1f} points.",
            "{n} of {scores} scores differ from those that were given then, by {by:.1f} "
            "points on average.",
            len(moved),
            scores=len(compared.both),
            by=by,
        )
        score, before = max(moved, key=lambda move: abs(move[0].value - move[1]))
        yield f"Most: {score.subject} {score.criterion}, {before:g} → {score.value:g}."
    yield "It stands beside the first one; exports have it in the table judgings."


# --- as JSON -----------------------------------------------------------------------------


def to_json(compared: _Compared) -> dict[str, Any]:
    """Return everything that is printed, and every score, as plain values."""
    verdict, held = compared.verdict, compared.held
    judges = compared.judging.judges
    alone = zip(verdict.by_judge, verdict.totals_by_judge, strict=False) if verdict else ()
    by_judge = list(alone) or [(verdict.winner, verdict.totals)] if verdict else []
    return {
        "schema_version": SCHEMA_VERSION,
        "debate": compared.debate.id,
        "format": compared.debate.request.format,
        "number": compared.judging.number,
        "judges": [
            {"judge": judge.ref, "winner": winner, "totals": totals and dict(totals)}
            for judge, (winner, totals) in zip(judges, by_judge, strict=False)
        ],
        "winner": _winner(verdict),
        "totals": dict(verdict.totals) if verdict else {},
        "spread": compared.spread,
        "held": {"winner": _winner(held), "totals": dict(held.totals) if held else {}},
        "changed": _winner(verdict) != _winner(held),
        "scores": [
            score.model_dump(include={"subject", "side", "criterion", "value", "spread"})
            | {"held": compared.first.get(key_of(score))}
            for score in compared.found.scores
        ],
    }


# `rostrum judge … --jurors`: another jury reads a debate that has ended, or those of a series.


async def run_jury(
    name: str | None,
    jurors: str,
    panel: str,
    usd: float | None,
    chosen: DebateChoice = EVERY_DEBATE,
    *,
    yes: bool = False,
    as_json: bool,
) -> None:
    """Have a jury read the debates of a series, one debate or those chosen; print what it found.

    The same jury is paid once. Raises RostrumError if debates are missing: ask again.
    """
    settings = load_settings()
    mode = parse_choice(PanelMode, "--panel", panel)
    named = read_models(jurors)
    async with asking(settings) as (store, models, lease_manager):
        stored = None if name is None else await store.series.find(name)
        if name is None or stored is None:
            debates = [await _find(store, name)] if name else await debates_of(store, None, chosen)
            if name is None:
                await confirm(sentences.JUDGE_ALL.format(n=len(debates)), yes)
            caps = defaults_of(settings).caps
            own: dict[str, Any] = {"models": models, "lease_manager": lease_manager}
            read = partial(read_again, jurors=named, mode=mode, store=store, **own)
            rows = await _read_each(debates, caps, usd, store, read)
            _show(rows, as_json=as_json)
            return
        series = Series.model_validate_json(stored.body)
        usage = await store.usage.read(UsageFilter(series=name))
        left = cap_left(series, usage.sum("usd"), usd)
        silent = nullcontext(lambda _: None)
        with silent if as_json else open_display(Display(series, store)) as watch:
            jury = SeriesJury(series, named, mode, store, models, lease_manager, left, watch)
            standing = await jury.run()
        rows = [
            _found(debate_id[-6:].lower(), judging, await store.journal.read(debate_id, "verdict"))
            for debate_id, judging in jury.judged.items()
        ]
    _show(rows, as_json=as_json)
    missing = standing.total - standing.held
    if standing.ending is Ending.CAP:
        raise RostrumError(
            f"The cap is reached; {missing:,} debates were not read. Raise limits.usd or --usd, "
            "then run this again."
        )
    if missing:
        why = next(iter(jury.problems.values()))
        raise RostrumError(f"{missing:,} debates were not read. {why} Run this again.")


async def _read_each(
    debates: Sequence[Debate],
    caps: Caps,
    usd: float | None,
    store: Store,
    read: Callable[..., Awaitable[Judging]],
) -> list[dict[str, Any]]:
    """Have debates read one after the other; together they cost at most `usd`."""
    rows = []
    for debate in debates:
        if usd is not None:
            caps = caps.model_copy(update={"debate_usd": max(0.0, usd)})
        calls = UsageFilter(ids=(debate.id,))
        before = (await store.usage.read(calls)).sum("usd")
        judging = await read(debate, caps=caps)
        if usd is not None:
            usd -= (await store.usage.read(calls)).sum("usd") - before
        held = await store.journal.read(debate.id, "verdict")
        rows.append(_found(debate.code, judging, held))
    return rows


async def _find(store: Store, name: str) -> Debate:
    """Return a debate. Raises NotFoundError, which says that a series could be named too."""
    try:
        return await store.debates.get(name)
    except NotFoundError as error:
        if str(error) != no_debate(name):
            raise
        raise NotFoundError(
            f"There is no debate or series “{headline(clean(name), 30)}”; take an id from the "
            "list, or name a series that has run here."
        ) from None


def _found(code: str, judging: Judging, first: Record) -> dict[str, Any]:
    """Return what a jury found of a debate, beside the first jury's verdict."""
    verdict = judging.found and judging.found.verdicts.get(PANEL)
    ballots = judging.found.ballots if judging.found else ()
    return {
        "debate": code,
        "panel": judging.number,
        "winner": verdict.winner if verdict else None,
        "p": dict(verdict.p) if verdict else {},
        "held": first.verdict.winner if first.verdict else None,
        "ballots": [
            {"juror": one.juror, "order": "".join(one.order), "verdict": one.verdict}
            | {"valid": one.valid, "problem": one.problem, "recused": one.recused}
            for one in ballots
        ],
    }


def _show(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json({"debates": rows})
    else:
        print_lines(_jury_lines(rows))


def _jury_lines(rows: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    if len(rows) == 1:
        yield f"Debate {rows[0]['debate']}, read by panel {rows[0]['panel']}"
        for one in rows[0]["ballots"]:
            counts = " (recused, so it does not count)" if one["recused"] else ""
            yield f"  {one['juror']} in the order {one['order']}: {one['verdict'] or NONE}{counts}"
        now, first = (rows[0][name] or NONE for name in ("winner", "held"))
        yield f"Its verdict: {now}. The first jury's: {first}."
    else:
        both = [row for row in rows if row["winner"] and row["held"]]
        same = sum(row["winner"] == row["held"] for row in both)
        ballots = [one for row in rows for one in row["ballots"]]
        invalid = sum(not one["valid"] for one in ballots)
        yield f"{len(rows):,} debates read; {len(ballots):,} ballots, {invalid:,} of them invalid"
        yield f"It agrees with the first jury on {same:,} of {len(both):,} verdicts."
    yield (
        "Its ballots stand beside the first ones; exports have them in the table "
        "verdicts, by panel."
    )
