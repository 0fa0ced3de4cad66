"""`rostrum` on PostgreSQL: the same commands, with one address."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.doubles.command import Ended, rostrum
from tests.doubles.databases import PASSWORD, PostgresDouble

Run = Callable[..., Ended]


@pytest.fixture
def address(postgres: PostgresDouble) -> Iterator[str]:
    name = postgres.create()
    yield postgres.tcp(name)
    postgres.drop(name)


@pytest.fixture
def run(tmp_path: Path, address: str) -> Run:

    def run(*arguments: str, **settings: str) -> Ended:
        return rostrum(tmp_path, *arguments, **{"ROSTRUM_DATABASE_URL": address} | settings)

    return run


@pytest.mark.slow
def test_a_debate_from_migrate_to_export(run: Run, tmp_path: Path, address: str) -> None:
    name = urlsplit(address).path.strip("/")
    assert "has no tables of Rostrum yet; run rostrum migrate." in run("debate", "Tea").failed(1)
    assert run("migrate").done().startswith(f"The database {name} at 127.0.0.1:")
    assert run("list").done() == "No debates.\n"
    votes = ("--votes", "A=3,B=2", "--vote-minutes", "0.01")
    said = run("debate", "Tea or coffee", *votes, ROSTRUM_STANCE_SECONDS="0.01").done()
    assert "model calls, free" in said
    [listed] = json.loads(run("list", "--json").done())["debates"]
    assert (listed["state"], listed["topic"]) == ("closed", "Tea or coffee")
    assert "steps" in run("show", listed["code"]).done()
    everything = "--include-rehearsal"
    exported = run("export", "--out", "out", everything).done()
    assert "debates 1" in exported
    assert "votes 5" in exported
    for by in ("model", "day", "community", "user", "series"):
        taken, total, today = run("usage", everything, "--by", by).done().splitlines()[-3:]
        assert taken.split()[-1] == total.split()[-1] == "0.0000"
        assert today.startswith("Today")
    assert "by people" in run("stats", everything).done()
    assert f"ok    database: {name} at 127.0.0.1" in run("check").done()
    assert run("delete", listed["code"], "--yes").code == 0
    assert run("list").done() == "No debates.\n"
    assert PASSWORD not in "".join(f.read_text() for f in tmp_path.rglob("*.jsonl"))


def test_a_backup_names_the_servers_own_command(run: Run, tmp_path: Path) -> None:
    said = run("backup", "--out", "copy.db").failed(2)
    assert "Nothing was copied; run pg_dump --format=custom --file=copy.db '--dbname=" in said
    assert PASSWORD not in said
    assert list(tmp_path.iterdir()) == []


def test_a_check_says_what_is_wrong_with_the_server(run: Run, postgres: PostgresDouble) -> None:
    ended = run("check", ROSTRUM_DATABASE_URL=postgres.tcp("nowhere"))
    assert ended.code == 1
    assert "FAIL  database: The database nowhere at" in ended.out
    assert "Create the database, or correct its name" in ended.out
    assert PASSWORD not in ended.out + ended.err


def test_a_wrong_password_ends_a_server_with_78_as_no_start_mends_it(
    tmp_path: Path, address: str
) -> None:
    wrong = address.replace(PASSWORD, "another-one")
    said = rostrum(tmp_path, "worker", ROSTRUM_DATABASE_URL=wrong).failed(78)
    assert "Correct the password in ROSTRUM_DATABASE_URL." in said
    assert "another-one" not in said
