"""From debates in a real database to an export folder."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from adapters.database.database import SqlDatabase
from bot.commands.choice import DebateChoice
from bot.record import exports
from bot.record.filters import ExportChoices
from engine.dataset.folder import FileFormat, Manifest
from engine.dataset.tables import ExportRequest
from engine.dataset.writer import export
from engine.store import AttemptStart, Closing, ExportFilter, Lease, Post, Store
from engine.values.debate import Sampling, Status
from engine.values.errors import UsageError
from engine.values.messages import Notice
from engine.values.ports import Attempt, Call, ChatMessage, Reply
from engine.values.verdicts import Ballot, Verdict, VoteEvent
from engine.votes.outcome import standing
from tests.kit import (
    MAPLE,
    NOON,
    cancelled,
    cast,
    create,
    make_ballot,
    make_debate,
    make_turn,
    new_debate,
    some,
)
from tests.unit.test_dataset_export import contents, table

USERS = [f"U0CANARY{number}" for number in range(6)]
SAID = "Tea <@U0CANARY1> wakes."


async def begin(store: Store, number: int, topic: str, community: str = "G0CANARY") -> Lease:
    """Store a debate of Discord, begin to think for it, and return its lease."""
    debate = make_debate(number, topic=topic)
    kept = {"id", "number", "platform", "place", "created_at", "setup"}
    plain = {name: getattr(debate, name) for name in kept}
    new = new_debate(**plain, community=community, user=USERS[0])
    await create(store, new)
    lease = some(await store.leases.claim(f"debate/{new.id}", "runner", 60))
    await store.debates.advance(lease, new.id, Status.RUNNING)
    return lease


def debate_of(lease: Lease) -> str:
    return lease.name.removeprefix("debate/")


async def ask(store: Store, lease: Lease, step: str, text: str) -> None:
    start = AttemptStart(debate=debate_of(lease), step=step, number=1, cost_max=0.1)
    prompt = (ChatMessage(role="user", content="Speak."),)
    sampling = Sampling(temperature=0, max_tokens=100)
    call = Call(step, MAPLE, prompt, sampling, session=start.debate)
    await store.journal.began(lease, start, call)
    reply = Reply(text=text, finish="stop", model="maple-2026", cost=0.01)
    await store.journal.ended(lease, start, Attempt(number=1, cost=0.01), reply)


async def judge(store: Store, lease: Lease) -> None:
    ballots: dict[str, Ballot] = {}
    for order in ("AB", "BA"):
        step = f"jury/{order}"
        await ask(store, lease, step, f"raw reply on {order}")
        ballots[step] = make_ballot(order)
    verdict = Verdict(winner="A", p={"A": 0.8, "B": 0.2}, z=1.5, valid=2, invalid=0)
    await store.journal.record_verdict(lease, debate_of(lease), verdict, ballots)


async def open_vote(store: Store, lease: Lease) -> str:
    debate_id = debate_of(lease)
    message = f"message of {debate_id}"
    deadline = NOON + timedelta(minutes=30)
    await store.outbox.set_thread(lease, debate_id, "T0CANARY")
    await store.votes.open(lease, debate_id, message, NOON, deadline)
    await store.debates.advance(lease, debate_id, Status.VOTING)
    return message


async def close_vote(store: Store, lease: Lease, at: datetime) -> None:
    debate = await store.debates.get(debate_of(lease))

    def conclude(events: tuple[VoteEvent, ...]) -> Closing:
        return Closing(votes=standing(debate, events), posts=())

    await store.votes.close(lease, debate.id, at, False, conclude)


async def hold_debate(
    store: Store, number: int, community: str = "G0CANARY", votes: str = "AAAAAB", turns: int = 1
) -> str:
    """A debate as the engine holds it: everybody votes, the starter first, five for A."""
    lease = await begin(store, number, f"Is <@{USERS[0]}> right on tea, {number}?", community)
    for turn in [make_turn(n, SAID) for n in range(1, turns + 1)]:
        await ask(store, lease, turn.step, SAID)
        post = Post(key=turn.step, message=Notice(text=SAID))
        await store.journal.record_turn(lease, debate_of(lease), turn, post)
    await judge(store, lease)
    message = await open_vote(store, lease)
    for user, option in zip(USERS, votes, strict=False):
        vote = cast(user, option, platform="discord", place="T0CANARY", message=message)
        assert await store.votes.cast(vote.model_copy(update={"received_at": NOON})) == "stored"
    await close_vote(store, lease, NOON + timedelta(hours=number))
    return debate_of(lease)


async def write(store: Store, out: Path, **where: Any) -> Manifest:
    return await export(store, out, ExportFilter(**where), None, version="1.2.3")


@pytest.mark.postgresql
async def test_what_was_debated_judged_and_voted_is_exported(store: Store, tmp_path: Path) -> None:
    debate_id = await hold_debate(store, 1)
    await write(store, tmp_path / "out")
    (debate,) = table(tmp_path / "out", "debates")
    assert (debate["debate_id"], debate["status"]) == (debate_id, "closed")
    assert (debate["jury_winner"], debate["human_winner"], debate["agree"]) == ("A", "A", True)
    assert (debate["n_a"], debate["gold_a"], debate["gold_b"]) == (5, 4, 1)
    assert debate["cost_usd"] == pytest.approx(0.03)
    (said,) = table(tmp_path / "out", "turns")
    assert (said["text"], said["stop_reason"]) == ("Tea [mention] wakes.", "stop")
    raws = {row["raw"] for row in table(tmp_path / "out", "verdicts")}
    assert raws == {"raw reply on AB", "raw reply on BA"}
    votes = table(tmp_path / "out", "votes")
    assert len({row["voter"] for row in votes}) == len(USERS)
    assert [row["gold"] for row in votes if row["starter"]] == [False]


async def test_pseudonyms_are_of_one_export_or_of_a_key_and_a_community_is_alone(
    store: Store, tmp_path: Path
) -> None:
    await hold_debate(store, 1, community="here")
    await write(store, tmp_path / "one")
    elsewhere = await hold_debate(store, 2, community="elsewhere")
    await write(store, tmp_path / "two")
    one, two = ({row["voter"] for row in table(tmp_path / n, "votes")} for n in ("one", "two"))
    assert len(one) == len(two) == len(USERS)
    assert not one & two
    for name in ("set", "again"):
        await export(store, tmp_path / name, ExportFilter(), b"a key", version="1.2.3")
    assert contents(tmp_path / "set") == contents(tmp_path / "again")
    assert contents(tmp_path / "two") != contents(tmp_path / "set")
    await write(store, tmp_path / "out", community="elsewhere")
    assert [row["debate_id"] for row in table(tmp_path / "out", "debates")] == [elsewhere]


async def test_a_cancelled_export_stops_and_leaves_nothing(store: Store, tmp_path: Path) -> None:
    for number in (1, 2, 3):
        await hold_debate(store, number)
    writing, go_on = threading.Event(), threading.Event()

    def hold_up(*_: object) -> None:
        writing.set()
        go_on.wait(5)

    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor() as threads:  # whose end is that of the export's thread
        loop.set_default_executor(threads)
        task = asyncio.create_task(
            export(store, tmp_path / "out", ExportFilter(), None, version="1", report=hold_up)
        )
        await asyncio.to_thread(writing.wait, 5)
        await cancelled(task)
        go_on.set()
    loop.set_default_executor(ThreadPoolExecutor())
    assert [path for path in contents(tmp_path) if "out" in path] == []


async def test_prompts_and_replies_leave_only_if_asked_for_and_without_keys(
    store: Store, tmp_path: Path
) -> None:
    lease = await begin(store, 1, "Tea")
    said = (
        "My keys are swordfish-1234, sk-proj-CANARY0123456789abcd and hf_CANARY0123456789abcd; "
        f"Bearer CANARY.0123456789abcdef, https://ann:CANARYpass@host/x; ask <@{USERS[0]}>. "
        "A sk-ill, a risk-free task, and bearer bonds stay."
    )
    await ask(store, lease, "turn/opening/A", said)
    await store.debates.advance(lease, debate_of(lease), Status.PARTIAL, "at its cap")
    await write(store, tmp_path / "plain")
    assert not (tmp_path / "plain" / "data" / "prompts").exists()
    assert b"swordfish" not in b"".join(contents(tmp_path / "plain").values())
    wanted = ExportRequest(tables=("calls", "prompts"), secrets=("swordfish-1234", "a"))
    await export(store, tmp_path / "out", wanted, None, version="1")
    (row,), (call,) = (table(tmp_path / "out", name) for name in ("prompts", "calls"))
    assert row["messages"] == [{"role": "user", "content": "Speak."}]
    assert row["reply"] == (
        "My keys are [key], [key] and [key]; Bearer [key], https://[key][mention]/x; ask [mention]."
        " A sk-ill, a risk-free task, and bearer bonds stay."
    )
    assert (row["temperature"], row["max_tokens"], row["finish"]) == (0, 100, "stop")
    shared = ("step", "attempt", "tokens_in", "tokens_cached", "tokens_out", "cost_usd")
    for name in (*shared, "prompt_hash", "latency_s", "model_asked"):
        assert row[name] == call[name], name
    assert "CANARY" not in str(row | {"debate_id": ""})
    # What retention deleted is null, not empty.
    await store.leases.release(lease)
    assert await store.retention.prune(debate_of(lease), datetime.now(NOON.tzinfo))
    await export(store, tmp_path / "out", wanted, None, version="1")
    (row,) = table(tmp_path / "out", "prompts")
    assert (row["messages"], row["reply"], row["temperature"]) == (None, None, None)
    assert row["cost_usd"] == 0.01


async def ids(store: Store, out: Path, **where: object) -> list[str]:
    wanted = ExportRequest(ExportFilter(**where))  # type: ignore[arg-type]
    await export(store, out, wanted, None, version="1")
    return sorted(row["debate_id"] for row in table(out, "debates"))


async def test_debates_are_chosen_by_date_by_what_people_decided_or_by_id(
    store: Store, tmp_path: Path
) -> None:
    held = [await hold_debate(store, number) for number in (1, 2, 3)]
    stopped = await begin(store, 4, "Broken off")
    await store.debates.advance(stopped, debate_of(stopped), Status.PARTIAL, "at its cap")
    # By the reveal, or by when it was asked for.
    one, two = NOON + timedelta(hours=1), NOON + timedelta(hours=2)
    assert await ids(store, tmp_path / "a", since=one, until=two) == [held[1]]
    assert await ids(store, tmp_path / "b", since=two) == [held[2]]
    assert await ids(store, tmp_path / "c", until=NOON) == [debate_of(stopped)]
    assert await ids(store, tmp_path / "d", quorum_met=True) == held
    assert await ids(store, tmp_path / "e", ids=(held[0], held[2])) == [held[0], held[2]]


async def test_newest_and_size_agree_with_what_is_read(store: Store) -> None:
    def ask(where: ExportFilter) -> tuple[datetime | None, int]:
        return store.archive.newest(where), store.archive.size(where)

    assert await asyncio.to_thread(ask, ExportFilter()) == (None, 0)
    for number in (1, 2):
        await hold_debate(store, number)
    await begin(store, 3, "Still running")
    newest = NOON + timedelta(hours=2)
    assert await asyncio.to_thread(ask, ExportFilter()) == (newest, 2)
    earlier = ExportFilter(until=NOON + timedelta(hours=1))
    assert await asyncio.to_thread(ask, earlier) == (NOON + timedelta(hours=1), 1)
    assert await asyncio.to_thread(ask, ExportFilter(community="nowhere")) == (None, 0)


class Screen(StringIO):
    def isatty(self) -> bool:
        return True


def draw(stderr: StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(exports, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setattr(exports, "REDRAW_SECONDS", 0.0)
    with exports._progress() as report:
        report("LINES", 3, 4)
        report("MIRRORS", 20, 80)
        report("PARQUET", 2_000, 5_000)
    return stderr.getvalue()


def test_a_terminal_shows_how_far_each_stage_is_and_a_pipe_gets_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = draw(Screen(), monkeypatch)
    assert shown.index("Exporting") < shown.index("75%")
    assert shown.index("75%") < shown.index("Pairing mirrored debates") < shown.index("25%")
    assert shown.index("75%") < shown.index("Writing Parquet") < shown.index("40%")
    assert draw(StringIO(), monkeypatch) == ""


def test_what_is_typed_is_read_and_nothing_is_everything_but_rehearsals() -> None:
    assert ExportChoices().wanted() == ExportRequest(ExportFilter(without_rehearsal=True))
    assert ExportChoices(DebateChoice(include_rehearsal=True)).wanted() == ExportRequest()
    chosen = ExportChoices(
        DebateChoice(formats="classic, team", languages="en,tr"), tables="votes,debates"
    )
    wanted = chosen.wanted()
    assert (wanted.where.formats, wanted.where.languages) == (("classic", "team"), ("en", "tr"))
    assert wanted.tables == ("debates", "votes")
    assert wanted.file_format is FileFormat.JSONL
    # Both dates are wholly in it, and the cutoff of a manifest is taken as it is.
    where = ExportChoices(DebateChoice(since="2026-03-01", until="2026-03-01")).wanted().where
    assert where.since is not None
    assert where.until is not None
    first, last = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)
    assert where.since < first
    assert last - timedelta(seconds=1) < where.until < last
    where = ExportChoices(DebateChoice(since="2026-03-02T12:00:30Z")).wanted().where
    assert where.since == datetime(2026, 3, 2, 12, 0, 30, tzinfo=UTC)


@pytest.mark.each_case
@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        (
            ExportChoices(kind="csv"),
            "--as is “csv”; it must be jsonl, parquet, html, argilla, ",
        ),
        (
            ExportChoices(DebateChoice(since="yesterday")),
            "--since is “yesterday”; write a date such as 2026-03-31",
        ),
        (ExportChoices(DebateChoice(until="31.3.2026")), "--until is “31.3.2026”"),
        (
            ExportChoices(tables="votes,voters"),
            "There is no table “voters”; choose from debates",
        ),
        (ExportChoices(DebateChoice(formats="classical")), "There is no format “classical”"),
        (
            ExportChoices(DebateChoice(languages="en,in Turkish")),
            "“in Turkish” is not a language code",
        ),
    ],
    ids=["format", "since", "until", "tables", "debate-format", "language"],
)
def test_what_cannot_be_read_is_refused_with_what_to_write(
    chosen: ExportChoices, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        chosen.wanted()


@pytest.mark.postgresql
async def test_a_repeated_export_is_the_same_and_names_nobody(
    store: Store, database: SqlDatabase, tmp_path: Path
) -> None:
    for number in (1, 2, 3):
        await hold_debate(store, number)
    await write(store, tmp_path / "one", community="G0CANARY")
    await write(store, tmp_path / "two", community="G0CANARY")
    found = contents(tmp_path / "one")
    assert found == contents(tmp_path / "two")
    everything = b"".join(found.values())
    for canary in ("U0CANARY", "G0CANARY", "T0CANARY", "message of", "700000000000000002"):
        assert canary.encode() not in everything
    for (secret,) in await database.rows("SELECT value FROM installation"):
        assert len(secret) < 64 or secret.encode() not in everything


@pytest.mark.postgresql
async def test_an_open_vote_is_no_part_of_it(store: Store, tmp_path: Path) -> None:
    await hold_debate(store, 1)
    lease = await begin(store, 2, "Sealed still")
    await judge(store, lease)
    await open_vote(store, lease)
    stopped = await begin(store, 3, "Broken off")
    await store.debates.advance(stopped, debate_of(stopped), Status.PARTIAL, "at its cap")
    manifest = await write(store, tmp_path / "out")
    rows = table(tmp_path / "out", "debates")
    assert sorted(row["status"] for row in rows) == ["closed", "partial"]
    assert sum(manifest.rows["debates"].values()) == 2
    assert b"Sealed still" not in b"".join(contents(tmp_path / "out").values())
