"""What a person gets of their own data, and what is left once they are forgotten."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from sqlalchemy import Column, Table, Text

from engine.chat.privacy import purge
from engine.chat.records import own_file
from engine.dataset.entry import Pseudonyms, make_entry
from engine.dataset.tables import TABLES
from engine.store import ExportFilter, Store
from engine.store.privacy import ROWS
from engine.store.series import StoredSeries
from engine.store.tables import OF_DEBATES, TEXTS_OF_DEBATES, metadata, people, referring_to
from engine.values.debate import Status
from engine.values.verdicts import Vote
from tests.doubles.databases import opened, traces
from tests.kit import NOW, create, new_debate, run, some

ANN, BOB = "ann-4711-user", "bob-0815-user"
MINE, THEIRS = "mine-of-ann", "theirs-of-bob"
FIXED = {"platform": "chat", "community": "club", "removed": ""}
ANSWER = Vote(
    person=0,
    option="A",
    ambiguous=False,
    gold=True,
    starter=False,
    judge_visible=False,
    late_seen=False,
    tally_visible=False,
    votes_seen_before=0,
    changes=0,
    first_at=NOW.isoformat(),
    last_at=NOW.isoformat(),
)._asdict()
# Names of columns that hold a person, wherever they stand.
PERSONAL = {"person", "user", "starter", "author", "asker", "voter", "member", "suggester", "owner"}
OF_PEOPLE = {("people", "user")}  # the one place of platforms' ids

# Texts in which no person writes.
NOBODYS = {
    ("installation", "value"),
    ("templates", "texts"),
    ("communities", "settings"),
    ("installs", "token"),
    ("deletions", "body"),
    ("fits", "evidence"),
    ("fits", "body"),
    ("learnt", "body"),
}


def test_whoever_a_table_names_is_named_by_reference() -> None:
    """Own data and its deletion follow references to people: a column without one is left out."""
    referring = {(table.name, column.name) for table, column in referring_to(people)}
    for table in metadata.sorted_tables:
        for column in table.c:
            if column.name in PERSONAL and (table.name, column.name) not in OF_PEOPLE:
                assert (table.name, column.name) in referring


async def test_a_person_gets_all_that_is_stored_of_them_and_nothing_of_others(
    store: Store, database_url: str
) -> None:
    for user in (ANN, BOB):
        await create(store, new_debate(user=user))
    ids = await store.votes.people("chat", [ANN, BOB])
    tables = [(table, column) for table, column in referring_to(people) if table.name != "debates"]
    await asyncio.to_thread(fill, database_url, tables, ids)
    found = some(await store.privacy.own("chat", ANN))
    assert set(found.tables) == {table.name for table, _ in tables}
    assert all(found.tables.values()), found.tables
    assert (len(found.started), [day["debates"] for day in found.days]) == (1, [1])
    file = own_file(found, "chat", ANN, NOW)
    assert ANN.encode() in file
    assert THEIRS.encode() not in file
    assert BOB.encode() not in file
    texts = {"body", "text", "step"}
    assert file.count(MINE.encode()) >= len([t for t, _ in tables if texts & {*t.c.keys()}])
    whole = orjson.loads(file)
    assert whole["debates"][found.started[0]]["topic"]
    # No model is named, and nothing of the jury: its debate is not over.
    assert not {"setup", "sides", "panel", "verdict"} & set(str(whole).split("'"))

    await store.privacy.forget("chat", ANN)
    assert await store.privacy.own("chat", ANN) is None
    assert await store.privacy.wipe()
    assert traces(database_url, ANN) == []
    with opened(database_url) as execute:
        (left,) = [row for row in execute("SELECT * FROM people") if row["id"] == ids[ANN]]
    assert {name for name, value in left.items() if value} == {"id", "platform"}
    assert await store.privacy.own("chat", BOB) is not None
    assert await store.privacy.own("chat", "stranger") is None


@pytest.mark.parametrize("name", sorted({table.name for table, _ in referring_to(people)}))
async def test_whoever_is_in_one_table_alone_can_be_forgotten_after_a_deletion(
    store: Store, database_url: str, name: str
) -> None:
    """Who only asked a question had lost their id by then, and stayed in what they had asked."""
    for user in (ANN, BOB):
        await create(store, new_debate(user=user))
    gone = await run(store, new_debate(user=None))
    await gone.advance(Status.FAILED)
    await store.leases.release(gone.lease)
    ids = await store.votes.people("chat", [ANN, BOB])
    tables = [one for one in referring_to(people) if one[0].name == name != "debates"]
    await asyncio.to_thread(fill, database_url, tables, ids)
    with opened(database_url) as execute:
        execute("UPDATE label_tasks SET closed_at = NULL")
        if name != "debates":
            execute("UPDATE debates SET starter = NULL")
    await store.retention.delete(gone.id)
    assert await store.retention.drop_strangers() == 0
    assert await store.people.number("chat", ANN) == ids[ANN]
    await store.privacy.forget("chat", ANN)
    await store.privacy.wipe()
    assert traces(database_url, ANN) == []


async def two_everywhere(store: Store, url: str) -> dict[str, str]:
    """Put two people into every table that refers to people; return the debate of each."""
    debates = {user: new_debate(user=user) for user in (ANN, BOB)}
    for one in debates.values():
        await create(store, one)
    ids = await store.votes.people("chat", [ANN, BOB])
    tables = [one for one in referring_to(people) if one[0].name != "debates"]
    await asyncio.to_thread(fill, url, tables, ids)
    with opened(url) as execute:
        execute("UPDATE debates SET status = 'closed'")
    return {user: one.id for user, one in debates.items()}


def rows_with(url: str, mark: str) -> dict[str, int]:
    """Return how many rows of each table have a text of a person's."""
    with opened(url) as execute:
        held = {
            table.name: list(execute(f'SELECT * FROM "{table.name}"'))  # noqa: S608
            for table in metadata.sorted_tables
        }
    return {name: n for name, rows in held.items() if (n := sum(mark in str(one) for one in rows))}


