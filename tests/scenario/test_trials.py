"""Questions whose right answer is known: every protocol, and who does not learn the answer."""

import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.research.series_runs import load_series
from bot.settings.load import load_settings
from engine.prompts.library import load_prompts
from engine.run.plan import plan
from engine.series.contents import expand
from engine.series.runner import order_of
from engine.store.tables import metadata
from engine.values.debate import Model, TrialProtocol
from engine.values.errors import UsageError
from engine.values.messages import VoteInvite
from engine.values.topics import Topic
from engine.words.cards import card_of
from tests.doubles.whole_debate import DEFAULTS, HeardModels, Whole, hold_whole

ROOT = Path(__file__).parents[2]
SUM = Topic(
    text="What is 17 × 24?",
    choices=("408", "398"),
    answer="408",
    source="Ten times 24 is 240, and seven times 24 is 168.",
)
SPEAKERS = {
    TrialProtocol.DIRECT: set(),
    TrialProtocol.CONSULTANCY: {"B"},  # by this seed
    TrialProtocol.DEBATE: {"A", "B"},
    TrialProtocol.OPEN: {"A", "B"},
    TrialProtocol.EXPERT: set(),
}


async def hold(url: str, out: Path, topic: Topic = SUM, **asked: Any) -> Whole:
    listed = DEFAULTS.model_copy(update={"topics": (topic,)})
    return await hold_whole(url, out, listed, topic=topic.text, **asked)


@pytest.mark.parametrize("protocol", TrialProtocol)
async def test_a_protocol_says_who_speaks_and_what_jurors_read(
    database_url: str, tmp_path: Path, protocol: TrialProtocol
) -> None:
    whole = await hold(database_url, tmp_path / "out", protocol=protocol)
    assert {step.split("/")[2] for step in whole.heard if step.startswith("turn/")} == SPEAKERS[
        protocol
    ]
    stances = whole.debate.request.stances
    assert sorted(stances.values()) == ["398", "408"]
    jury = whole.sent("jury/")
    assert jury
    for text in jury:
        assert "which of two answers to a question is right" in text
        assert sorted(re.findall(r"^The answer of \w+:\n> (\d+)$", text, re.M)) == ["398", "408"]
        assert (SUM.source in text) is (protocol is TrialProtocol.EXPERT)
        assert ("No one argues" in text) is (not SPEAKERS[protocol])
    told = [text for step, text in whole.heard.items() if step.startswith("turn/")]
    assert all(SUM.source in text for text in told)
    (invite,) = [message for message in whole.posted if isinstance(message, VoteInvite)][:1]
    paper = card_of(invite).ballot
    assert paper is not None
    assert paper.asks == "**Which answer is right?**"
    assert whole.debate.setup.panel.rubric == "truth"


async def test_a_consultant_is_given_an_answer_by_the_seed(
    database_url: str, tmp_path: Path
) -> None:
    sides, right = set(), set()
    for seed in range(6):
        whole = await hold(database_url, tmp_path / f"{seed}", protocol="consultancy", seed=seed)
        setup = whole.debate.setup
        sides.add(setup.advocate)
        right.add(setup.request.stances[setup.advocate] == SUM.answer)
        assert {step.split("/")[2] for step in whole.heard if step.startswith("turn/")} == {
            setup.advocate
        }
    assert sides == {"A", "B"}
    assert right == {True, False}


@pytest.mark.parametrize("right", [1, 0])
async def test_in_an_open_debate_the_first_model_argues_what_it_holds_right(
    database_url: str, tmp_path: Path, right: int
) -> None:
    sure = {
        side: Model.parse(f"rehearsal/{name}?right={right}")
        for side, name in zip("AB", ("one", "two"), strict=True)
    }
    for seed in range(3):
        heard = HeardModels()
        asked: dict[str, Any] = {"protocol": "open", "models": sure, "seed": seed}
        whole = await hold(database_url, tmp_path / f"{seed}", asking=heard, **asked)
        request = whole.debate.request
        (chosen,) = [side for side, model in request.sides.items() if model.name.startswith("one")]
        assert (request.stances[chosen] == SUM.answer) is bool(right)
        assert whole.debate.setup.advocate == chosen
        assert list(heard.heard).count("trial/choice") == 1


async def test_a_round_table_reads_what_it_chooses_among(database_url: str, tmp_path: Path) -> None:
    whole = await hold(database_url, tmp_path / "out", format="roundtable")
    assert "names one of these, and nothing else: 408 · 398" in whole.debate.request.conditions
    assert all("408 · 398" in text for text in whole.sent("turn/draft"))


