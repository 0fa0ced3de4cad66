"""`rostrum usage`, and the table of what calls took that `rostrum series` prints too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rich.table import Column, Table

from bot.console import BETWEEN, TableConsole, pack, print_json, print_lines
from bot.filters import check_series, read_period
from bot.reading import read_store
from bot.settings.load import load_store_settings
from engine.store import Store
from engine.store.usage import By, Usage, UsageFilter
from engine.values.errors import UsageError
from engine.values.ports import utc_now
from engine.words.translation import plural

SCHEMA_VERSION = 1
WIDEST = 1000  # columns of a table
TITLES = ("debates", "calls", "failed", "tokens in", "out", "reasoning", "cached", "USD")
SINGULAR = {"debates": "debate", "calls": "call"}
INDENT = "  "
WHOLE_NUMBERS = (
    "debates",
    "calls",
    "failed",
    "tokens_in",
    "tokens_out",
    "tokens_reasoning",
    "tokens_cached",
)
SUMMED = (*WHOLE_NUMBERS[1:], "usd", "unpriced")
WITHOUT_KEY = {By.USER: "nobody known", By.SERIES: "no series"}


async def show_usage(
    *,
    by: str,
    since: str | None,
    until: str | None,
    series: str | None,
    include_rehearsal: bool,
    as_json: bool,
) -> None:
    """Print what the calls of everything that was held took. Raises UsageError."""
    key = _read_by(by)
    first, last = read_period(since, until)
    where = UsageFilter(
        since=first,
        until=last,
        series=series,
        without_rehearsal=not include_rehearsal,
    )
    async with read_store(load_store_settings()) as store:
        await check_series(store, series)
        usage = await store.usage.read(where, key)
        left_out = await _count_left_out(store, where, usage.debates)
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
    if usage.takings and today.debates:
        print(
            f"Today (UTC): {today.spent:.4f} USD spent, {today.reserved:.4f} USD reserved, "
            "everywhere together."
        )


def _read_by(text: str) -> By:
    try:
        return By(text.strip().lower())
    except ValueError:
        known = ", ".join(By)
        raise UsageError(f"--by is “{text}”; it must be one of {known}.") from None


async def _count_left_out(store: Store, where: UsageFilter, counted: int) -> int:
    if not where.without_rehearsal:
        return 0
    every = UsageFilter(where.since, where.until, where.series, where.debate)
    return await store.usage.debates(every) - counted


def to_rows(usage: Usage, by: By = By.MODEL) -> list[dict[str, Any]]:
    """Return what calls took as JSON has it: the key under its name, a role only of a model."""
    rows = []
    for one in usage.takings:
        figures = one._asdict()
        key, role = figures.pop("key") or None, figures.pop("role")
        rows.append({by.value: key, **({"role": role} if by is By.MODEL else {}), **figures})
    return rows


def print_usage(usage: Usage, by: By = By.MODEL) -> None:
    """Print what calls took by their key, and in all; where a table is too wide, in lines."""
    if not usage.takings:
        print("There are no calls to count yet.")
        return
    roles, console = by is By.MODEL, TableConsole()
    rows = [
        ((one.key or WITHOUT_KEY.get(by, ""), one.role), one._asdict()) for one in usage.takings
    ]
    rows.append((("all", ""), _add_up(usage)))
    numbers = (Column(title, justify="right", no_wrap=True) for title in TITLES)
    keys = (Column(title, no_wrap=True) for title in (by.value, *(("role",) if roles else ())))
    table = Table(*keys, *numbers, box=None, pad_edge=False)
    for names, figures in rows:
        table.add_row(*names[: 1 + roles], *_cells(figures))
    width = TableConsole(WIDEST).measure(table).maximum
    if width > console.width and console.is_terminal:
        for names, figures in rows:
            print_lines(_in_lines(filter(None, names), figures, console.width))
    else:
        console.width = max(width, console.width)
        console.print(table)
    if unpriced := usage.sum("unpriced"):
        print(
            plural(
                "USD leaves out {n} call of unknown cost.",
                "USD leaves out {n} calls of unknown cost.",
                unpriced,
            )
        )


def _in_lines(names: Iterable[str], figures: dict[str, Any], width: int) -> Iterator[str]:
    """Yield a row in lines that fit, the figures below their key."""
    yield BETWEEN.join(names)
    cells = zip(_cells(figures), TITLES, strict=True)
    parts = (f"{cell} {SINGULAR.get(unit, unit) if cell == '1' else unit}" for cell, unit in cells)
    for line in pack(parts, width - len(INDENT)):
        yield f"{INDENT}{line}"


def _add_up(usage: Usage) -> dict[str, Any]:
    return {"debates": usage.debates, **{name: usage.sum(name) for name in SUMMED}}


def _cells(figures: dict[str, Any]) -> list[str]:
    usd = f"{figures['usd']:.4f}"
    numbers = (f"{figures[name]:,}" for name in WHOLE_NUMBERS)
    return [*numbers, f"≥ {usd}" if figures["unpriced"] else usd]