async def test_an_export_has_nobodys_id_whatever_tables_they_are_in(
    store: Store, database_url: str
) -> None:
    debates = await two_everywhere(store, database_url)
    voters = Pseudonyms(b"k" * 16, ExportFilter(), None)

    def read() -> str:
        with store.archive.reading(ExportFilter(prompts=True)) as records:
            entries = [make_entry(record, voters, b"") for record in records]
        assert len(entries) == len(debates)
        return str([table.rows(entry) for entry in entries for table in TABLES])

    before = await asyncio.to_thread(read)
    assert MINE in before, "what they wrote is in it"
    await store.privacy.forget("chat", ANN)
    for said in (before, await asyncio.to_thread(read)):
        assert [one for one in (ANN, BOB) if one in said] == []


async def test_a_purge_leaves_nobody_in_any_table(store: Store, database_url: str) -> None:
    await two_everywhere(store, database_url)
    await purge(store, "chat", "club")
    assert await store.privacy.wipe()
    assert traces(database_url, ANN, BOB, MINE, THEIRS) == []
    with opened(database_url) as execute:
        assert execute("SELECT * FROM people") == []


async def test_a_deleted_debate_takes_what_its_people_did_in_it_and_nothing_else(
    store: Store, database_url: str
) -> None:
    debates = await two_everywhere(store, database_url)
    theirs = rows_with(database_url, THEIRS)
    of_debates = {table.name for table in OF_DEBATES}
    assert of_debates & rows_with(database_url, MINE).keys()
    with opened(database_url) as execute:
        execute("UPDATE label_tasks SET closed_at = ?", NOW)
    await store.retention.delete(debates[ANN])
    await store.privacy.wipe()
    assert rows_with(database_url, debates[ANN]) == {}
    assert of_debates & rows_with(database_url, MINE).keys() == set()
    assert rows_with(database_url, THEIRS) == theirs
    assert await store.privacy.own("chat", ANN) is not None, "of other tables"


def test_every_text_is_searched_for_mentions_or_is_nobodys() -> None:
    texts = {
        (table.name, column.name)
        for table in metadata.sorted_tables
        for column in table.c
        if isinstance(column.type, Text)
    }
    of_debates = {(table, column) for table, _, column in TEXTS_OF_DEBATES}
    assert texts - of_debates - {(table, column) for table, _, column in ROWS} == NOBODYS


async def test_a_mention_goes_from_everything_that_people_wrote(
    store: Store, database_url: str
) -> None:
    """A schedule's topic kept it, and a question in a debate on something else."""
    said = f"What would <@{ANN}> say?"
    debate = await create(store, new_debate(user=BOB))
    ids = await store.votes.people("chat", [BOB])
    values = {"platform": "chat", "begun_at": NOW, "due_at": NOW}
    await store.series.save(StoredSeries(name="daily", body=f'{{"topic":"{said}"}}', **values))
    with opened(database_url) as execute:
        execute(
            "INSERT INTO asked (debate, number, person, text, asked_at, removed) "
            "VALUES (?, 1, ?, ?, ?, '')",
            debate.id,
            ids[BOB],
            said,
            NOW,
        )
    await store.privacy.forget("chat", ANN)
    await store.privacy.wipe()
    assert traces(database_url, ANN) == []


def fill(url: str, tables: list[tuple[Table, Column[Any]]], ids: Mapping[str, int]) -> None:
    """Give both people a row of their own in every table that refers to people."""
    with opened(url) as execute:
        debates = {row["starter"]: row["id"] for row in execute("SELECT id, starter FROM debates")}
        for of, mark in ((ANN, MINE), (BOB, THEIRS)):
            made: dict[str, Any] = {}
            named = {one for one, _ in tables}
            parents = {
                key.column.table for one in named for c in one.c for key in c.foreign_keys
            } - {*named, people, metadata.tables["debates"]}
            for table in (*parents, *(one for one, _ in tables)):
                row = {c.name: value_of(c, ids[of], debates, made, mark) for c in table.c}
                names = ", ".join(f'"{name}"' for name in row)
                marks = ", ".join("?" * len(row))
                execute(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})', *row.values())  # noqa: S608
                made[table.name] = row


def value_of(
    column: Column[Any], person: int, debates: Mapping[int, str], made: Mapping[str, Any], mark: str
) -> Any:
    for key in column.foreign_keys:
        if key.column.table is people:
            return person
        if key.column.table.name == "debates":
            return debates[person]
        return made[key.column.table.name][key.column.name]
    if column.name in FIXED:
        return FIXED[column.name]
    if column.name == "text":
        return f"{mark} <@{ANN}>"
    kind = column.type.python_type
    if kind is str:
        body = ANSWER | {"person": person, "ground": mark, "comment": mark}
        return orjson.dumps(body).decode() if column.name == "body" else mark
    values: dict[type, Any] = {
        int: 1000 + person,
        float: 1.0,
        bool: False,
        datetime: datetime(2026, 3, 1, tzinfo=UTC),
    }
    return values[kind]
