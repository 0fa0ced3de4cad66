"""Questions whose right answer is known: every protocol, and who does not learn the answer."""

import re
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from structlog.testing import capture_logs

from adapters.database.database import SqlDatabase
from adapters.discord.render import below as discord_below
from adapters.pictures import drawn
from adapters.site import Site
from adapters.slack.render import below as slack_below
from adapters.web.application import furnish
from adapters.web.public import PublicPages
from bot.commands.choice import EVERY_DEBATE
from bot.research.series_runs import load_series, make_files, read_report
from bot.research.stats import run_stats
from bot.settings.load import load_settings
from engine.chat.answers import to_markdown
from engine.chat.answers.voters import ReviewAnswer
from engine.chat.participants import line_of
from engine.labelling.tasks import Labelling
from engine.pages.public import PublicReader
from engine.prompts import load_prompts
from engine.run.plan import plan
from engine.series.contents import expand
from engine.series.runner import order_of
from engine.stats.comparisons import measure_trials
from engine.stats.row import work_out
from engine.store import ExportFilter, Store
from engine.store.communities import CommunitySettings, PublicPart
from engine.store.series import StoredSeries
from engine.store.tables import metadata
from engine.values.debate import Model, SeriesKey, TrialProtocol
from engine.values.errors import UsageError
from engine.values.messages import VoteInvite
from engine.values.ports import Call, Permalinks, Reply, SystemClock
from engine.values.protocols import AttemptLog
from engine.values.topics import Topic
from engine.votes.close import QUORUM
from engine.words.cards import card_of
from tests.doubles.accounts import AccountsServer
from tests.doubles.whole_debate import DEFAULTS, HeardModels, Whole, hold_whole
from tests.kit import NOW, some
from tests.scenario.test_label_pages import Office, Shown, answer as answer_of, serving

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
    review = ReviewAnswer(lines=(line_of(whole.debate),))
    asks = f"{whole.debate.code}: which answer is right?"
    assert asks in str(some(discord_below(review)).to_components())
    assert asks in str(slack_below(review))
    assert "; which answer is right)" in to_markdown(review)
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


class SlurredModels(HeardModels):
    """Models that choose no side, however often they are asked."""

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        reply = await super().complete(call, log)
        chooses = call.step.startswith("trial/choice")
        return reply.model_copy(update={"text": "Either."}) if chooses else reply


async def test_an_open_debate_without_a_choice_says_so_and_is_asked_again_for_a_side(
    database_url: str, tmp_path: Path
) -> None:
    heard = SlurredModels()
    whole = await hold(database_url, tmp_path / "out", asking=heard, protocol="open")
    (again,) = [text for step, text in heard.heard.items() if step.startswith("trial/choice/")]
    assert again.endswith('has the keys "reasons" and "side" ("A" or "B"), and nothing else.')
    (debate,) = whole.table("debates")
    assert (debate["protocol"], debate["advocate"]) == ("open", None)


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
    asked["vote_minutes"] = 0.015  # or the close comes before the jury has said why, on a busy day
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


SERIES = """name = "s"
models = ["rehearsal/a", "rehearsal/b"]

[[topics]]
text = "What is 17 × 24?"
options = ["408", "398"]
answer = "{}"
"""


@asynccontextmanager
async def served(url: str) -> AsyncIterator[Office]:
    """Serve label pages over a store with one debate, and a labelling task."""
    store = Store(SqlDatabase(url))
    async with AccountsServer() as accounts, serving(store, accounts) as origin:
        office = Office(origin, store, Labelling(store, SystemClock()), [], accounts)
        await office.task()
        yield office
        for browser in office.browsers:
            await browser.client.close()
    await store.database.close()


async def debate_page(store: Store, debate_id: str) -> str:
    shows = CommunitySettings(public=tuple(PublicPart))
    await store.communities.change("memory", "club", lambda _: shows, NOW)
    await store.database.run("UPDATE debates SET rehearsal = FALSE")  # or none is public
    public = PublicPages(PublicReader(store, SystemClock(), "0"), Permalinks(), drawn)
    site = Site("127.0.0.1", 0)
    async with site.serving(public.routes(), furnish), ClientSession() as client:
        host, port = some(site.address)
        async with client.get(f"http://{host}:{port}/d/{debate_id.lower()}") as page:
            assert page.status == 200
            return await page.text()


RANDOM = re.compile(r"01[0-9a-hjkmnp-tv-z]{24}|[\w-]{20,}| · held in \d+ seconds?")


