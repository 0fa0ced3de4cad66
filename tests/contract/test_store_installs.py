"""What every Store must keep of communities that installed Rostrum by themselves."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from adapters.database.database import SqlDatabase
from engine.store import Store
from engine.store.installs import Install
from engine.values.errors import SettingsError
from tests.kit import LATER, NOW

OLD, NEW = "an-old-key-of-the-operator", "a-new-key-of-the-operator"
TOKEN = "xoxb-canary-of-a-workspace"

Open = Callable[..., Store]


def given(community: str = "hall", token: str = TOKEN) -> Install:
    return Install(
        platform="chat",
        community=community,
        name=community.title(),
        account="b1",
        token=SecretStr(token),
        installed_at=NOW,
    )


def dumped(folder: Path) -> tuple[str, bytes]:
    """Return the database as SQL, and the bytes of its files."""
    with closing(sqlite3.connect(folder / "rostrum.db")) as connection:
        dump = "\n".join(connection.iterdump())
    return dump, b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.fixture
async def open_store(database: SqlDatabase) -> Open:
    return lambda *keys: Store(database, keys)


async def test_what_is_kept_is_found_until_it_is_dropped_and_the_newer_token_stands(
    open_store: Open,
) -> None:
    installs = open_store(OLD).installs
    assert await installs.find("chat", "hall") is None
    await installs.keep(given())
    await installs.keep(given("club", "another"))
    assert await installs.find("chat", "hall") == given()
    again = given(token="newer").model_copy(update={"installed_at": LATER, "name": "Great Hall"})
    await installs.keep(again)
    assert await installs.every("chat") == [given("club", "another"), again]
    assert await installs.every("talk") == []
    assert await installs.drop("chat", "hall")
    assert not await installs.drop("chat", "hall")
    assert await installs.find("chat", "hall") is None


async def test_a_community_that_installs_again_has_not_left(open_store: Open) -> None:
    store = open_store(OLD)
    await store.communities.joined("chat", "hall", NOW)
    await store.communities.left("chat", "hall", NOW)
    assert await store.communities.gone(LATER)
    await store.installs.keep(given())
    assert await store.communities.gone(LATER) == []


@pytest.mark.sqlite
async def test_no_byte_of_the_database_shows_a_token(open_store: Open, tmp_path: Path) -> None:
    installs = open_store(OLD).installs
    await installs.keep(given())
    await installs.begin("a-state-in-the-clear", NOW, LATER)
    dump, files = dumped(tmp_path)
    assert "installs" in dump
    for secret in (TOKEN, "a-state-in-the-clear", OLD):
        assert secret not in dump
        assert secret.encode() not in files
    assert TOKEN not in repr(await installs.find("chat", "hall"))


async def test_every_key_opens_and_the_first_one_seals(open_store: Open) -> None:
    await open_store(OLD).installs.keep(given())
    both = open_store(NEW, OLD).installs
    assert await both.find("chat", "hall") == given()
    with pytest.raises(SettingsError):
        await open_store(NEW).installs.find("chat", "hall")
    await both.reseal()
    assert await open_store(NEW).installs.find("chat", "hall") == given()
    with pytest.raises(SettingsError):
        await open_store(OLD).installs.every("chat")


@pytest.mark.parametrize("keys", [(NEW,), ()])
async def test_a_wrong_or_missing_key_is_one_sentence_that_names_whose(
    open_store: Open, keys: tuple[str, ...]
) -> None:
    await open_store(OLD).installs.keep(given())
    wrong = open_store(*keys).installs
    await wrong.reseal()
    with pytest.raises(SettingsError, match=r"^ROSTRUM_SECRET_KEY .*Hall \(chat hall\)") as refused:
        await wrong.every("chat")
    assert TOKEN not in str(refused.value)
    if not keys:
        with pytest.raises(SettingsError, match="set ROSTRUM_SECRET_KEY"):
            await wrong.keep(given("club"))
    assert await open_store(OLD).installs.find("chat", "hall") == given()


async def test_a_state_is_good_for_once_and_in_time_and_then_forgotten(
    open_store: Open, database: SqlDatabase
) -> None:
    installs = open_store(OLD).installs
    await installs.begin("one", NOW, LATER)
    await installs.begin("two", NOW, LATER)
    assert not await installs.redeem("three", NOW)
    taken = await asyncio.gather(*(installs.redeem("one", NOW) for _ in range(5)))
    assert sorted(taken) == [False, False, False, False, True]
    assert not await installs.redeem("two", LATER)
    for number in range(1, 4):
        now = LATER + timedelta(hours=number)
        await installs.begin(f"state {number}", now, now + timedelta(minutes=10))
    assert await database.value("SELECT count(*) FROM install_states") == 1
