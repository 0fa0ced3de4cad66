"""`/metrics` of a process that holds debates, against the model server's own log."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp import ClientSession

from adapters.metrics import MOST_MODELS, Counts
from adapters.models.backends import Backend
from adapters.models.router import open_models
from bench.wheel.machine import percentile
from bot.app import MainLine
from bot.serve.health import Health, _LoopWatch
from engine.fleet.leases import LeaseManager, Notifier
from engine.store import Store
from engine.values.debate import Model, Status
from engine.values.errors import LeaseLostError
from engine.values.ports import Attempt
from tests.doubles.databases import change
from tests.doubles.hall import DEFAULTS as HALL, Session, hearing, joined
from tests.doubles.model_server import refuse, status
from tests.doubles.venue import AttentiveVenue
from tests.kit import HANG_SECONDS, until
from tests.scenario.conftest import DEFAULTS, PRICE, QUICK, Running, Stage
from tests.unit.test_health import Samples, fetch, read, served

SCRAPES = 30


class Scraped:
    """The metrics of one page, by name and labels."""

    def __init__(self, found: Samples) -> None:
        self._found = found

    def by(self, name: str, *labels: str) -> dict[tuple[str, ...], float]:
        """Return a metric's samples, added up by some of its labels; without those of 0."""
        added = Counter[tuple[str, ...]]()
        for sample, value in self._found[name].items():
            given = dict(sample)
            added[tuple(given[label] for label in labels)] += value  # type: ignore[assignment]
        return {key: value for key, value in added.items() if value}


@asynccontextmanager
async def scraping(line: MainLine, store: Store) -> AsyncIterator[str]:
    """Serve what a line has counted; yields the address of `/metrics`."""
    watch = next(iter(line.deliveries.values())).services.lease_manager.watch
    assert isinstance(watch, Counts)
    async with served(Health(store, {}, _LoopWatch(watch))) as url:
        yield f"{url}/metrics"


async def scrape(url: str) -> Scraped:
    async with ClientSession() as session:
        return Scraped(read(await (await fetch(session, url)).text()))


async def scraped(line: MainLine, store: Store) -> Scraped:
    async with scraping(line, store) as url:
        return await scrape(url)


async def test_calls_tokens_and_cost_are_those_of_the_servers_log_and_the_journal(
    stage: Stage, line: Running
) -> None:
    stage.server.script(status(503), status(429), model="ben")
    stage.server.script(replace(status(500), wait=1.2), model="j1")
    stage.server.always(refuse("temperature"), model="ana")
    held = [await line.hold() for _ in range(3)]
    spent = [await line.store.journal.spending(debate.id) for debate in held]
    page = await scraped(line.line, line.store)
    assert page.by("rostrum_model_limit_waits", "backend") == {}, "no limit was reached"
    assert page.by("rostrum_model_calls")[()] == sum(calls for calls, _ in spent)
    asked = Counter((body["model"],) for body in stage.server.requests)
    assert page.by("rostrum_model_calls", "model") == asked
    outcomes = page.by("rostrum_model_calls", "model", "outcome")
    failed = {key: number for key, number in outcomes.items() if key[1] != "ok"}
    assert failed == {
        ("ben", "overloaded"): 1,
        ("ben", "limited"): 1,
        ("j1", "failed"): 1,
        ("ana", "rejected"): 1,
    }
    assert page.by("rostrum_model_retries", "backend") == {("near",): 4}
    assert page.by("rostrum_model_calls_in_flight", "model") == {}
    stated = stage.server.stated
    sums = {key: sum(one[key] for one in stated) for key in ("prompt_tokens", "completion_tokens")}
    tokens = page.by("rostrum_model_tokens", "kind")
    assert tokens == {("in",): sums["prompt_tokens"], ("out",): sums["completion_tokens"]}
    usd = PRICE.cost(sums["prompt_tokens"], sums["completion_tokens"])
    assert page.by("rostrum_model_cost_usd", "backend")["near",] == pytest.approx(usd)
    unknown = page.by("rostrum_model_calls_unpriced", "model")
    assert unknown == {("j1",): 1}, "an answer of 500 after a while may have been billed"
    assert page.by("rostrum_debates_ended", "status", "cause") == {("closed", ""): 3}
    assert page.by("rostrum_outbox_messages", "platform") == {}
    durations = page._found["rostrum_model_call_duration_seconds"]
    counts = [value for labels, value in durations.items() if ("le", "+Inf") in labels]
    assert sum(counts) == len(stage.server.requests)


async def test_a_refused_key_fails_a_debate_and_both_are_counted(
    stage: Stage, line: Running
) -> None:
    stage.server.always(status(401), model="ana")
    ended = await line.hold()
    assert ended.status is Status.FAILED
    page = await scraped(line.line, line.store)
    assert page.by("rostrum_model_calls", "outcome")["key",] == 1
    assert page.by("rostrum_debates_ended", "status", "cause") == {("failed", "model"): 1}


