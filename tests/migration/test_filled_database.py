"""A database that the first release filled: what it held is still true of it, and goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from adapters.storage.connection import SqlConnection
from adapters.storage.database import Database
from adapters.storage.migrate import migrate, upgrade
from adapters.storage.store import SqlStore
from engine.dataset.writer import export
from engine.store import ExportFilter
from engine.store.served import Served, lane_of
from tests.scenario.test_export import table

CLOSED, OPEN = "01KJM00000000000000000AAAA", "01KJM00000000000000000BBBB"
NOON, EVENING = (datetime(2026, 3, 1, hour, tzinfo=UTC) for hour in (12, 18))
MAPLE = {"backend": "near", "name": "maple", "family": "maple"}
BIRCH = {"backend": "near", "name": "birch", "family": "birch"}
# Each as the first release wrote it.
SETUP = {
    "request": {
        **{"topic": "Tea or coffee", "conditions": "", "format": "classic", "language": "en"},
        **{"sides": {"A": MAPLE, "B": BIRCH}, "drawn": [], "seats": {}, "judges": []},
        **{"options": {}, "rounds": 1, "turn_order": "sequential", "blind": True},
        **{"scores": "after_vote", "ballot": "open", "vote_minutes": 30.0, "quorum": 1},
        **{"extend": True, "stance": False, "stance_seconds": 60.0, "again": False},
        **{"again_minutes": 1440.0, "broadcast": False},
    },
    "format_version": 1,
    "templates": "digest",
    "panel": {
        **{"roster": [MAPLE], "recused": [], "recusal_failed": False, "history": {}},
        **{"first_order": "AB", "slope": 0.9, "correlation": None, "mode": "adaptive"},
        **{"audit": False, "rubric": "panel", "blind": True},
    },
    "names": {"A": "Alder", "B": "Rowan"},
    "sampling": {"debater": {"temperature": 0.7, "max_tokens": 100}},
    "limits": {"opening": 500.0},
    **{"prices": {}, "seed": 7, "ordinal": 1, "cap_usd": None, "reserved_usd": 0.0},
    **{"chars_per_word": 1.5, "mirror_of": None},
}
VOTE = {
    **{"option": "A", "ambiguous": False, "late_seen": False, "tally_visible": True},
    **{"votes_seen_before": 0, "changes": 0, "question": "vote", "fast": False},
    **{"first_at": "2026-03-01T12:00:00Z", "last_at": "2026-03-01T12:00:00Z"},
}
GOLD = {"gold": True, "starter": False, "judge_visible": False, "mirror_revealed": False}
NO_GOLD = {**GOLD, "gold": False}
CAST = [
    {"person": 1, **VOTE, **GOLD},
    {"person": 2, **VOTE, **NO_GOLD, "starter": True},
    {"person": 3, **VOTE, **NO_GOLD, "judge_visible": True},
    {"person": 4, **VOTE, **NO_GOLD, "mirror_revealed": True},
    {"person": 5, **VOTE, **NO_GOLD, "ambiguous": True},
]


def turn(side: str, number: int) -> dict[str, Any]:
    """Return a turn as it was kept."""
    return {
        **{"step": f"turn/opening/{side}", "seat": side, "side": side, "round": "opening"},
        **{"number": number, "place": number, "text": "Tea wakes gently.", "words": 3},
        **{"limit": 500, "model": "maple", "violations": []},
    }


def insert(connection: SqlConnection, name: str, **row: Any) -> None:
    """Store a row; what is no number or text is stored as JSON."""
    plain = {k: json.dumps(v) if isinstance(v, dict | list) else v for k, v in row.items()}
    columns, places = ", ".join(f'"{key}"' for key in plain), ", ".join(f":{key}" for key in plain)
    connection.run(f"INSERT INTO {name} ({columns}) VALUES ({places})", **plain)  # noqa: S608


def fill(connection: SqlConnection) -> None:
    """Fill the first release's tables with a debate that is closed and one that is voted on."""
    insert(connection, "templates", digest="digest", texts={})
    for person in range(1, 6):
        user = f"user-{person}"
        insert(connection, "people", id=person, platform="chat", user=user, opted_out=False)
    add_debate(connection, CLOSED, 1, status="closed", revealed_at=EVENING)
    for body in CAST:
        insert(connection, "votes", debate=CLOSED, body=body, **_key(body))
    add_debate(connection, OPEN, 2, status="voting", revealed_at=None)
    target = {"platform": "chat", "place": "thread", "message": "m9", "debate": OPEN}
    insert(connection, "targets", **target, question="vote", step="", ballot="open", options="A B")
    event = {"debate": OPEN, "option": "A", "added": True, "how": "live", "received_at": NOON}
    noted = {"late_seen": False, "question": "vote", "step": ""}
    insert(connection, "vote_events", number=1, person=1, **event, **noted)


