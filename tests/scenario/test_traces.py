"""Traces of debates, as an OpenTelemetry collector receives them."""

import asyncio
import logging
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from ulid import ULID

from adapters.models.backends import Backend
from adapters.models.router import open_models
from bot.serve.health import open_counts
from bot.settings.settings import STOP_SECONDS, Settings
from engine.values.debate import Status
from engine.values.errors import SettingsError
from tests.doubles.collector import Collector
from tests.doubles.hall import joined
from tests.doubles.model_server import status
from tests.kit import until
from tests.scenario.conftest import PRICE, QUICK, TOPIC, Running, Stage
from tests.scenario.discord_stage import free_port

USER = "ana-of-the-platform"


@pytest.fixture
async def collector(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Collector]:
    """Offer a collector that the standard variables name."""
    async with Collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint)
        yield collector


@asynccontextmanager
async def traced(stage: Stage) -> AsyncIterator[Running]:
    """Run a process with traces until the body ends; then all are exported."""
    backend = Backend.of("near", base_url=stage.server.base_url)
    prices = {model.ref: PRICE for model in stage.priced}
    counts = open_counts(Settings(traces=True))
    models = open_models({"near": backend}, prices, QUICK)
    async with joined(stage.url, stage.venue, models=models, counts=counts) as (line, store):
        yield Running(line.service, store, line, stage.venue)
    await counts.aclose()


def trace_of(debate_id: str) -> str:
    return ULID.from_str(debate_id).bytes.hex()


async def test_a_debate_has_its_steps_and_they_have_their_tries(
    stage: Stage, collector: Collector
) -> None:
    stage.server.script(status(503), model="ben")
    async with traced(stage) as line:
        debate = await line.hold(user=USER)
        _, usd = await line.store.journal.spending(debate.id)
    assert {span.trace for span in collector.spans} == {trace_of(debate.id)}
    [root] = collector.named("debate")
    assert (root.parent, root.failed) == ("", False)
    assert root.attributes == {
        "rostrum.debate.id": debate.id,
        "rostrum.debate.format": "classic",
        "rostrum.debate.language": "en",
        "rostrum.debate.resumed": False,
        "rostrum.attempts": len(stage.server.requests),
        "rostrum.cost_usd": pytest.approx(usd),
        "rostrum.outcome": "ok",
    }
    steps = {span.id: span for span in collector.spans if span.parent == root.id}
    tries = [span for span in collector.spans if span.parent in steps]
    assert len(collector.spans) == 1 + len(steps) + len(tries)
    assert len(tries) == len(stage.server.requests)
    async with stage.process() as line:
        record = await line.record(debate.id)
    assert {span.attributes["rostrum.step"] for span in steps.values()} == {
        call.step for call in record.calls
    }
    for one in tries:
        step = steps[one.parent]
        assert root.began <= step.began <= one.began <= one.ended <= step.ended <= root.ended
        assert one.name == f"chat {one.attributes['gen_ai.request.model']}"
        assert one.attributes["gen_ai.provider.name"] == "near"


async def test_tries_say_what_they_took_and_how_they_failed(
    stage: Stage, collector: Collector
) -> None:
    stage.server.script(status(503), model="ben")
    async with traced(stage) as line:
        debate = await line.hold()
        _, usd = await line.store.journal.spending(debate.id)
    tries = [span for span in collector.spans if span.name.startswith("chat ")]
    [failed] = [span for span in tries if span.failed]
    assert failed.attributes["error.type"] == "overloaded"
    assert (failed.attributes["rostrum.outcome"], failed.name) == ("overloaded", "chat ben")
    told = [span.attributes for span in tries if not span.failed]
    stated = stage.server.stated
    for kind, name in (("prompt", "input"), ("completion", "output")):
        sent = sum(one[f"{kind}_tokens"] for one in stated)
        assert sum(one[f"gen_ai.usage.{name}_tokens"] for one in told) == sent
    spent = sum(one.attributes["rostrum.cost_usd"] for one in tries)
    assert spent == pytest.approx(usd)
    assert {one["gen_ai.response.finish_reasons"][0] for one in told} == {"stop"}
    again = [span for span in tries if span.attributes["rostrum.attempt"] == 2]
    assert [span.parent for span in again] == [failed.parent]


async def test_no_text_no_error_and_no_person_is_in_a_span_of_a_debate_that_fails(
    stage: Stage, collector: Collector
) -> None:
    stage.server.script(status(503, message="canary in an error"), model="ben")
    stage.server.script(status(401, message="canary too"), model="ana", said=2)
    async with traced(stage) as line:
        debate = await line.hold(user=USER, topic=TOPIC, conditions="canary of the conditions")
    assert debate.status is Status.FAILED
    sent = b"".join(collector.bodies)
    assert b"gen_ai.request.model" in sent
    for text in (USER, TOPIC, "Speech", "canary", "lobby", "club"):
        assert text.encode() not in sent, text
    [root] = collector.named("debate")
    assert root.failed
    assert root.attributes["error.type"] == root.attributes["rostrum.outcome"] == "ModelError"


async def test_a_resumed_debate_goes_on_in_the_same_trace(
    stage: Stage, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.exits.END_SECONDS", STOP_SECONDS - 0.05)
    async with traced(stage) as line:
        started = await line.start()
        await until(lambda: stage.server.answered >= 3)
        stage.server.gate.clear()
        await asyncio.sleep(0)
    stage.server.gate.set()
    async with traced(stage) as line:
        await line.line.reconcile()
        await line.ended(started.debate.id)
    first, then = collector.named("debate")
    assert first.trace == then.trace == trace_of(started.debate.id)
    assert first.id != then.id
    resumed = [one.attributes["rostrum.debate.resumed"] for one in (first, then)]
    assert resumed == [False, True]
    assert {span.trace for span in collector.spans} == {first.trace}


@pytest.mark.slow
async def test_a_collector_that_is_away_delays_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
    with caplog.at_level(logging.WARNING):
        async with traced(stage) as line:
            debate = await line.hold()
            ended = time.monotonic()
        assert time.monotonic() - ended < 4
    assert debate.status is Status.CLOSED
    assert len([one for one in caplog.records if one.name.startswith("opentelemetry")]) <= 1


async def test_the_standard_variables_choose_what_is_sent_and_how(
    stage: Stage, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "agora")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-of=club")
    async with traced(stage) as line:
        await line.hold()
    assert collector.resources[0]["service.name"] == "agora"
    assert collector.resources[0]["service.version"]
    assert collector.headers[0]["x-of"] == "club"
    known = len(collector.spans)
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    async with traced(stage) as line:
        await line.hold()
    assert len(collector.spans) == known


def test_a_variable_that_opentelemetry_refuses_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "-1")
    with pytest.raises(SettingsError, match=r"^Traces cannot be set up: .*OTEL_\.$"):
        open_counts(Settings(traces=True))


def test_without_the_extra_it_says_so_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "adapters.traces", raising=False)
    for name in [name for name in sys.modules if name.startswith("opentelemetry")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(SettingsError, match=r"pip install .*, or set ROSTRUM_TRACES=off"):
        open_counts(Settings(traces=True))
    open_counts(Settings())
