"""Forgetting on a running Rostrum: whenever it comes, the database holds no trace of the id."""

import asyncio
import random
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.operations.control import forget_person
from bot.serve.run import serving
from bot.settings.settings import Settings, _PrivacySettings
from engine.chat.answers import to_markdown
from engine.chat.answers.own_data import forgotten
from engine.chat.commands import Commands, parse_command
from engine.chat.context import Requester
from engine.chat.lifecycle import result
from engine.chat.privacy import purge, tidy
from engine.dataset.writer import export
from engine.store import ExportFilter, Store
from engine.values.errors import NotAllowedError, NotFoundError, UsageError
from engine.values.ports import SystemClock, utc_now
from tests.doubles.databases import is_file, traces
from tests.doubles.hall import DEFAULTS, LOBBY, Hall, Session
from tests.kit import cast, run, some, until

ANN = "190384756102938475"
BOB = "283746501928374650"


def commands_of(session: Session) -> Commands:
    return Commands(session.service, session.store, DEFAULTS, "1.2.3", b"key")


def person(user: str) -> Requester:
    return Requester(platform="memory", community="club", place=LOBBY, user=user, max_bytes=2**20)


async def say(session: Session, user: str, text: str) -> str:
    command = parse_command(text)
    return to_markdown(await commands_of(session).run(person(user), command))


async def react(hall: Hall, user: str, option: str, *, added: bool = True) -> None:
    message = hall.thread()[-1]
    act = hall.venue.react if added else hall.venue.unreact
    await act(user, message.place, message.id, option)


async def voted(hall: Hall, session: Session, *users: str) -> str:
    """Hold a debate that Ann starts, and have these people vote for A."""
    debate_id = await session.start(user=ANN)
    await session.voting(debate_id)
    for user in users:
        await react(hall, user, "A")
    return debate_id


async def counts(session: Session, debate_id: str) -> dict[str, int]:
    reveal = some((await result(commands_of(session), person(BOB), debate_id)).reveal)
    return {option: n for option, n in reveal.tally.counts.items() if n}


async def test_forgetting_while_the_vote_is_open_leaves_nothing_but_who_is_not_forgotten(
    hall: Hall,
) -> None:
    async with hall.open() as session:
        debate_id = await voted(hall, session, ANN, BOB)
        assert traces(hall.url, ANN)
        answer = await commands_of(session).run(person(ANN), parse_command("forget confirm=yes"))
        assert to_markdown(answer) == to_markdown(forgotten())
        assert traces(hall.url, ANN) == []
        assert "a vote on 1 debate" in await say(session, BOB, "privacy")
        await react(hall, ANN, "B")
        await session.service.close_vote(debate_id)  # which reads what the platform shows
        await session.ended(debate_id)
        assert traces(hall.url, ANN) == []
        assert traces(hall.url, BOB)
        assert await counts(session, debate_id) == {"A": 2}
    assert traces(hall.url, ANN) == []


async def test_forgetting_while_the_vote_is_reconciled_and_closed(hall: Hall) -> None:
    crowd = [f"7{number:017}" for number in range(30)]
    async with hall.open() as session:
        debate_id = await voted(hall, session, *crowd[:15])
        hall.venue.listening = False
        for user in crowd[15:]:
            await react(hall, user, "B")
        closing = asyncio.create_task(session.service.close_vote(debate_id))
        for user in random.Random(3).sample(crowd, len(crowd)):
            await session.store.privacy.forget("memory", user)
            await asyncio.sleep(0)
        await closing
        await session.ended(debate_id)
        assert await session.store.privacy.wipe()
        assert traces(hall.url, *crowd) == []
        # What counted already stays, whoever of the others was read before they were forgotten.
        assert (await counts(session, debate_id))["A"] == 15
    assert traces(hall.url, *crowd) == []