@pytest.mark.parametrize("protocol", TrialProtocol)
async def test_no_page_says_which_answer_is_right(
    tmp_path: Path, migrated_file: Path, monkeypatch: pytest.MonkeyPatch, protocol: TrialProtocol
) -> None:
    monkeypatch.setattr("engine.store.labels.secrets.randbelow", lambda _: 0)  # the sheet's order
    key = SeriesKey(name="s", key="k", ordinal=0)
    pages = []
    for right in SUM.choices:
        file = Path(shutil.copy(migrated_file, tmp_path / f"{right}.db"))
        topic = SUM.model_copy(update={"answer": right})
        url = f"sqlite+aiosqlite:///{file}"
        whole = await hold(url, tmp_path / right, topic, protocol=protocol, series=key)
        series = tmp_path / "s.toml"
        series.write_text(SERIES.format(right), encoding="utf-8")
        body = load_series(series, load_settings()).model_dump_json()
        async with served(url) as office:
            await office.store.series.save(StoredSeries(name="s", body=body, begun_at=NOW))
            report = make_files(await read_report(office.store, "s"))
            label = (await office.browser().join(await office.link())).text
            debate = await debate_page(office.store, whole.debate.id)
        assert not re.search(r"\b(?:408|398)\b", report["report.html"].decode())
        said = (VARIES.sub("", text).replace(whole.debate.code, "") for text in (debate, label))
        pages.append([RANDOM.sub("", text) for text in said])
    for one, other in zip(*pages, strict=True):
        assert one.splitlines() == other.splitlines()


@pytest.mark.parametrize("protocol", TrialProtocol)
async def test_a_label_page_asks_which_answer_is_right_and_people_are_counted_by_it(
    database_url: str, tmp_path: Path, protocol: TrialProtocol
) -> None:
    whole = await hold(database_url, tmp_path / "out", protocol=protocol)
    names = {whole.debate.setup.names[side]: side for side in "AB"}
    stances = whole.debate.request.stances

    def chosen(page: Shown, claim: str) -> str:
        shown = re.findall(r"<dt>(\w+)</dt>\s*<dd[^>]*>(\d+)</dd>", page.text)
        assert {name: stances[side] for name, side in names.items()} == dict(shown)
        return ("first", "second")[[said for _, said in shown].index(claim)]

    async with served(database_url) as office:
        invitation = (await office.browser().get(await office.link())).text
        assert "you say which answer is right" in invitation
        assert "ebated better" not in invitation
        assert "Judge how they argued" not in invitation
        for _ in range(QUORUM):
            page = await office.browser().join(await office.link())
            assert "Which answer is right?" in page.text
            assert "ebated better" not in page.text
            assert "Neither was good" not in page.text
            speakers = re.findall(r'<h3 id="says-\d+">(\w+) ', page.text)
            assert {names[name] for name in speakers} == SPEAKERS[protocol]
            assert ("No one argues here." in page.text) is (not speakers)
            assert (SUM.source in page.text) is (protocol is TrialProtocol.EXPERT)
            refused = await office.browsers[-1].post(page.path, **page.fields)
            assert "Choose which answer is right; without that" in refused.text
            given = answer_of(page, chosen(page, SUM.answer), seconds="600")
            assert (await office.browsers[-1].post(page.path, **given)).path == "/label/tea/done"
        found = some(await work_out(office.store.archive, ExportFilter(), measure_trials))
    (one,) = found.protocols
    assert (one.people.n, one.people.raw) == (1, 1)


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
        (held,) = plan(order_of(series, one), DEFAULTS, load_prompts(), seed=0)
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
    # The text of the one that is wrong stands in a comment, and in the topic before it.
    file.write_text(
        f'{head}text = "What is 17 × 24?"\n\n# 17 × 24?\n[[topics]]\n'
        'text = "17 × 24?"\noptions = ["1", "2"]\nanswer = "3"\n'
    )
    with pytest.raises(UsageError, match=r"s\.toml: line 8: the answer “3” is none of 1, 2;"):
        load_series(file, load_settings())


async def test_stats_draw_how_often_the_right_answer_was_found(
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    await hold(database_url, tmp_path / "out")
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", database_url)
    pictures = tmp_path / "pictures"
    await run_stats(EVERY_DEBATE, out=pictures)
    assert "Right answers by protocol" in (pictures / "trials.svg").read_text("utf-8")
    assert "leaderboard.svg, trials.svg." in capsys.readouterr().out