async def test_debates_that_are_live_are_counted_by_status(stage: Stage, line: Running) -> None:
    stage.server.gate.clear()
    await line.start()
    await line.start(community="guild")
    await until(lambda: stage.server.in_flight == 2)
    async with scraping(line.line, line.store) as url:
        page = await scrape(url)
    stage.server.gate.set()
    assert page.by("rostrum_debates", "status") == {("running",): 2}
    assert page.by("rostrum_model_calls_in_flight", "model") == {("ana",): 2}


async def test_waits_for_a_limit_are_counted_with_their_seconds(stage: Stage) -> None:
    stage.server.latency = 0.02
    backend = Backend.of("near", base_url=stage.server.base_url, max_concurrency=1)
    prices = {model.ref: PRICE for model in stage.priced}
    models = open_models({"near": backend}, prices, QUICK)
    async with joined(stage.url, stage.venue, models=models) as (line, store):
        running = Running(line.service, store, line, stage.venue)
        await running.hold()
        page = await scraped(line, store)
    # The jurors and the summary are asked at once, and only one may be answered at a time.
    waits = page.by("rostrum_model_limit_waits", "backend")["near",]
    assert waits >= len(DEFAULTS.jurors) - 1
    seconds = page.by("rostrum_model_limit_wait_seconds", "backend")["near",]
    assert seconds >= 0.02 * waits * 0.9


async def test_votes_are_counted_by_what_became_of_them(database_url: str) -> None:
    venue = AttentiveVenue()
    async with joined(database_url, venue) as (line, store):
        venue.listener = hearing(line.service, venue)
        delivery = line.deliveries["memory"]
        session = Session(line.service, store, venue, delivery, line.reconcile)
        debate_id = await session.start(HALL)
        await session.vote(debate_id, ann="A", bob="A", cem="B")
        debate = (await session.close(debate_id)).debate
        await venue.react("dee", debate.thread or "", debate.vote_message or "", "A")
        page = await scraped(line, store)
    seen = page.by("rostrum_votes", "platform", "question", "how", "outcome")
    about = (venue.platform, "vote", "live")
    assert seen == {(*about, "stored"): 3, (*about, "closed"): 1}


@pytest.mark.postgresql
async def test_a_lost_lease_is_counted_by_its_kind(store: Store, database_url: str) -> None:
    counts = Counts()
    lease_manager = LeaseManager(store, Notifier(), "one", watch=counts)
    renewing = asyncio.create_task(lease_manager.run())

    async def hold() -> None:
        async with lease_manager.hold("debate/x"):
            change(database_url, "UPDATE leases SET until = '2000-01-01 00:00:00+00'")
            assert await store.leases.claim("debate/x", "two", 9)
            await asyncio.sleep(20)

    holding = asyncio.create_task(hold())
    async with asyncio.timeout(HANG_SECONDS):
        while not holding.done():
            lease_manager._notifier.publish("stop")
            await asyncio.sleep(0.01)
    with pytest.raises(LeaseLostError):
        await holding
    renewing.cancel()
    assert +counts.figures.lost == {("debate",): 1}
    await asyncio.wait({renewing})
    await store.leases.claim("debate/y", "one", 9)
    with pytest.raises(LeaseLostError):  # it was never held, so it is not lost
        await lease_manager.hold("debate/y").__aenter__()
    assert +counts.figures.lost == {("debate",): 1}


def test_the_labels_of_models_are_bounded() -> None:
    known = [Model.parse(f"near/set{number}") for number in range(3)]
    counts = Counts(known)
    for number in range(200):
        counts.finished(counts.labels(Model.parse(f"near/given{number}")), Attempt(number=1))
    for model in known:
        counts.finished(counts.labels(model), Attempt(number=1))
    labels = {(backend, model) for backend, model, _ in counts.figures.calls}
    assert {("near", "set0"), ("near", "set2"), ("near", "other")} <= labels
    assert len(labels) == MOST_MODELS + len(known) + 1
    assert counts.labels(Model.parse("rehearsal/oak?latency=3")) == ("rehearsal", "other")


@pytest.mark.slow
async def test_a_scrape_while_debates_are_held_takes_little(stage: Stage, line: Running) -> None:
    stage.server.latency = 0.05
    async with scraping(line.line, line.store) as url, asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(line.hold(community=f"club{number}"))
        taken = []
        for _ in range(SCRAPES):
            began = time.perf_counter()
            await scrape(url)
            taken.append(time.perf_counter() - began)
    assert percentile(taken, 0.5) < 1.0
