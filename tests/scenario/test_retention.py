"""`rostrum delete` and what `rostrum run` deletes by age, on real files, to their last byte."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from adapters.database.database import SqlDatabase
from bot.serve.run import serving
from bot.settings.settings import Settings, _RetentionSettings
from engine.store import ExportFilter, Store
from engine.store.series import StoredSeries
from engine.values.debate import Status
from engine.values.errors import NotFoundError
from engine.values.ports import utc_now
from tests.doubles.command import rostrum
from tests.doubles.databases import select, traces
from tests.doubles.hall import DEFAULTS, Hall
from tests.kit import NOW, new_debate, run, until
from tests.scenario.test_command_line import contents
from tests.scenario.test_command_line_erasing import ask
from tests.scenario.test_privacy import ANN, BOB, voted

MOMENT = 1e-9  # days
ALONE = ("debate", "Cats or dogs", "--votes", "A=2,B=1", "--seed", "1")


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("held")
    for words in (ALONE, ("debate", "Tea or coffee", "--mirror", "--votes", "A=1", "--seed", "1")):
        rostrum(folder, *words).done()
    return folder


def codes(folder: Path, topic: str) -> list[str]:
    with closing(sqlite3.connect(folder / "rostrum.db")) as database:
        query = "SELECT id FROM debates WHERE setup LIKE ? ORDER BY number"
        return [row[0][-6:].lower() for row in database.execute(query, (f"%{topic}%",))]


def holding(folder: Path, text: str) -> set[str]:
    return {name for name, held in contents(folder).items() if text.encode() in held}


def test_a_deleted_debate_leaves_no_byte(office: Path) -> None:
    [code], pair = codes(office, "Cats"), codes(office, "Tea or")
    assert holding(office, "Cats or dogs")
    said = rostrum(office, "delete", code, "--yes").done()
    assert said == f"Deleted {code}, with everything stored about it.\n"
    assert holding(office, "Cats or dogs") == set()
    assert codes(office, "Tea or") == pair
    assert "There is no debate" in rostrum(office, "show", code).failed(1)
    assert "There is no debate" in rostrum(office, "delete", code, "--yes").failed(1)
    rostrum(office, "export", "--out", "out", "--include-rehearsal").done()
    assert rostrum(office, "stats", "--include-rehearsal").code == 0
    assert code not in (office / "out" / "README.md").read_text()
    rostrum(office, *ALONE).done()


@pytest.mark.slow
def test_a_mirror_stays_unless_it_is_named_too(office: Path) -> None:
    first, second = codes(office, "Tea or")
    asked = ask(office, "delete", first, typed="yes\n")
    assert asked.code == 0
    assert f"This deletes debate {first} (“Tea or coffee”) for good" in asked.err
    assert f"Its mirror {second} stays; --mirror deletes both." in asked.err
    assert codes(office, "Tea or") == [second]
    assert holding(office / "rostrum.db.terminal", "Tea or coffee"), "the mirror's is the same"
    assert rostrum(office, "show", second).code == 0
    rostrum(office, "export", "--out", "out", "--include-rehearsal").done()
    assert "has no mirror" in rostrum(office, "delete", second, "--mirror", "--yes").failed(2)
    rostrum(office, "delete", second, "--yes").done()
    shutil.rmtree(office / "out")
    assert holding(office, "Tea or coffee") == set()


def test_both_of_a_pair_are_deleted_at_once(office: Path) -> None:
    first, second = codes(office, "Tea or")
    said = rostrum(office, "delete", second, "--mirror", "--yes").done()
    assert said == f"Deleted {second} and {first}, with everything stored about them.\n"
    assert holding(office, "Tea or coffee") == set()


def test_nothing_is_deleted_without_a_yes_or_while_a_terminal_left_its_vote_open(
    office: Path,
) -> None:
    [code] = codes(office, "Cats")
    sentence = rostrum(office, "delete", code).failed(2)
    assert sentence.endswith("Nothing was done: add --yes to skip the question.")
    assert ask(office, "delete", code, typed="no\n").code == 1
    assert codes(office, "Cats") == [code]
    voting = "UPDATE debates SET status = 'voting' WHERE lower(id) LIKE ?"
    with closing(sqlite3.connect(office / "rostrum.db")) as database, database:
        database.execute(voting, [f"%{code}"])
    for command in (["delete", code, "--yes"], ["cancel", code]):
        assert f"with rostrum resume {code}." in rostrum(office, *command).failed(2)


async def test_a_debate_that_is_held_is_not_deleted(hall: Hall, tmp_path: Path) -> None:
    at = {"ROSTRUM_DATABASE_URL": hall.url}
    async with hall.open() as session:
        debate_id = await voted(hall, session, ANN)
        code = (await session.store.debates.get(debate_id)).code
        refused = await asyncio.to_thread(rostrum, tmp_path, "delete", code, "--yes", **at)
        assert f"People vote on debate {code}" in refused.failed(2)
        await session.close(debate_id)
        # Beside the process that holds the file.
        said = await asyncio.to_thread(rostrum, tmp_path, "delete", code, "--yes", **at)
        assert f"Deleted {code}" in said.out
        with pytest.raises(NotFoundError):
            await session.store.debates.get(debate_id)
        following = await session.start(user=BOB)
        await session.voting(following)


async def test_a_debate_of_a_league_that_goes_on_is_not_deleted(hall: Hall, tmp_path: Path) -> None:
    at = {"ROSTRUM_DATABASE_URL": hall.url}
    async with hall.open() as session:
        store = session.store
        cup = StoredSeries(name="cup", body="{}", begun_at=NOW, platform="chat", due_at=NOW)
        await store.series.save(cup)
        held = await run(store, new_debate(series="cup", series_key="1"))
        code = (await held.get()).code
        refused = await asyncio.to_thread(rostrum, tmp_path, "delete", code, "--yes", **at)
        assert refused.failed(2).endswith(f"stop it first with rostrum cancel {code}.")
        await held.advance(Status.CANCELLED)
        await store.leases.release(held.lease)
        refused = await asyncio.to_thread(rostrum, tmp_path, "delete", code, "--yes", **at)
        assert refused.failed(2).endswith("stop it first with rostrum series stop cup.")
        await store.series.ask_stop("cup")
        asked = await asyncio.to_thread(rostrum, tmp_path, "delete", code, **at)
        assert "If the series cup is run again, it holds this debate again." in asked.err
        await asyncio.to_thread(rostrum, tmp_path, "delete", code, "--yes", **at)
        with pytest.raises(NotFoundError):
            await held.get()


async def keeping(hall: Hall, *gone: str, **days: float) -> None:
    """Serve until what is due by age is deleted and overwritten."""
    settings = Settings(
        database_url=SecretStr(hall.url), retention=_RetentionSettings.model_validate(days)
    )
    async with serving(settings):
        await until(lambda: not traces(hall.url, *gone))


async def closed(hall: Hall, *users: str) -> str:
    async with hall.open() as session:
        debate_id = await voted(hall, session, *users)
        await session.close(debate_id)
    return debate_id


@pytest.mark.slow
async def test_a_running_rostrum_deletes_debates_by_their_age(hall: Hall) -> None:
    debate_id = await closed(hall, ANN, BOB)
    assert traces(hall.url, ANN, debate_id)
    everything = (ANN, BOB, debate_id, str(DEFAULTS.topic))
    await keeping(hall, *everything, debates_days=MOMENT)
    assert traces(hall.url, *everything) == []


async def test_prompts_are_deleted_and_the_export_is_the_same_but_for_them(hall: Hall) -> None:
    debate_id = await closed(hall, ANN)
    rows = select(hall.url, "SELECT request FROM calls WHERE step LIKE 'jury/%'")
    prompt = max((row[0] for row in rows), key=len)
    part = prompt[-400:-300]
    async with serving(Settings(database_url=SecretStr(hall.url))) as app:
        await asyncio.sleep(0.2)  # with nothing set everything is kept
        assert (await app.store.debates.get(debate_id)).pruned_at is None
    assert traces(hall.url, part)
    before = await tables(hall.url, debate_id)
    await keeping(hall, part, prompts_days=MOMENT)
    after = await tables(hall.url, debate_id)
    assert traces(hall.url, part) == []
    assert traces(hall.url, ANN), "the debate and its votes stay"
    assert before == after


async def tables(url: str, debate_id: str) -> dict[str, object]:
    """Return what an export has of a debate, but for raw replies."""
    database = SqlDatabase(url)
    store = Store(database)

    def read() -> dict[str, object]:
        with store.archive.reading(ExportFilter(ids=(debate_id,))) as records:
            record = next(records)
        ballots = [ballot.model_copy(update={"raw": ""}) for ballot in record.ballots]
        calls = [
            (one.step, one.cost, one.prompt_hash, one.reply and one.reply.usage)
            for one in record.calls
        ]
        return {
            "turns": record.turns,
            "verdict": record.verdict,
            "answers": record.answers,
            "ballots": ballots,
            "calls": calls,
        }

    try:
        return await asyncio.to_thread(read)
    finally:
        await database.close()


@pytest.mark.slow
def test_without_its_prompts_a_debate_is_shown_and_not_judged_again(office: Path) -> None:
    [code] = codes(office, "Cats")
    asked = ("judge", code, "--jurors", "rehearsal/oak,rehearsal/larch")
    works = (("show", code), ("report", code, "--out", "page"), ("usage",), ("stats",))
    before = [rostrum(office, *words).done() for words in (*works, ("list",))]
    asyncio.run(pruned(f"sqlite+aiosqlite:///{office}/rostrum.db"))
    shutil.rmtree(office / "page")
    assert [rostrum(office, *words).done() for words in (*works, ("list",))] == before
    sentence = rostrum(office, *asked).failed(2)
    assert sentence.startswith(f"The prompts and replies of debate {code} were deleted on ")
    assert sentence.endswith("it cannot be judged again.")


async def pruned(url: str) -> None:
    database = SqlDatabase(url)
    store, now = Store(database), utc_now()
    for debate_id in await store.retention.outdated(now, 9, pruned=False):
        assert await store.retention.prune(debate_id, now)
    await database.close()


def test_check_says_what_is_deleted_by_age(tmp_path: Path) -> None:
    assert (
        "retention: off; debates are kept until you delete them" in rostrum(tmp_path, "check").out
    )
    given = {"ROSTRUM_RETENTION__PROMPTS_DAYS": "30", "ROSTRUM_RETENTION__DEBATES_DAYS": "365"}
    assert (
        "retention: prompts and replies are deleted after 30 days, debates are deleted after 365 "
        "days" in rostrum(tmp_path, "check", **given).out
    )
