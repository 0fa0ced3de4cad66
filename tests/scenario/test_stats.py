"""Statistics of debates that were really held: in a chat, and by `rostrum stats` beside it."""

import asyncio
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import orjson
import pytest

from bot.commands.choice import DebateChoice
from bot.research.stats import run_stats
from engine.chat.answers import to_markdown
from engine.chat.commands import Commands, parse_command
from engine.chat.context import Requester
from engine.values.debate import Debate
from engine.values.errors import RostrumError, UsageError
from tests.doubles.command import rostrum
from tests.doubles.databases import opened
from tests.scenario.conftest import DEFAULTS, Running, Stage

OPEN = DEFAULTS.model_copy(update={"vote_minutes": 60.0, "quorum": 1})
ANA = Requester(platform="memory", community="club", place="lobby", user="ana")
STRANGER = ANA.model_copy(update={"community": "guild"})
NOTHING = (
    "There is nothing to compare: no debate was revealed here yet. Hold one, vote on it, and try "
    "again after its vote closes."
)
COPIED = {"debates": "id", "turns": "debate", "ballots": "debate", "verdicts": "debate"}
COPIES = 39


async def ask(line: Running, person: Requester, text: str) -> str:
    commands = Commands(line.service, line.store, OPEN, "1.2.3")
    return to_markdown(await commands.run(person, parse_command(text)))


async def vote(line: Running, **choices: str) -> Debate:
    """Hold a debate until people have voted; the vote stays open."""
    started = await line.start(OPEN)
    debate = await line.until(started.debate.id, lambda d: d.vote_opened_at is not None)
    for user, option in choices.items():
        await line.venue.react(user, debate.thread or "", debate.vote_message or "", option)
    return debate


async def hold(line: Running, **choices: str) -> Debate:
    debate = await vote(line, **choices)
    await line.service.close_vote(debate.id)
    return await line.ended(debate.id)


async def test_a_chat_knows_only_what_was_revealed_in_it(line: Running) -> None:
    debate = await vote(line, bob="A", cem="A")
    for command in ("agreement", "leaderboard"):
        assert await ask(line, ANA, command) == NOTHING, "the vote is open"
    await line.service.close_vote(debate.id)
    await line.ended(debate.id)
    for command in ("agreement", "leaderboard"):
        assert await ask(line, STRANGER, command) == NOTHING, "it was held elsewhere"
    said = await ask(line, ANA, "agreement")
    assert said.startswith("Debates revealed here: 1; judged by both people and jury: 1.")
    assert "Jury and people agree: too few (1)" in said


async def test_a_leaderboard_rates_whoever_won_and_lost(line: Running) -> None:
    await hold(line, bob="A", cem="A", dee="B")
    first = await ask(line, ANA, "leaderboard")
    assert "`near/ana` · people: no two models have beaten each other, even indirectly" in first
    await hold(line, bob="B")
    second = await ask(line, ANA, "leaderboard")
    assert "1. `near/ana` · people: 1000 (" in second
    assert "2. `near/ben` · people: 1000 (" in second
    assert "1–1–0" in second


