"""What an operator does beside a running Rostrum: list, show, cancel, resume, back up."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table
from ulid import ULID

from adapters.storage.database import Database
from adapters.storage.store import SqlStore
from bot.app import defaults_of
from bot.reading import read_store
from bot.settings import load_settings
from engine.clock import SystemClock
from engine.debate import Debate, Status, utc_now
from engine.errors import ExportError, NotFoundError, UsageError
from engine.keeper import LEASE_SECONDS
from engine.privacy import forget, purge
from engine.text import headline

TOPIC_WIDTH = 60
NARROWEST = 80  # below that ids and states would be cut; a narrower terminal breaks the lines
PIPE_WIDTH = 200  # who reads a pipe wants whole lines
STOPPED = "An operator stopped it."
FORGOTTEN = "Forgotten: no row tells of that user any more, and nothing new of them is stored."
NOT_KNOWN = "Nothing was stored of that user on that platform, and nothing will be from now on."
LATER_WIPED = (
    "An older state of the database is being read; the process that runs overwrites it in a few "
    "seconds, or the last one to end."
)


async def list_debates(state: str | None, limit: int) -> None:
    """Print the newest debates, one a line; only a narrow terminal folds their topics."""
    statuses = _read_states(state)
    async with read_store(load_settings()) as store:
        debates = await store.debates.recent(statuses, limit)
    titles = ("id", "state", "platform", "format", "started (UTC)")
    table = Table(*(Column(title, no_wrap=True) for title in titles), "topic", box=None)
    for debate in debates:
        table.add_row(
            debate.code,
            debate.status,
            debate.platform,
            debate.request.format,
            f"{debate.created_at:%Y-%m-%d %H:%M}",
            headline(debate.request.topic, TOPIC_WIDTH),
        )
    console = Console(highlight=False)
    console.width = max(console.width, NARROWEST) if sys.stdout.isatty() else PIPE_WIDTH
    console.print(table if debates else "No debates.", markup=False)


async def show_debate(debate_id: str) -> None:
    """Print a debate's state, steps, money, and what it waits for."""
    async with read_store(load_settings()) as store:
        debate = await store.debates.get(debate_id)
        for name, value in await _describe(store, debate):
            print(f"{name:<10} {value}")


async def cancel_debate(debate_id: str) -> None:
    """Leave the wish that a running debate stops; its process sees it within seconds."""
    async with read_store(load_settings()) as store:
        debate = await store.debates.get(debate_id)
        if not debate.status.live:
            raise UsageError(f"Debate {debate.code} is {debate.status}; only a running one stops.")
        await store.debates.ask_stop(debate.id, STOPPED)
        lease = await store.leases.claim(f"debate/{debate.id}", str(ULID()), LEASE_SECONDS)
        if lease is not None:
            # Nobody thinks for it any more, so nobody else would read the wish.
            await store.debates.advance(lease, debate.id, Status.CANCELLED, STOPPED)
            await store.leases.release(lease)
    print(f"Debate {debate.code} {'is stopped' if lease else 'is asked to stop'}.")


async def resume_debate(debate_id: str) -> None:
    """Queue a failed or partial debate again, for the process that runs debates."""
    settings = load_settings()
    async with read_store(settings) as store:
        debate = await store.debates.get(debate_id)
        if debate.status not in (Status.FAILED, Status.PARTIAL):
            raise UsageError(f"Debate {debate.code} is {debate.status}; nothing is to be resumed.")
        await store.debates.requeue(debate.id, defaults_of(settings).caps, utc_now())
    print(f"Debate {debate.code} is queued. In a terminal: rostrum debate --resume {debate.code}")


async def forget_person(platform: str, user: str) -> None:
    """Forget a person, as they can do themselves with `/debate forget`."""
    _check_named("user", user)
    async with read_store(load_settings()) as store:
        known = (await store.people.traces(platform, user)).known
        wiped = await forget(store, SystemClock(), platform, user)
    said = FORGOTTEN if known else NOT_KNOWN
    print(said if wiped else f"{said} {LATER_WIPED}")


async def purge_community(platform: str, community: str) -> None:
    """Delete the debates of a community wholly, and what is kept for it."""
    _check_named("community", community)
    async with read_store(load_settings()) as store:
        debates = await purge(store, platform, community)
        await store.people.wipe()
    print(f"Deleted {debates} debate{'' if debates == 1 else 's'}, and what was kept beside them.")


async def disconnect_community(platform: str, community: str) -> None:
    """Delete the token that a community gave; a running process uses it until it ends."""
    _check_named("community", community)
    async with read_store(load_settings()) as store:
        if not await store.installs.drop(platform, community):
            raise NotFoundError(f"No token of {platform} {community} is stored.")
        await store.people.wipe()
    print("Deleted its token. A Rostrum that runs now uses it until it is started anew.")


async def back_up(out: Path) -> None:
    """Copy the database into a file, consistent also while Rostrum runs on it."""
    database = Database(load_settings().database_url.get_secret_value(), writable=False)
    try:
        size = await asyncio.to_thread(_copy, database, out)
    finally:
        await database.close()
    print(f"Copied {database.path} to {out} ({size:,} bytes).")


def _copy(database: Database, out: Path) -> int:
    """Copy page by page with SQLite's own backup, which sees one state of the database."""
    if not database.path.exists():
        raise UsageError(f"There is no database {database.path} to copy.")
    if out.exists():
        raise UsageError(f"{out} exists already; name a new file.")
    try:
        with database.snapshot() as source, closing(sqlite3.connect(out)) as copy:
            source.connection.backup(copy)
    except (sqlite3.Error, OSError) as error:
        out.unlink(missing_ok=True)
        raise ExportError(
            f"The backup could not be written to {out}: {error}; free space or name another place."
        ) from error
    return out.stat().st_size


def _check_named(kind: str, given: str) -> None:
    if not given.strip():
        raise UsageError(f"No {kind} is named; write the {kind}'s id on that platform.")


def _read_states(state: str | None) -> tuple[Status, ...]:
    if state is None:
        return ()
    try:
        return (Status(state.strip().lower()),)
    except ValueError:
        known = ", ".join(status.value for status in Status)
        raise UsageError(f"--state is “{state}”; it has to be one of {known}.") from None


async def _describe(store: SqlStore, debate: Debate) -> list[tuple[str, str]]:
    tries, usd = await store.journal.spending(debate.id)
    journaled = await store.journal.load(debate.id)
    cap = debate.setup.cap_usd
    going = debate.status.live or debate.status is Status.VOTING
    lines = [
        ("debate", f"{debate.id} ({debate.code})"),
        ("topic", headline(debate.request.topic, 200)),
        ("state", debate.status.value),
        ("waits for" if going else "why", debate.reason or "-"),
        ("format", f"{debate.request.format}, {debate.request.turn_order.value}"),
        ("place", f"{debate.platform}, community {debate.community}"),
        ("started", f"{debate.created_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("money", f"{_money(usd)} of {_money(cap) if cap is not None else 'no cap'}"),
        ("steps", f"{len(journaled.steps)} done, {tries} tries"),
    ]
    if debate.vote_deadline is not None:
        lines.append(("vote until", f"{debate.vote_deadline:%Y-%m-%d %H:%M:%S} UTC"))
    return lines + [("", step) for step in journaled.steps]


def _money(usd: float | None) -> str:
    return "unknown" if usd is None else f"{usd:.4f} USD"
