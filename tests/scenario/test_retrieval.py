"""What sides look up before a debate: as often as each other, once, and put before all of them."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs
from ulid import ULID

from adapters.models.backends import SearchEndpoint
from adapters.models.router import open_models
from adapters.models.search import _found, _path, _result
from bot.app import defaults_of
from bot.settings.settings import Settings
from engine.dataset.page import write_markdown
from engine.dataset.writer import export
from engine.fleet.leases import LeaseManager, Notifier
from engine.formats import FORMATS
from engine.pages.stored import StoredLibrary
from engine.run.later_judges import judge_again
from engine.store import ExportFilter
from engine.values.debate import RETRIEVAL, Model, Retrieval, Source, Status
from engine.values.errors import SettingsError
from tests.doubles import model_server as acts
from tests.doubles.model_server import Body, SearchServer
from tests.doubles.whole_debate import HeardModels
from tests.kit import some, until
from tests.scenario.conftest import DEFAULTS, NO_CAPS, Stage, asked, in_thread, play, prompt
from tests.scenario.test_format_debates import OPTIONS, SHORT
from tests.unit.test_dataset_export import table

PLAN = Retrieval(
    model=Model(backend=RETRIEVAL, name="search", family=RETRIEVAL), calls=2, results=2
)
SEARCHING = DEFAULTS.model_copy(update={"retrieval": PLAN})
LONG = "fact " * 400
KEY = "search-key-canary-123456"
RESULTS = [
    {
        "title": "<b>Tea</b> study",
        "url": "http://127.0.0.1/tea",
        "content": "Tea wakes 41% of 900.",
    },
    {"title": "On {query}", "url": "http://127.0.0.1/{query}", "content": "About {query} we know."},
    {"title": "left out", "url": "http://127.0.0.1/3", "content": "A third result."},
]
QUOTED = "“Tea wakes 41% of 900” [Source 1] “Coffee wakes everybody at once” [Source 2]"


def searching(body: Body) -> str:
    """Answer well; write a query when asked for one, and quote."""
    if "search engine" in prompt(body):
        left = "second" if "You have looked up" in prompt(body) else "first"
        return json.dumps({"query": f"{left} of {body['model']}"})
    said = play(body)
    return f"{QUOTED}\n\n{said}" if said.startswith("Speech") else said


@pytest.fixture
async def search(stage: Stage) -> AsyncIterator[SearchServer]:
    async with SearchServer(list(RESULTS)) as server:
        stage.search = SearchEndpoint(url=server.url, key=SecretStr(KEY), timeout_s=5)
        stage.server.respond = searching
        yield server


def spoken(stage: Stage) -> list[Body]:
    return [body for body in stage.turns_asked if "search engine" not in prompt(body)]


async def test_each_side_searches_as_often_and_all_read_what_was_found(
    stage: Stage, search: SearchServer, tmp_path: Path
) -> None:
    given = Source(title="own", text="Kettles sing.")
    async with stage.process() as line:
        debate = await line.hold(SEARCHING, sources=(given,))
        assert debate.status is Status.CLOSED, debate.reason
        assert sorted(search.asked) == [
            "first of ana", "first of ben", "second of ana", "second of ben",
        ]  # fmt: skip
        assert search.keys == {f"Bearer {KEY}"}
        systems = {str(body["messages"][0]["content"]) for body in spoken(stage)}
        assert len(systems) == 1
        (read,) = systems
        assert "1, by the title of:\n> own\nIts text:\n> Kettles sing." in read
        study = "> Tea study\nIts text:\n> http://127.0.0.1/tea\n> Tea wakes 41% of 900.\n"
        assert f"Source 2, by the title of:\n{study}" in read
        order = [
            f"Source {number}, by the title of:\n> On {query}\n"
            for number, query in enumerate(
                ("first of ana", "first of ben", "second of ana", "second of ben"), 3
            )
        ]
        assert [read.index(one) for one in order] == sorted(read.index(one) for one in order)
        assert "A third result" not in read
        for body in stage.jurors_asked:
            assert "> Source 2: Tea study" in prompt(body)
        turns = (await line.store.journal.read(debate.id, "turns")).turns
        found = {(one.source, one.found_in) for turn in turns for one in turn.quotations}
        assert found == {(1, 2), (2, None)}
        await export(line.store, tmp_path / "out", ExportFilter(), None, version="1")
        rows = table(tmp_path / "out", "sources")
        assert [(row["number"], row["side"], row["query"]) for row in rows] == [
            (1, None, None), (2, "A", "first of ana"), (3, "A", "first of ana"),
            (4, "B", "first of ben"), (5, "A", "second of ana"), (6, "B", "second of ben"),
        ]  # fmt: skip
        assert rows[1]["url"] == "http://127.0.0.1/tea"
        page = write_markdown(await StoredLibrary(line.store).report(debate.id))
        assert "### Source 2: Tea study" in page
    told = [message.body for message in in_thread(stage)]
    looked = next(body for body in told if "Looked up" in body)
    assert "**🔵 A** looked up “first of [name]”: Source 2: Tea study" in looked
    assert told.index(looked) < min(at for at, body in enumerate(told) if "opening" in body)
    assert KEY not in str(stage.server.requests) + "".join(told)


async def test_a_resumed_debate_searches_no_more(stage: Stage, search: SearchServer) -> None:
    stage.server.script(*[acts.Act()] * 2, acts.status(404), model="ben")
    async with stage.process() as line:
        started = await line.start(SEARCHING)
        assert (await line.ended(started.debate.id)).status is Status.FAILED
    assert len(search.asked) == 4
    asked_before = len(stage.server.requests)
    async with stage.process() as line:
        await line.service.resume(started.debate.id, NO_CAPS)
        debate = await line.ended(started.debate.id)
        assert debate.status is Status.CLOSED, debate.reason
    assert len(search.asked) == 4
    again = stage.server.requests[asked_before:]
    assert not [body for body in again if "search engine" in prompt(body)]
    systems = {str(body["messages"][0]["content"]) for body in spoken(stage)}
    assert len(systems) == 1


@pytest.mark.slow
async def test_a_process_that_ends_amid_searches_repeats_none_that_was_answered(
    stage: Stage, search: SearchServer
) -> None:
    search.hold_from = 3  # the others stay unanswered until the process has ended
    async with stage.process() as line:
        started = await line.start(SEARCHING)
        await until(lambda: len(search.asked) >= 4)
    answered = search.asked[:2]
    search.hold_from = None
    async with stage.process() as line:
        await line.service.resume(started.debate.id, NO_CAPS)
        debate = await line.ended(started.debate.id)
        assert debate.status is Status.CLOSED, debate.reason
        calls = (await line.record(debate.id)).calls
    assert [search.asked.count(query) for query in answered] == [1, 1]
    assert len(set(search.asked)) == 4
    assert len({call.step for call in calls if call.step.startswith("retrieve/")}) == 4


async def test_another_judging_reads_the_same_sources(stage: Stage, search: SearchServer) -> None:
    searching_too = SHORT.model_copy(update={"retrieval": PLAN})
    judge = Model.parse("rehearsal/yew")
    async with stage.process() as line:
        own = Source(title="own", text="Kettles sing at ninety degrees.")
        debate = await line.hold(searching_too, format="structured", sources=(own,))
        heard = HeardModels()
        lease_manager = LeaseManager(line.store, Notifier(), holder=str(ULID()))
        await judge_again(debate, [judge], NO_CAPS, line.store, heard, lease_manager)
    assert len(search.asked) == 4
    assert set(heard.heard) == {"judging/1/judge"}
    assert "> Source 1: own" in heard.heard["judging/1/judge"]
    assert "> Source 2: Tea study" in heard.heard["judging/1/judge"]


async def test_a_failure_that_passes_is_tried_again(stage: Stage, search: SearchServer) -> None:
    search.script = [503, 503]
    async with stage.process() as line:
        debate = await line.hold(SEARCHING)
        calls = (await line.record(debate.id)).calls
    assert len(search.asked) == 6
    searches = [call for call in calls if call.step.startswith("retrieve/")]
    assert len({call.step for call in searches}) == 4
    assert sum(call.reply is not None for call in searches) == 4


@pytest.mark.parametrize("act", [404, "<html>a page</html>", '{"answer": 1}'])
async def test_a_final_failure_is_recorded_and_the_debate_goes_on(
    stage: Stage, search: SearchServer, act: int | str
) -> None:
    search.script = [act] * 4
    with capture_logs() as logs:
        async with stage.process() as line:
            debate = await line.hold(SEARCHING)
            assert debate.status is Status.CLOSED, debate.reason
            record = await line.record(debate.id)
    problems = [one.body["problem"] for one in record.artifacts if one.kind == "unanswered"]
    kind = "unknown model (404)" if act == 404 else "unreadable"
    assert problems == [f"no answer: {kind}"] * 4
    told = [entry["why"] for entry in logs if entry["event"] == "no answer"]
    assert told == [f"no answer: {kind}"] * 4
    assert any("the search gave no answer" in message.body for message in in_thread(stage))
    assert not any(
        "by the title of:" in str(body["messages"][0]["content"]) for body in spoken(stage)
    )


async def test_a_model_that_searches_is_asked_like_any_other(stage: Stage) -> None:
    plan = PLAN.model_copy(update={"model": Model.parse("retrieval/finder"), "calls": 1})
    stage.search = SearchEndpoint(url=stage.server.base_url, model="finder", key=SecretStr(KEY))
    stage.server.respond = lambda body: (
        f"Prose on {asked(body)}." if body["model"] == "finder" else searching(body)
    )
    async with stage.process() as line:
        debate = await line.hold(DEFAULTS.model_copy(update={"retrieval": plan}))
        assert debate.status is Status.CLOSED, debate.reason
    (read,) = {
        str(body["messages"][0]["content"])
        for body in spoken(stage)
        if body["model"] in ("ana", "ben")
    }
    assert "> first of ana\nIts text:\n> Prose on first of ana." in read
    assert "> first of ben\nIts text:\n> Prose on first of ben." in read


@pytest.mark.parametrize("format", FORMATS)
async def test_in_every_format_each_side_searches_and_the_estimate_counts_it(
    stage: Stage, search: SearchServer, format: str
) -> None:
    search.results = [
        {"title": f"{name} {{query}}", "url": f"http://127.0.0.1/{name}/{{number}}", "text": LONG}
        for name in ("one", "two")
    ]
    async with stage.process() as line:
        started = await line.start(
            SHORT.model_copy(update={"retrieval": PLAN}),
            format=format,
            topic="Tea beats coffee",
            options=OPTIONS.get(format, {}),
        )
        debate = await line.ended(started.debate.id)
        assert (debate.status, debate.reason) == (Status.CLOSED, "")
        record = await line.record(debate.id)
    assert len(search.asked) == PLAN.calls * len(debate.request.sides)
    (kept,) = (one.body for one in record.artifacts if one.kind == "retrieved")
    assert len(kept["sources"]) == PLAN.results * len(search.asked)  # type: ignore[arg-type]
    used = sum(call.reply.usage.tokens_in or 0 for call in record.calls if call.reply)
    assert 0.75 < started.estimate.tokens_in / used < 1.5


def test_the_settings_make_a_plan_and_the_key_is_a_secret() -> None:
    assert defaults_of(Settings()).retrieval is None
    given: dict[str, Any] = {"url": "http://127.0.0.1:9/s?q={query}", "key": KEY, "calls": 3}
    settings = Settings(retrieval=given)
    plan = some(defaults_of(settings).retrieval)
    assert (plan.model.ref, plan.calls, plan.results) == ("retrieval/search", 3, 3)
    assert KEY in settings.secrets()
    assert KEY not in repr(settings)
    named: dict[str, Any] = {"retrieval": {"base_url": "http://127.0.0.1:9/v1"}}
    backends = {one.name: one for one in Settings(backends=named).endpoints()}
    with pytest.raises(SettingsError, match="give that one another name"):
        open_models(backends, search=settings.retrieval.endpoint())


@pytest.mark.each_case
@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://h/s", "/s?q=a%20b%26c"),
        ("http://h", "/?q=a%20b%26c"),
        ("http://h/s?format=json", "/s?format=json&q=a%20b%26c"),
        ("http://h/s?query={query}&n=3", "/s?query=a%20b%26c&n=3"),
    ],
)
def test_a_query_is_put_into_the_address(url: str, path: str) -> None:
    assert _path(url, "a b&c") == path


def test_results_are_found_however_a_service_names_them() -> None:
    brave = {"web": {"results": [{"title": "T", "description": "<strong>D</strong> &amp; e"}]}}
    assert [_result(one) for one in _found(brave) or ()] == [
        {"title": "T", "text": "D & e", "url": ""}
    ]
    serper = {"organic": [{"title": "T", "link": "http://127.0.0.1/", "snippet": "S"}, 7, {}]}
    assert [_result(one) for one in _found(serper) or ()] == [
        {"title": "T", "text": "S", "url": "http://127.0.0.1/"}, {}, {},
    ]  # fmt: skip
    assert _found({"results": []}) == []
    assert _found({"answer": 1}) is None