VARIES = re.compile(r"01[0-9A-HJKMNP-TV-Z]{24}|\d{4}-\d\d-\d\d[T ][\d:.+Z-]+|\d+\.\d{4,}")


def everything(file: Path, code: str) -> dict[str, list[str]]:
    """Return every row of a database but the sealed answers, without ids, times and secrets."""
    with sqlite3.connect(file) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master")]
        tables = [name for name in names if name in metadata.tables]
        rows = {
            name: database.execute(f'SELECT * FROM "{name}"').fetchall()  # noqa: S608
            for name in tables
        }
    for changing in ("installation", "leases", "sealed_answers", "templates"):
        rows.pop(changing, None)
    return {
        name: sorted(VARIES.sub("", str(row)).replace(code, "") for row in found)
        for name, found in rows.items()
    }


@pytest.mark.parametrize("protocol", [*TrialProtocol, None])
async def test_no_byte_depends_on_which_answer_is_right(
    tmp_path: Path, migrated_file: Path, protocol: TrialProtocol | None
) -> None:
    # The same debate twice, of which only the answer differs: whatever is sent to models, posted,
    # logged, or stored for pages is the same to the byte.
    held, logs = [], []
    asked: dict[str, Any] = {"protocol": protocol} if protocol else {"format": "roundtable"}
    for answer in SUM.choices:
        file = Path(shutil.copy(migrated_file, tmp_path / f"{answer}.db"))
        topic = SUM.model_copy(update={"answer": answer})
        with capture_logs() as logged:
            whole = await hold(f"sqlite+aiosqlite:///{file}", tmp_path / answer, topic, **asked)
        code = whole.debate.code
        # How often a message is edited while the debate goes on depends on the clock.
        said = (one.model_dump_json(exclude={"progress", "until"}) for one in whole.posted)
        posted = sorted({VARIES.sub("", one).replace(code, "") for one in said})
        table = everything(file, code)
        held.append((whole.heard, posted, table))
        logs.append(sorted(VARIES.sub("", str(sorted(one.items()))) for one in logged))
        (debate,) = whole.table("debates")
        assert debate["answer"] == answer
        stances = whole.debate.request.stances
        assert debate["answer_side"] == (
            next(side for side, claim in stances.items() if claim == answer) if protocol else None
        )
    first, second = held
    assert first[0] == second[0]
    assert first[1] == second[1]
    assert first[2].keys() == second[2].keys() > {"calls", "outbox", "debates", "turns", "verdicts"}
    for name, rows in first[2].items():
        assert rows == second[2][name], name
    assert logs[0] == logs[1]


def test_only_exports_and_statistics_read_the_answer() -> None:
    readers = {
        file.relative_to(ROOT).as_posix()
        for room in ("engine", "adapters", "bot")
        for file in (ROOT / room).rglob("*.py")
        if re.search(r"sealed_answers|\brecord\.answer\b", file.read_text(encoding="utf-8"))
    }
    stored = {"engine/store/tables.py", "engine/store/debates.py", "engine/store/archive.py"}
    assert readers == stored | {"engine/dataset/debate_table.py", "engine/stats/row.py"}


def test_the_recipe_holds_five_arms_of_known_answers(tmp_path: Path) -> None:
    recipe = (ROOT / "docs/recipes.md").read_text(encoding="utf-8")
    file = tmp_path / "trials.toml"
    file.write_text(recipe.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    series = load_series(file, load_settings())
    planned = list(expand(series))
    assert {one.arm for one in planned} == {one.value for one in TrialProtocol}
    for one in planned[:: len(planned) // 20]:
        held = plan(order_of(series, one), DEFAULTS, load_prompts(), seed=0)
        assert held.request.protocol is not None
        assert held.request.protocol.value == one.arm
        assert held.answer["answer"] == one.topic.answer


def test_a_series_says_where_an_answer_is_wrong_and_its_keys_do_not_give_it_away(
    tmp_path: Path,
) -> None:
    head = 'name = "s"\nmodels = ["rehearsal/a", "rehearsal/b"]\n\n[[topics]]\n'
    file, keys = tmp_path / "s.toml", set()
    for answer in ("408", "398"):
        topic = f'text = "17 × 24?"\noptions = ["408", "398"]\nanswer = "{answer}"\n'
        file.write_text(head + topic, encoding="utf-8")
        keys.add(tuple((one.key, one.seed) for one in expand(load_series(file, load_settings()))))
    assert len(keys) == 1
    file.write_text(head + 'text = "17 × 24?"\noptions = ["1", "2"]\nanswer = "3"\n')
    with pytest.raises(UsageError, match=r"s\.toml: line 5: the answer “3” is none of 1, 2;"):
        load_series(file, load_settings())
