"""Tables that fit their console; `rostrum list`, `rostrum show` and `rostrum usage` are some."""

from __future__ import annotations

import re
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from rich.measure import Measurement
from rich.table import Table

from bot.commands.choice import EVERY_DEBATE, NO_REHEARSALS, DebateChoice
from bot.console import TableConsole, pack, print_json, print_lines
from bot.database import read_store
from bot.record.filters import check_series, chosen_ids, narrowed, where_of
from bot.settings.load import load_store_settings
from engine.delivery.reasons import INTERRUPTED, interrupted, way_on
from engine.store import DeliveryState, Store
from engine.store.listings import DebateQuery
from engine.store.usage import By, CallUsage, Failed, UsageFilter, UsageTotals
from engine.values.debate import Debate, Status
from engine.values.errors import UsageError
from engine.values.ports import utc_now
from engine.values.text import clean, headline, redact
from engine.values.verdicts import Question
from engine.words.reveal import UNREAD
from engine.words.translation import plural

MARGIN, UNBOUNDED = 2, 10_000
NUMBER = re.compile(r"(≥ )?[-−+]?\d[\d,.]*( ?%)?|–|")


def show_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Iterable[object]],
    *,
    complete: bool = False,
) -> None:
    """Print a table whose first column names its rows; without rows nothing.

    Unless it is `complete`, columns and rows that say nothing are left out, and what all rows say
    alike is said once, below. Nothing is cut: where a terminal is too narrow, each row becomes
    lines.
    """
    said = [[str(cell) for cell in row] for row in rows]
    same = {} if complete else _alike(columns, said)
    shown = [at for at, name in enumerate(columns) if name not in same]
    names = [columns[at] for at in shown]
    kept = [[row[at] for at in shown] for row in said]
    kept = [row for row in kept if complete or any(row[1:])]
    if not kept:
        return
    console = TableConsole()
    if not complete:
        console.print()
    if title:
        console.print(title, style="italic")
    table = Table(box=None, pad_edge=False)
    for at, heading in enumerate(names):
        numbers = at > 0 and all(NUMBER.fullmatch(row[at]) for row in kept)
        table.add_column(heading, justify="right" if numbers else "left")
    for row in kept:
        table.add_row(*row)
    unbounded = console.options.update(width=UNBOUNDED)
    width = Measurement.get(console, unbounded, table).maximum
    if width <= console.width or not console.is_terminal:
        console.width = max(width, console.width)
        console.print(table)
    else:
        for line in _in_lines(names, kept, console.width):
            console.print(line)
    for name, cell in same.items():
        if cell:
            console.print(f"{name}: {cell}.")


