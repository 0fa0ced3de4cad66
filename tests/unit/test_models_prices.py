"""Prices: whose word counts, what a free call costs that is broken off, and nothing guessed."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from adapters.models import prices
from adapters.models.backends import PRESETS, Backend
from adapters.models.bundled import bundled_price
from adapters.models.connection import ConnectionPool
from adapters.models.prices import PriceBook
from engine.store import Store
from engine.values.debate import Model, Origin, Price, Tier
from engine.values.ports import Attempt
from tests.doubles import model_server as acts
from tests.doubles.command import printed_by
from tests.doubles.model_server import ModelServer
from tests.kit import RecordedAttempts, make_call, make_start, run
from tests.unit.test_models_client import call_of, opened

OPENAI, GEMINI = PRESETS["openai"].base_url, PRESETS["gemini"].base_url
FREE = Price(usd_in=0, usd_out=0, origin=Origin.BACKEND)
WINTER = datetime(2026, 11, 22, 3, tzinfo=UTC)


def backend(base_url: str = OPENAI, preset: str | None = "openai") -> Backend:
    return Backend.of("online", preset=preset, base_url=base_url, api_key=SecretStr("k"))


async def price_of(
    name: str, given: Backend, table: dict[str, Price] | None = None
) -> Price | None:
    connection = ConnectionPool(4)
    try:
        return await PriceBook(table or {}, connection).price(Model.parse(f"online/{name}"), given)
    finally:
        await connection.aclose()


# --- a free model's call that is broken off ----------------------------------------------


@pytest.mark.parametrize("price", [FREE, None], ids=["free", "unknown"])
async def test_a_free_models_interrupted_call_costs_nothing(price: Price | None) -> None:
    async with ModelServer() as server:
        server.always(acts.hang())
        log = RecordedAttempts()
        async with opened(server) as models:
            asked = asyncio.create_task(models.complete(call_of(price=price), log))
            while not server.in_flight:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
    assert log.errors == ["cancelled"]
    assert log.costs == [None if price is None else 0.0]


async def test_a_free_models_broken_answer_costs_nothing() -> None:
    async with ModelServer() as server:
        server.script(acts.garbage(), acts.reset(), acts.says("yes", usage=False))
        log = RecordedAttempts()
        async with opened(server) as models:
            await models.complete(call_of(price=FREE), log)
    assert log.costs == [0.0, 0.0, 0.0]
    assert {attempt.origin for attempt in log.attempts} <= {Origin.BACKEND, None}


async def test_a_free_call_that_a_crash_cut_off_costs_nothing(store: Store) -> None:
    r = await run(store)
    free = make_start(r.id)._replace(cost_max=0.0, cost=0.0, origin=Origin.LOCAL)
    await store.journal.began(r.lease, free, make_call(r.id))
    assert await store.journal.spending(r.id) == (1, 0.0)
    again = free._replace(number=2)
    await store.journal.began(r.lease, again, make_call(r.id))
    await store.journal.ended(r.lease, again, Attempt(number=2, cost=0.0), None)
    assert await store.journal.spending(r.id) == (2, 0.0)
    assert await store.journal.cost_origins(r.id) == {"local": 2}


async def test_the_origin_of_a_cost_is_stored_with_its_call(store: Store) -> None:
    r = await run(store)
    starts = [make_start(r.id, f"turn/{n}/A")._replace(origin=Origin.BUNDLED) for n in range(2)]
    for start, origin in zip(starts, (None, Origin.REPLY), strict=True):
        await store.journal.began(r.lease, start, make_call(r.id, start.step))
        ended = Attempt(number=1, cost=0.5, origin=origin)
        await store.journal.ended(r.lease, start, ended, None)
    assert await store.journal.cost_origins(r.id) == {"bundled": 1, "reply": 1}


# --- whose word counts --------------------------------------------------------------------


async def test_what_a_reply_states_was_billed() -> None:
    async with ModelServer() as server:
        server.script(acts.says("yes", usage_extra={"cost": 0.00125}), acts.says("yes"))
        log = RecordedAttempts()
        async with opened(server, prices={"m": Price(usd_in=1, usd_out=1)}) as models:
            for _ in range(2):
                await models.complete(call_of(), log)
    assert [attempt.origin for attempt in log.attempts] == [Origin.REPLY, Origin.SETTINGS]


async def test_settings_override_every_list_and_a_backends_own_list_the_bundled_one() -> None:
    mine = {"online/gpt-5-mini": Price(usd_in=7, usd_out=7)}
    for table, origin in ((mine, Origin.SETTINGS), ({}, Origin.BUNDLED)):
        found = await price_of("gpt-5-mini", backend(), table)
        assert found is not None
        assert (found.origin, found.usd_in) == (origin, 7 if table else 0.25)
    async with ModelServer() as server:
        server.models = [{"id": "m", "pricing": {"prompt": "0.000002", "completion": "0"}}]
        listed = await price_of("m", backend(server.base_url, None))
    assert listed is not None
    assert listed.origin is Origin.BACKEND
    assert listed.usd_in == pytest.approx(2)
    local = await price_of("gpt-5-mini", Backend.of("online", preset="ollama"))
    assert local == Price(usd_in=0, usd_out=0, origin=Origin.LOCAL)


# --- the bundled list ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        (OPENAI, "gpt-5-mini"),
        (OPENAI, "gpt-5-mini-2025-08-07"),
        (PRESETS["anthropic"].base_url, "claude-sonnet-4-5"),
        (PRESETS["anthropic"].base_url, "claude-sonnet-4-5-20250929"),
        (GEMINI, "gemini-2.5-flash"),
        (GEMINI, "models/gemini-2.5-pro"),
        (PRESETS["deepseek"].base_url, "deepseek-chat"),
        (PRESETS["zhipu"].base_url, "GLM-5.3"),
        ("https://api.mistral.ai/v1", "mistral-large-latest"),
    ],
)
def test_a_known_providers_model_has_a_bundled_price(base_url: str, name: str) -> None:
    price = bundled_price(base_url, name, WINTER)
    assert price is not None
    assert price.origin is Origin.BUNDLED
    assert price.usd_in > 0
    assert price.usd_out > 0


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://gateway.example/v1", "gpt-5-mini"),
        ("https://api.openai.com.gateway.example/v1", "gpt-5-mini"),
        ("https://gateway.example/x.googleapis.com/", "gemini-2.5-pro"),
        ("http://api.openai.com/v1", "gpt-5-mini"),
        ("https://api.openai.com:8443/v1", "gpt-5-mini"),
        (OPENAI, "gpt-5-mini-turbo-xl"),
        (OPENAI, "claude-sonnet-4-5"),
        (GEMINI, "gemini-2.5-pro-of-tomorrow"),
        ("https://api.perplexity.ai", "sonar"),  # billed by request as well
    ],
)
def test_nothing_is_guessed_of_a_gateway_or_of_a_model_that_is_only_alike(
    base_url: str, name: str
) -> None:
    assert bundled_price(base_url, name, WINTER) is None


def test_a_price_that_changes_by_the_hour_counts_at_its_highest() -> None:
    at = [
        bundled_price(PRESETS["deepseek"].base_url, "deepseek-chat", WINTER.replace(hour=h))
        for h in (3, 20)
    ]
    assert at[0] == at[1]
    assert at[0] is not None
    assert (at[0].usd_in, at[0].usd_out) == (0.27, 1.1)


def test_a_long_prompt_pays_its_tier_and_a_short_one_does_not() -> None:
    price = bundled_price(GEMINI, "gemini-2.5-pro", WINTER)
    assert price is not None
    assert price.cost(200_000, 1000) == pytest.approx(0.25 + 0.01)
    assert price.cost(200_001, 1000) == pytest.approx(0.5 + 0.015, rel=1e-4)
    # Together they are longer than the tier, and none of them is.
    assert price.cost(400_000, 2000, longest=100_000) == pytest.approx(0.5 + 0.02)


def test_a_bundled_price_of_cached_tokens_is_its_highest_and_only_where_there_is_a_cache() -> None:
    chat = bundled_price(PRESETS["deepseek"].base_url, "deepseek-chat", WINTER)
    claude = bundled_price(PRESETS["anthropic"].base_url, "claude-sonnet-4-5", WINTER)
    assert chat is not None
    assert chat.usd_cached == 0.07
    assert claude is not None
    assert claude.usd_cached is None  # its OpenAI-compatible endpoint caches nothing


def test_a_tier_never_makes_a_call_cheaper_and_is_no_free_price() -> None:
    price = Price(usd_in=2, usd_out=2, tiers=(Tier(above=10, usd_in=1, usd_out=3),))
    assert price.cost(1_000_000, 0) == 2
    assert not Price(usd_in=0, usd_out=0, tiers=price.tiers).free
    assert FREE.free


async def test_a_models_bundled_price_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []

    def look_up(base_url: str, name: str) -> Price | None:
        looked_up.append(name)
        return bundled_price(base_url, name)

    monkeypatch.setattr(prices, "bundled_price", look_up)
    book = PriceBook({}, ConnectionPool(4))
    for name in ("gpt-5-mini", "unheard-of", "gpt-5-mini", "unheard-of"):
        found = await book.price(Model.parse(f"online/{name}"), backend())
        assert (found is None) == (name == "unheard-of")
    assert looked_up == ["gpt-5-mini", "unheard-of"]


def test_the_bundled_list_is_read_without_a_network_or_a_thread() -> None:
    code = (
        "import socket, threading\n"
        "def refuse(*a, **k): raise SystemExit('it connects')\n"
        "socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse\n"
        "from adapters.models.bundled import bundled_price\n"
        f"print(bundled_price({OPENAI!r}, 'gpt-5-mini').usd_in, threading.active_count())"
    )
    assert printed_by(code).split() == ["0.25", "1"]