@pytest.fixture
def office(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to give the command in, with nothing set but the stage's database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", stage.url)
    return tmp_path


async def stats(**options: Any) -> None:
    own = {name: options.pop(name) for name in ("as_json", "out", "alt_test") if name in options}
    await run_stats(DebateChoice(**options), **own)


def multiply(url: str, debate: Debate) -> None:
    """Store copies of a debate on topics of their own, as if it had been held again and again."""
    with opened(url) as run:
        for table, key in [*COPIED.items(), ("votes", "debate")]:
            for row in run(f"SELECT * FROM {table} WHERE {key} = ?", debate.id):  # noqa: S608
                marks = f"({', '.join(row)}) VALUES ({', '.join('?' for _ in row)})"
                for copy in range(COPIES):
                    copied = {**row, **changes(debate, key, copy, dict(row))}
                    run(f"INSERT INTO {table} {marks}", *copied.values())


def changes(debate: Debate, key: str, copy: int, row: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = {key: f"{debate.id[:-3]}{copy:03}"}
    if key == "id":
        setup = orjson.loads(row["setup"])
        setup["request"]["topic"] = f"Topic {copy}"
        changed |= {"number": 100 + copy, "setup": orjson.dumps(setup).decode()}
    return changed


@pytest.mark.slow
async def test_stats_beside_a_running_process(
    stage: Stage, line: Running, office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    debate = await hold(line, bob="A", cem="A", dee="B")
    await asyncio.to_thread(multiply, stage.url, debate)
    text = await asyncio.to_thread(rostrum, office, "stats", ROSTRUM_DATABASE_URL=stage.url)
    assert "Revealed debates: 40; judged by both people and jury: 40." in text.done()
    assert "\x1b" not in text.out
    for said in ("Krippendorff's α of people", "Topic 0", "near/j1", "near/ana", "en "):
        assert said in text.out
    await stats(community="club", formats="classic", as_json=True)
    report = orjson.loads(capsys.readouterr().out)
    assert report["filters"] == {
        "community": "club",
        "formats": ["classic"],
        "languages": [],
        "since": None,
        "until": None,
        "quorum_met": False,
        "series": None,
        "include_rehearsal": False,
    }
    assert report["rehearsal_debates_left_out"] == 0
    agreement, [ana, ben] = report["agreement"], report["leaderboard"]["standings"]
    assert agreement["agreement"]["value"] in (0.0, 1.0)
    assert agreement["pooled"]["people"]["value"] == pytest.approx(1 / 3)
    assert {juror["invalid"]["n"] for juror in agreement["jurors"]} == {80}  # in both orders
    assert (ana["model"], ana["people"]["won"], ana["people"]["value"]) == ("near/ana", 40, None)
    assert ben["people"]["missing"] == "no_cycle"
    assert report["adjusted"]["people"]["side"]["missing"] == "unrated"
    assert "by the jury: no two models have beaten each other, even indirectly." in text.out


async def test_stats_say_whether_the_jury_may_replace_those_who_voted(
    stage: Stage, line: Running, office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    debate = await hold(line, bob="A", cem="A", dee="B")
    await stats(alt_test=True)
    assert "Chat: fewer than two people judged 30 debates" in capsys.readouterr().out
    await asyncio.to_thread(multiply, stage.url, debate)
    await stats(alt_test=True)
    said = capsys.readouterr().out
    assert re.search(r"panel, chat and pages +\d+ % .*? 3 ", said), said
    assert re.search(r"near/j1, chat", said)
    assert "Debates that decide it" in said
    await stats(alt_test=True, as_json=True)
    found = orjson.loads(capsys.readouterr().out)["replacement"]
    judges = {one["judge"] for one in found["tests"]}
    assert judges > {"panel"}
    assert {(one["people"], one["debates"]) for one in found["tests"]} == {(3, 40)}
    assert found["epsilons"] == [0.1, 0.15, 0.2]


async def test_stats_rate_models_with_side_and_length_equal(
    line: Running, office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for choice in ("A", "A", "B"):
        await hold(line, bob=choice)
    await stats()
    said = capsys.readouterr().out
    assert re.search(r"Ratings with side, last word and length equal\n +by people", said)
    assert re.search(r"side A +cannot be told apart", said)
    await stats(as_json=True)
    report = orjson.loads(capsys.readouterr().out)
    people = report["adjusted"]["people"]
    assert set(people["ratings"]) == {"near/ana", "near/ben"}
    plain = {one["model"]: one["people"] for one in report["leaderboard"]["standings"]}
    assert people["ratings"]["near/ana"]["won"] == plain["near/ana"]["won"] == 2
    assert people["side"]["missing"] == "confounded"  # ana always had side A


async def test_stats_draw_pictures_and_say_where(
    line: Running, office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await hold(line, bob="A")
    out = office / "new" / "pictures"
    await stats(out=out)
    said = capsys.readouterr().out
    assert said.endswith(f"Pictures in {out}: agreement.svg, reliability.svg, leaderboard.svg.\n")
    for picture in out.iterdir():
        assert ET.parse(picture).getroot().get("role") == "img"  # noqa: S314 - our own
    await stats(out=out, as_json=True)
    told = capsys.readouterr()
    assert orjson.loads(told.out)["agreement"]["debates"] == 1
    assert told.err.startswith("Pictures in ")


@pytest.mark.usefixtures("office")
async def test_stats_of_nothing_of_what_does_not_exist_and_to_where_nothing_can_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("taken")
    said = r"cannot be written to .*file: .+; choose another --out"
    with pytest.raises(RostrumError, match=said):
        await stats(out=tmp_path / "file")
    await stats(languages="tr")
    assert "has been revealed yet" in capsys.readouterr().out
    with pytest.raises(UsageError, match="There is no format “duel”"):
        await stats(formats="duel")
    with pytest.raises(UsageError, match="is not a language code"):
        await stats(languages="x" * 50)