@pytest.mark.postgresql
async def test_forgetting_while_an_export_is_made(hall: Hall, tmp_path: Path) -> None:
    async with hall.open() as session:
        debate_id = await voted(hall, session, ANN, BOB)
        await session.close(debate_id)
        opened, may_end = threading.Event(), threading.Event()

        def read() -> int:
            with session.store.archive.reading(ExportFilter()) as records:
                found = len(list(records))
                opened.set()
                may_end.wait(10)
            return found

        reading = asyncio.create_task(asyncio.to_thread(read))
        await asyncio.to_thread(opened.wait, 10)
        answer = await commands_of(session).run(person(ANN), parse_command("forget confirm=yes"))
        # A file keeps older pages as long as somebody reads them.
        assert ("as soon as the export is done" in to_markdown(answer)) == is_file(hall.url)
        may_end.set()
        assert await reading == 1
        await tidy(session.store, SystemClock(), timedelta(days=30))
        assert traces(hall.url, ANN) == []
        manifest = await export(
            session.store, tmp_path / "out", ExportFilter(), b"key", version="1.2.3"
        )
    rows = [file.read_bytes() for file in (tmp_path / "out").rglob("*.jsonl")]
    assert not any(ANN.encode() in row for row in rows)
    assert manifest.rows["debates"] != {}
    assert sum(manifest.rows["votes"].values()) == 1  # Bob's


async def test_forgetting_a_few_of_very_many(database_url: str, store: Store) -> None:
    drawn = random.Random(5)
    crowd = [str(drawn.randrange(10**17, 10**18)) for _ in range(3000)]
    r = await run(store)
    await r.open_vote()
    await asyncio.gather(*(store.votes.cast(cast(user)) for user in crowd))
    gone = drawn.sample(crowd, 100)
    for user in gone:
        await store.privacy.forget("chat", user)
    assert await store.privacy.wipe()
    assert traces(database_url, *gone) == []
    assert len(await store.votes.events(r.id)) == 3000


async def test_a_person_reads_opts_out_and_in_is_forgotten_and_comes_back(hall: Hall) -> None:
    async with hall.open() as session:
        await voted(hall, session, ANN)
        said = await say(session, ANN, "privacy")
        assert "a vote on 1 debate, 1 debate that you started" in said
        assert "Nothing is stored about you." in await say(session, BOB, "privacy")
        assert "exports leave you out" in await say(session, ANN, "optout")
        assert "Exports leave you out" in await say(session, ANN, "privacy")
        assert "under a pseudonym" in await say(session, ANN, "optin")
        assert "Exports include you" in await say(session, ANN, "privacy")
        asked = await say(session, ANN, "forget")
        assert "`/debate forget confirm=yes`" in asked
        assert "a vote on 1 debate" in asked
        assert "You are forgotten." in await say(session, ANN, "forget confirm=yes")
        assert "You asked to be forgotten" in await say(session, ANN, "privacy")
        assert "You asked to be forgotten" in await say(session, ANN, "forget")
        with pytest.raises(NotAllowedError, match="asked to be forgotten"):
            await say(session, ANN, 'start "Tea beats coffee"')
        assert "exports leave you out anyway" in await say(session, ANN, "optout")
        assert "Welcome back." in await say(session, ANN, "optin")
        assert "You came back on " in await say(session, ANN, "privacy")


@pytest.fixture
def configured(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", database_url)


@pytest.mark.usefixtures("configured")
async def test_an_operator_forgets_somebody_beside_a_running_process(
    hall: Hall, capsys: pytest.CaptureFixture[str]
) -> None:
    async with hall.open() as session:
        debate_id = await voted(hall, session, ANN)
        await forget_person("memory", ANN, yes=True)
        assert capsys.readouterr().out.startswith("User erased. ")
        with pytest.raises(NotFoundError, match="Nothing is stored about that memory user"):
            await forget_person("memory", BOB, yes=True)
        await tidy(session.store, SystemClock(), timedelta(days=30))
        assert traces(hall.url, ANN) == []
        await session.close(debate_id)
        assert await counts(session, debate_id) == {"A": 1}


async def test_a_community_with_a_running_debate_is_not_purged(store: Store) -> None:
    r = await run(store)
    code = (await r.get()).code
    with pytest.raises(UsageError, match=f"still run there: {code}; cancel them first"):
        await purge(store, "chat", "club")


async def test_a_running_rostrum_purges_by_itself(hall: Hall) -> None:
    async with hall.open() as session:
        debate_id = await voted(hall, session, ANN)
        await session.close(debate_id)
        await session.store.communities.joined("memory", "club", utc_now())
        await session.store.communities.left("memory", "club", utc_now() - timedelta(days=2))
    settings = Settings(database_url=SecretStr(hall.url), privacy=_PrivacySettings(purge_days=1))
    async with serving(settings):  # what is deleted is overwritten a moment later
        await until(lambda: not traces(hall.url, ANN, debate_id, str(DEFAULTS.topic)))
