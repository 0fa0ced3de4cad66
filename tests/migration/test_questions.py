"""A database that the release before the table of questions filled: all goes on as it would have.

`filled_0008.sql` has debates in every state that a question can be in. `filled_0008.json` says what
that release held to be true of them (`before`), who reacted to which message, and what it made of
them when it came up again 45 minutes later (`after`; what is posted by then is in today's words).
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import engine.votes.window
from adapters.storage.database import Database
from adapters.storage.migrate import migrate
from adapters.storage.store import SqlStore
from adapters.storage.votes import INSERT_VOTE
from engine.judging import Question
from engine.marks import reaction_to
from engine.store import DebateRecord, DeliveryState, ExportFilter
from tests.doubles.memory.venue import MemoryVenue, StoredMessage
from tests.doubles.poll import HandSetClock, watcher
from tests.doubles.waiting import HANG_SECONDS

HERE = Path(__file__).parent
FILLED = json.loads((HERE / "filled_0008.json").read_text())
NAMES = {debate: name for name, debate in FILLED["ids"].items()}
NOW = datetime.fromisoformat(FILLED["now"])
MOMENTS = {"first_at", "last_at", "received_at"}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    path = tmp_path / "filled.db"
    with sqlite3.connect(path) as filled:
        filled.executescript((HERE / "filled_0008.sql").read_text())
    filled.close()
    database = Database(f"sqlite+aiosqlite:///{path}")
    await migrate(database)
    assert await database.rows("PRAGMA foreign_key_check") == []
    yield SqlStore(database)
    await database.close()


async def test_what_was_known_of_debates_and_their_questions_is_known(store: SqlStore) -> None:
    for name, known in FILLED["before"]["debates"].items():
        debate = await store.debates.get(FILLED["ids"][name])
        assert _known(debate.model_dump(mode="json"), known["debate"]) == known["debate"]
        targets = await store.votes.targets(debate.id, *Question)
        read = {(t.question, t.step): await store.votes.silences(t) for t in targets}
        stored = [[*of, silences.model_dump(mode="json")] for of, silences in sorted(read.items())]
        assert stored == known["read"]
        # The vote's own messages close with it now; before, only its debate said so.
        ended = {Question.VOTE, Question.STANCE_AFTER} if debate.revealed_at else set()
        told = sorted([t.question, t.step, t.message, t.closed, t.unread] for t in targets)
        assert told == [
            [question, step, message, closed or question in ended, unread]
            for question, step, message, closed, unread in known["targets"]
        ]


async def test_what_was_open_is_due_when_it_was(store: SqlStore) -> None:
    due = await store.votes.due("memory", now=NOW)
    told = [[one.question, NAMES[one.debate], at.isoformat()] for one, at in due.items()]
    assert sorted(told) == FILLED["before"]["due"]
    assert list(due.values()) == sorted(due.values())


async def test_what_was_open_closes_with_the_same_result(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.votes.window, "LOOK_SECONDS", 0.02)
    venue, clock = _venue(), HandSetClock()
    clock.pass_minutes((NOW - clock.now()).total_seconds() / 60 + 45)
    window = watcher(store, venue, clock)
    venue.listener = window.hearing.hear
    task = asyncio.create_task(window.run())
    expected = FILLED["after"]
    async with asyncio.timeout(HANG_SECONDS):
        while await _statuses(store) != {name: one["status"] for name, one in expected.items()} or (
            {NAMES[one.debate] for one in await store.votes.due("memory", now=clock.now())}
            != {"again", "few"}
        ):
            window.bell.ring("votes/memory")
            await asyncio.sleep(0.01)
        while not window.bell._waiting.keys() >= {"votes/memory", "thumbs/memory"}:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    records = await asyncio.to_thread(_records, store)
    for name, outcome in expected.items():
        found = await _outcome(store, FILLED["ids"][name], records)
        assert _known(found, outcome) == outcome, name


async def test_stored_votes_are_kept_and_rounds_have_a_place_beside_them(store: SqlStore) -> None:
    with sqlite3.connect(":memory:") as before:
        before.executescript((HERE / "filled_0008.sql").read_text())
        held = before.execute("SELECT debate, person, question, body FROM votes").fetchall()
    before.close()
    kept = await store._database.rows("SELECT debate, person, question, body, step FROM votes")
    assert sorted(tuple(row) for row in kept) == sorted((*row, "") for row in held)
    assert held
    row = {"debate": held[0][0], "person": held[0][1], "question": "round", "body": "{}"}
    for step in ("opening", "rebuttal"):
        await store._database.run(INSERT_VOTE, step=step, **row)


def _venue() -> MemoryVenue:
    """Return the platform with what people reacted to each message: with letters for sides."""
    venue = MemoryVenue()
    for number, (message, held) in enumerate(FILLED["venue"].items()):
        stored = StoredMessage(message, number, held["place"], "", "", 0.0)
        stored.seeds = {reaction_to(option, "letters") for option in held["seeds"]}
        stored.reactions = {
            reaction_to(option, "letters"): set(users)
            for option, users in held["reactions"].items()
        }
        venue.messages[message] = stored
        venue.places[held["place"]].append(stored)
    return venue


async def _statuses(store: SqlStore) -> dict[str, str]:
    return {name: (await store.debates.get(of)).status for name, of in FILLED["ids"].items()}


def _records(store: SqlStore) -> dict[str, DebateRecord]:
    with store.archive.reading(ExportFilter()) as records:
        return {record.debate.id: record for record in records}


async def _outcome(store: SqlStore, of: str, records: dict[str, DebateRecord]) -> Any:
    debate, record = await store.debates.get(of), records.get(of)
    logs = (await store.votes.events(of), await store.votes.events(of, Question.TURN))
    outcome = {
        "status": debate.status,
        "reason": debate.reason,
        "extended": debate.vote_extended,
        "stances closed": debate.stance_closed_at is not None,
        "mirror revealed": debate.mirror_revealed_at is not None,
        "answers": [answer._asdict() for answer in record.answers] if record else [],
        "labels": [label.model_dump(mode="json") for label in record.labels] if record else [],
        "events": [
            [e.question, e.step, e.person, e.option, e.added, e.how] for log in logs for e in log
        ],
        "targets": sorted([t.question, t.message, t.unread] for t in await store.votes.targets(of)),
        "messages": await _messages(store, of),
    }
    return _plain(outcome)


async def _messages(store: SqlStore, of: str) -> list[list[Any]]:
    """Return what is queued for a thread."""
    found: list[list[Any]] = []
    lease = await store.leases.claim(f"read/{of}", "test", 60)
    assert lease is not None
    while (intent := await store.outbox.next(of)) is not None:
        found.append([intent.key, intent.message.model_dump(mode="json")])
        await store.outbox.settle(lease, intent, DeliveryState.SENT)
    return found


def _known(value: Any, old: Any) -> Any:
    """Return a value without the fields that the old release did not have yet."""
    if isinstance(value, dict) and isinstance(old, dict):
        return {key: _known(item, old[key]) for key, item in value.items() if key in old}
    if isinstance(value, list) and isinstance(old, list) and len(value) == len(old):
        return [_known(item, known) for item, known in zip(value, old, strict=True)]
    return value


def _plain(value: Any) -> Any:
    """Return a value as JSON has it, without the moments, which two clocks do not share."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key not in MOMENTS}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
