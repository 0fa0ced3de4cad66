"""`rostrum judge … --jurors`: another jury reads a debate that has ended, or those of a series."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from bot import sentences
from bot.app import defaults_of
from bot.commands.data import EVERY_DEBATE, DebateChoice
from bot.console import confirm, print_json, print_lines
from bot.record.filters import debates_of
from bot.research.judgments import asking
from bot.research.series_progress import Display, open_display
from bot.research.series_runs import SeriesEndedError
from bot.settings.load import load_settings, read_models
from engine.run.later_judges import read_again
from engine.series.later_juries import SeriesJury, cap_left
from engine.series.runner import Ending
from engine.series.spec import Series
from engine.store import Judging, Store
from engine.store.debates import no_debate
from engine.store.journal import PANEL, Record
from engine.store.usage import UsageFilter
from engine.values.debate import Debate, PanelMode
from engine.values.errors import NotFoundError
from engine.values.limits import Caps
from engine.values.options import parse_choice
from engine.values.text import clean, headline

NONE = "no verdict"


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

    The same jury is paid once. Raises SeriesEndedError if debates are missing: ask again.
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
        raise SeriesEndedError(
            f"The cap is reached; {missing:,} debates were not read. Raise limits.usd or --usd, "
            "then run this again."
        )
    if missing:
        why = next(iter(jury.problems.values()))
        raise SeriesEndedError(f"{missing:,} debates were not read. {why} Run this again.")


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
        print_lines(_lines(rows))


def _lines(rows: Sequence[Mapping[str, Any]]) -> Iterable[str]:
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