def _alike(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return what all of several rows say alike, by column, where that is no figure."""
    cells = {name: {row[at] for row in rows} for at, name in enumerate(columns) if name}
    alike = {name: one.pop() for name, one in cells.items() if len(one) == 1 and len(rows) > 1}
    return {
        name: cell
        for name, cell in alike.items()
        if not any(character.isdecimal() for character in cell)
    }


def _in_lines(names: Sequence[str], rows: Iterable[Sequence[str]], width: int) -> Iterator[str]:
    """Yield each row in lines that fit, its cells below its name."""
    for first, *others in rows:
        yield first
        named = zip(names[1:], others, strict=True)
        cells = (f"{name} {cell}".strip() for name, cell in named if cell)
        for line in pack(cells, width - MARGIN):
            yield f"{' ' * MARGIN}{line}"


# `rostrum list` and `rostrum show`: debates as an operator sees them, as text or as JSON.


SCHEMA_VERSION = 1  # of both JSON documents; docs/operations.md describes them
# A topic takes what a line leaves it; its code tells debates apart.
TOPIC_WIDTH, SHORTEST_TOPIC, GAP = 60, 20, 2
WIDEST_TEXT = 100  # characters in a line of a transcript


async def list_debates(
    state: str | None,
    limit: int,
    chosen: DebateChoice = EVERY_DEBATE,
    *,
    as_json: bool = False,
) -> None:
    """Print the newest debates, one per line where the terminal is wide enough."""
    where, sought = where_of(chosen), _read_state(state)
    async with read_store(load_store_settings()) as store:
        sought = await narrowed(store, sought, where)
        debates, _ = await store.listings.find(sought, 0, limit)
        gone = await interrupted(store, debates)
    if as_json:
        _print_json({"debates": [_summary(one, gone) for one in debates]})
        return
    show_debates(debates, gone)


def show_debates(debates: Sequence[Debate], gone: Container[str]) -> None:
    """Print a table of debates, whose topics are shortened; those `gone` wait for a process."""
    if not debates:
        print("No debates.")
    rows = [
        (
            debate.code,
            INTERRUPTED if debate.id in gone else debate.status,
            debate.platform,
            debate.request.format,
            f"{debate.created_at:%Y-%m-%d %H:%M}",
        )
        for debate in debates
    ]
    titles = ("id", "state", "platform", "format", "started (UTC)")
    taken = sum(max(map(len, column)) + GAP for column in zip(titles, *rows, strict=True))
    left = TableConsole().width - taken
    width = min(left, TOPIC_WIDTH) if left >= SHORTEST_TOPIC else TOPIC_WIDTH
    topics = (headline(debate.request.topic, width) for debate in debates)
    told = ((*row, topic) for row, topic in zip(rows, topics, strict=True))
    show_table("", (*titles, "topic"), told, complete=True)


async def show_debate(debate_id: str, *, as_json: bool = False, transcript: bool = False) -> None:
    """Print a debate's state, steps, cost, and what it is waiting for; or what was said in it.

    A transcript is Markdown, or text in a terminal. Raises UsageError for both forms at once.
    """
    if as_json and transcript:
        raise UsageError("Give either --json or --transcript.")
    async with read_store(load_store_settings()) as store:
        debate = await store.debates.get(debate_id)
        if transcript:
            await _print_transcript(store, debate)
            return
        tries, usd = await store.journal.spending(debate.id)
        targets = await store.votes.targets(debate.id, Question.VOTE)
        seen = _DebateView(
            debate=debate,
            gone=await interrupted(store, [debate]),
            steps=tuple((await store.journal.load(debate.id)).steps),
            tries=tries,
            usd=usd,
            origins=await store.usage.cost_origins(debate.id),
            totals=tuple((await store.usage.read(UsageFilter(debate=debate.id))).totals),
            unread=any(target.unread for target in targets),
            gaps=await store.deliveries.gaps(debate.id),
            failures=await store.usage.failures(debate.id),
        )
    if as_json:
        _print_json(_to_json(seen))
        return
    print_lines(f"{name:<10} {value}" for name, value in _lines(seen))


async def _print_transcript(store: Store, debate: Debate) -> None:
    # Imported only here: templates take a while, and the other forms need none.
    from engine.dataset.page import write_markdown
    from engine.pages.stored import StoredLibrary

    text = clean(write_markdown(await StoredLibrary(store).report(debate.id)))
    if not sys.stdout.isatty():
        print(text, end="")
        return
    from rich.markdown import Markdown

    console = TableConsole()
    console.print(Markdown(text, hyperlinks=False), width=min(console.width, WIDEST_TEXT))


def _print_json(found: Mapping[str, Any]) -> None:
    document = {"schema_version": SCHEMA_VERSION, **found}
    print_json(document)


def _read_state(state: str | None) -> DebateQuery:
    if state is None:
        return DebateQuery()
    if (name := state.strip().lower()) == INTERRUPTED:
        return DebateQuery(interrupted=True)
    try:
        return DebateQuery(status=Status(name))
    except ValueError:
        known = ", ".join((*Status, INTERRUPTED))
        raise UsageError(f"--state is “{state}”; it must be one of {known}.") from None


class _DebateView(NamedTuple):
    """What an operator may know of a debate; money is USD, None is unknown."""

    debate: Debate
    gone: Container[str]
    steps: tuple[str, ...]
    tries: int
    usd: float | None
    origins: Mapping[str, int]
    totals: tuple[UsageTotals, ...]
    unread: bool
    gaps: tuple[tuple[str, DeliveryState, str], ...]
    failures: tuple[Failed, ...]


# --- as text -----------------------------------------------------------------------------


def _lines(seen: _DebateView) -> Iterator[tuple[str, str]]:
    debate, cap = seen.debate, seen.debate.setup.cap_usd
    yield "debate", f"{debate.id} ({debate.code})"
    yield "topic", headline(debate.request.topic, 200)
    yield from ((f"{side} argues", said) for side, said in debate.request.stances.items())
    if debate.id in seen.gone:
        yield "state", INTERRUPTED
        yield "waits for", f"a process; go on with: {way_on(debate)}"
    else:
        yield "state", debate.status.value
        yield "waits for" if _goes_on(debate) else "why", debate.reason or "-"
    yield "format", f"{debate.request.format}, {debate.request.turn_order.value}"
    yield "place", f"{debate.platform}, community {debate.community}"
    yield "started", f"{debate.created_at:%Y-%m-%d %H:%M:%S} UTC"
    yield "money", f"{_money(seen.usd)} of {_money(cap) if cap is not None else 'no cap'}"
    yield "prices from", ", ".join(f"{name} ({n})" for name, n in seen.origins.items()) or "-"
    yield "steps", f"{len(seen.steps)} done, {plural('{n} try', '{n} tries', seen.tries)}"
    for usage in seen.totals:
        counts = f"{usage.tokens_reasoning:,} reasoning, {usage.tokens_cached:,} cached"
        used = f"{usage.tokens_in:,} in, {usage.tokens_out:,} out ({counts})"
        yield "tokens", f"{used} by {usage.key} as {usage.role}"
    if debate.vote_deadline is not None:
        yield "vote until", f"{debate.vote_deadline:%Y-%m-%d %H:%M:%S} UTC"
    if seen.unread:
        yield "votes", UNREAD
    for key, state, why in seen.gaps:
        template = (
            "{post} is missing: {why}"
            if state is DeliveryState.REFUSED
            else "{post} may be missing: {why}"
        )
        yield "thread", template.format(post=key, why=why)
    for one in seen.failures:
        times = f" ({one.tries} tries)" if one.tries > 1 else ""
        yield "failed", f"{one.step}: {one.model} {one.why}{times}"
    yield from (("", step) for step in seen.steps)


def _goes_on(debate: Debate) -> bool:
    return debate.status.live or debate.status is Status.VOTING


def _money(usd: float | None) -> str:
    return "unknown" if usd is None else f"{usd:.4f} USD"


# --- as JSON -----------------------------------------------------------------------------


def _summary(debate: Debate, gone: Container[str]) -> dict[str, Any]:
    """Return the fields of `rostrum list`; mentions of people are removed from texts."""
    request = debate.request
    return {
        "id": debate.id,
        "code": debate.code,
        "state": debate.status.value,
        "interrupted": debate.id in gone,
        "reason": debate.reason or None,
        "cause": debate.cause,
        "platform": debate.platform,
        "community": debate.community,
        "format": request.format,
        "language": request.language,
        "topic": redact(request.topic),
        "series": debate.series,
        "started": _moment(debate.created_at),
        "revealed": _moment(debate.revealed_at),
    }


def _to_json(seen: _DebateView) -> dict[str, Any]:
    """Return the fields of `rostrum show`: those of `rostrum list`, and more."""
    debate, request = seen.debate, seen.debate.request
    return _summary(debate, seen.gone) | {
        "goes_on": _goes_on(debate),
        "stances": {side: redact(stance) for side, stance in request.stances.items()},
        "turn_order": request.turn_order.value,
        "vote_until": _moment(debate.vote_deadline),
        "usd": seen.usd,
        "cap_usd": debate.setup.cap_usd,
        "price_origins": dict(seen.origins),
        "steps": list(seen.steps),
        "tries": seen.tries,
        "tokens": [
            {
                "model": one.key,
                "role": one.role,
                "in": one.tokens_in,
                "out": one.tokens_out,
                "reasoning": one.tokens_reasoning,
                "cached": one.tokens_cached,
            }
            for one in seen.totals
        ],
        "votes_unread": seen.unread,
        "gaps": [
            {"post": key, "missing": state is DeliveryState.REFUSED, "why": why}
            for key, state, why in seen.gaps
        ],
        "failures": [one._asdict() for one in seen.failures],
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


# `rostrum usage`, and the table of what calls took that `rostrum series` prints too.


TITLES = {
    "debates": "debates",
    "calls": "calls",
    "failed": "failed",
    "lost": "cut off",  # shown where there are any
    "tokens_in": "tokens in",
    "tokens_out": "out",
    "tokens_reasoning": "reasoning",
    "tokens_cached": "cached",
    "minutes": "minutes",  # shown by arm
}
SUMMED = (*(name for name in TITLES if name != "debates"), "usd", "unpriced")
WITHOUT_KEY = {By.USER: "nobody known", By.SERIES: "no series", By.ARM: "no arm"}


async def show_usage(
    by: str = By.MODEL, chosen: DebateChoice = NO_REHEARSALS, *, as_json: bool = False
) -> None:
    """Print what the calls of everything that was held took. Raises UsageError."""
    try:
        key = By(by.strip().lower())
    except ValueError:
        known = ", ".join(By)
        raise UsageError(f"--by is “{by}”; it must be one of {known}.") from None
    debates = where_of(chosen)
    where = UsageFilter(
        since=debates.since,
        until=debates.until,
        series=debates.series,
        community=debates.community,
        formats=debates.formats,
        languages=debates.languages,
        without_rehearsal=debates.without_rehearsal,
    )
    async with read_store(load_store_settings()) as store:
        await check_series(store, chosen.series)
        if chosen.quorum_met:
            decided = replace(debates, since=None, until=None)
            where = replace(where, ids=await chosen_ids(store, decided) or ("",))
        usage = await store.usage.read(where, key)
        left_out = 0
        if where.without_rehearsal:
            every = replace(where, without_rehearsal=False)
            left_out = await store.usage.debates(every) - usage.debates
        today = await store.usage.day(utc_now())
    if as_json:
        found = {"schema_version": SCHEMA_VERSION, "by": key, "rehearsal_left_out": left_out}
        found |= {"today": {"spent_usd": today.spent, "reserved_usd": today.reserved}}
        found |= {"rows": to_rows(usage, key), "all": _add_up(usage)}
        print_json(found)
        return
    print_usage(usage, key)
    if left_out:
        print(
            plural(
                "Rehearsal debates left out: {n} (--include-rehearsal adds it).",
                "Rehearsal debates left out: {n} (--include-rehearsal adds them).",
                left_out,
            )
        )
    if usage.totals and today.debates:
        print(
            f"Today (UTC): {today.spent:.4f} USD spent, {today.reserved:.4f} USD reserved, "
            "everywhere together."
        )


def to_rows(usage: CallUsage, by: By = By.MODEL) -> list[dict[str, Any]]:
    """Return what calls took as JSON has it: the key under its name, a role only of a model."""
    rows = []
    for one in usage.totals:
        figures = one._asdict()
        key, role = figures.pop("key") or None, figures.pop("role")
        rows.append({by.value: key, **({"role": role} if by is By.MODEL else {}), **figures})
    return rows


def print_usage(usage: CallUsage, by: By = By.MODEL) -> None:
    """Print what calls took by their key, and in all."""
    if not usage.totals:
        print("There are no calls to count yet.")
        return
    roles = 1 + (by is By.MODEL)
    rows = [
        ((one.key or WITHOUT_KEY.get(by, ""), one.role)[:roles], one._asdict())
        for one in usage.totals
    ]
    rows.append((("all", "")[:roles], _add_up(usage)))
    also = {"lost": usage.sum("lost"), "minutes": by is By.ARM}
    shown = [name for name in TITLES if also.get(name, True)]
    show_table(
        "",
        (*(by.value, "role")[:roles], *(TITLES[name] for name in shown), "USD"),
        ((*names, *_cells(figures, shown)) for names, figures in rows),
        complete=True,
    )
    if unpriced := usage.sum("unpriced"):
        print(
            plural(
                "USD leaves out {n} call of unknown cost.",
                "USD leaves out {n} calls of unknown cost.",
                unpriced,
            )
        )


def _add_up(usage: CallUsage) -> dict[str, Any]:
    return {"debates": usage.debates, **{name: usage.sum(name) for name in SUMMED}}


def _cells(figures: dict[str, Any], shown: Sequence[str]) -> list[str]:
    usd = f"{figures['usd']:.4f}"
    numbers = (f"{round(figures[name], 1):,}" for name in shown)
    return [*numbers, f"≥ {usd}" if figures["unpriced"] else usd]