def _key(body: dict[str, Any]) -> dict[str, Any]:
    return {"person": body["person"], "question": body["question"]}


def add_debate(connection: SqlConnection, debate: str, number: int, **ended: Any) -> None:
    """Store a debate whose second turn the thread refused."""
    plain = {
        **{"id": debate, "number": number, "platform": "chat", "community": "club"},
        **{"place": "lobby", "starter": 2, "reason": "", "format": "classic", "language": "en"},
        **{"setup": SETUP, "reserved_usd": 0.0, "settled_usd": 0.5, "budget_day": "2026-03-01"},
        **{"created_at": NOON, "opened_at": NOON, "thread": "thread", "vote_message": "m9"},
        **{"vote_opened_at": NOON, "vote_deadline": EVENING},
        **dict.fromkeys(("gone", "vote_extended", "closed_early"), False),
    }
    insert(connection, "debates", **plain, **ended)
    for place, side in enumerate("AB", start=1):
        said = turn(side, place)
        insert(connection, "turns", debate=debate, step=said["step"], number=place, body=said)
        state = "sent" if side == "A" else "refused"
        post = {"kind": "turn", "message": said, "refs": [], "error": "", "state": state}
        common = {"debate": debate, "platform": "chat"}
        insert(connection, "outbox", **common, number=place, key=said["step"], **post)
        call = {"step": said["step"], "attempt": 1, "state": "failed", "model": "near/maple"}
        spent = {"prompt_hash": "", "error": "cut off", "cost": None, "cost_max": 0.25}
        began = {"request": {}, "started_at": NOON}
        insert(connection, "calls", debate=debate, **call, **spent, **began)


@pytest.fixture
async def migrated(empty_url: str) -> AsyncIterator[SqlStore]:
    database = Database(empty_url)
    await asyncio.to_thread(upgrade, database, "0001")
    await database.write(fill)
    await migrate(database)
    if database.dialect.path is not None:  # a server keeps to them by itself
        assert await database.rows("PRAGMA foreign_key_check") == []
    yield SqlStore(database)
    await database.close()


async def test_what_was_exported_before_is_exported_the_same_and_claims_no_more(
    migrated: SqlStore, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        await export(migrated, tmp_path / name, ExportFilter(), None, version="1")
    one, two = (sorted((tmp_path / name).rglob("*")) for name in ("one", "two"))
    assert [f.read_bytes() for f in one if f.is_file()] == [
        f.read_bytes() for f in two if f.is_file()
    ]
    votes = table(tmp_path / "one", "votes")
    assert {vote["recovery"] for vote in votes} == {"unknown"}
    why = {(vote["gold"], vote["reason"]) for vote in votes}
    others = {(False, "starter"), (False, "judge"), (False, "mirror"), (False, "ambiguous")}
    assert why == {(True, None), *others}
    [debate] = table(tmp_path / "one", "debates")
    assert (debate["gaps"], debate["n_a"], debate["gold_a"]) == (
        0,
        4,
        1,
    )  # an ambiguous one is in no tally
    assert (debate["human_winner"], debate["rehearsal"]) == ("A", False)
    assert (debate["cost_origin"], debate["cost_usd"]) == ("unknown", None)
    assert debate["replaced"] is None


async def test_an_open_vote_goes_on_and_its_gap_is_known(migrated: SqlStore) -> None:
    debate = await migrated.debates.get(OPEN)
    assert debate.gaps == 1
    assert [gap.key for gap in await migrated.outbox.gaps(OPEN)] == ["turn/opening/B"]
    target = await migrated.votes.target("chat", "thread", "m9")
    assert target is not None
    assert not target.unread
    [event] = await migrated.votes.events(OPEN)
    assert (event.option, event.given_at) == ("A", None)


async def test_its_debates_are_in_the_lanes_of_their_communities(migrated: SqlStore) -> None:
    community = (await migrated.debates.get(OPEN)).community
    share = lane_of(community) % 7
    for each in range(7):
        due = await migrated.votes.due("chat", served=Served(7, frozenset({each})))
        assert bool(due) is (each == share)
