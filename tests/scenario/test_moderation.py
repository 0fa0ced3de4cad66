"""A moderation model is asked before a debate starts, and decides nothing while it is away."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial
from typing import Any

import orjson
import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from adapters.models.attempts import CallFault
from adapters.models.moderation import HttpModerator
from bot.app import App
from bot.doctor import run_check
from engine.values.debate import Moderation
from engine.values.errors import ModelError, RostrumError
from tests.doubles.deadlines import deadlines_by_event
from tests.doubles.model_server import Act, ModelServer, hang, status
from tests.scenario.chat_stage import Chat, OnDiscord
from tests.scenario.conftest import QUICK
from tests.scenario.test_suggested_topics import change, community, the_next

HARMFUL = "Only idiots drink coffee"


@pytest.fixture
async def guard(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ModelServer]:
    patient = partial(HttpModerator, policy=QUICK)
    monkeypatch.setattr("adapters.models.moderation.HttpModerator", patient)
    async with ModelServer() as server:
        yield server


def posted(chat: Chat) -> int:
    """Count what the bot posted for all to see."""
    messages = chat.discord.messages() if isinstance(chat, OnDiscord) else chat.slack.messages()
    return len(messages)


async def test_what_is_flagged_is_not_started_and_what_is_away_decides_nothing(
    chat: Chat, guard: ModelServer
) -> None:
    chat.stage.settings["moderation"] = {"model": "guard", "base_url": guard.base_url}
    with capture_logs() as logs:
        async with chat.stage.process() as app:
            await held(chat, guard, app)
    said = str(logs)
    assert "topic flagged" in said
    assert not any(text in said for text in ("idiots", "Cats", "Rain"))


async def held(chat: Chat, guard: ModelServer, app: App) -> None:
    # Flagged in the topic, the conditions, a stance, or a suggestion.
    stances = {"for": "tea", "against": "coffee, you idiots"}
    for given in ({"topic": HARMFUL}, {"conditions": "no-idiots"}):
        assert "flagged this, so nothing was started" in await chat.start(**given)
    if not isinstance(chat, OnDiscord):
        line = " ".join(f'{name}="{text}"' for name, text in stances.items())
        asked = await chat.slack.slash("ada", f'/debate start "Tea" {line}')
        await asked.said("flagged this")
        assert guard.moderated[-1]["input"] == ["Tea", *stances.values()]
    refused = await chat.give("ada", "suggest", topic=HARMFUL)
    assert "flagged this" in refused.text
    # Away: tried again; in the end nothing is started, and nothing is decided.
    guard.script(status(503), status(429, retry_after=0), Act(reset="before"), model="guard")
    for _ in range(3):
        guard.script(status(503), model="guard")
    assert "cannot be reached at the moment" in await chat.start(topic="Tea")
    assert "try again in a minute" in (await chat.give("ada", "suggest", topic="Rain")).text
    guard.script(status(401), model="guard")
    broken = await chat.start(topic="Tea")
    assert "the check does not work" in broken
    assert "ROSTRUM_" not in broken
    assert (posted(chat), guard.requests) == (0, [])
    assert await app.store.listings.recent() == []
    assert await app.store.suggestions.open(chat.title.casefold(), community(chat)) == []
    # What is on the list already waits for a manager once it is flagged.
    await change(chat, "topic_approval", "off")
    await chat.give("ada", "suggest", topic="Cats beat dogs")
    guard.flags = {"animals": "Cats"}
    assert await the_next(app, chat) == "Cats beat dogs"
    assert "flagged this" in await chat.start(topic="random", language="en")
    assert await the_next(app, chat) is None
    assert "rostrum:approve:" in "".join((await chat.give("olga", "topics")).buttons)
    # A failure that passes while it is tried again is not noticed.
    guard.script(status(503), status(503), model="guard")
    await chat.start(topic="Tea is fine")
    (debate,) = await app.store.listings.recent()
    assert debate.setup.moderation == Moderation(model="guard", flagged=False)


MISTRAL = {"results": [{"categories": {"sexual": False, "law": True}}]}


@pytest.mark.each_case
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"results": [{"flagged": False}]}, Moderation(model="guard", flagged=False)),
        (MISTRAL, Moderation(model="guard", flagged=True, categories=("law",))),
        ({"results": []}, None),
        ({"results": [{"scores": 1}]}, None),
        ({"choices": []}, None),
        ([], None),
    ],
)
async def test_answers_of_other_endpoints_are_read_or_decide_nothing(
    guard: ModelServer, answer: Any, expected: Moderation | None
) -> None:
    guard.script(Act(body=orjson.dumps(answer)), model="guard")
    key = SecretStr("sk-guard-0123456789")
    async with aclosing(HttpModerator("guard", guard.base_url, key, policy=QUICK)) as moderator:
        said = await moderator.ask(["Tea", "No milk"])
    if expected is None:
        assert isinstance(said, CallFault)
    else:
        assert said == expected
    assert guard.moderated == [{"model": "guard", "input": ["Tea", "No milk"]}]


async def test_an_endpoint_that_hangs_is_given_up(guard: ModelServer) -> None:
    guard.script(*[hang()] * 3, model="guard")
    async with aclosing(HttpModerator("guard", guard.base_url, policy=QUICK)) as moderator:
        with deadlines_by_event(), pytest.raises(ModelError) as caught:
            await moderator.check(["Tea"])
    assert caught.value.passing


async def test_check_tries_it(
    guard: ModelServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROSTRUM_MODERATION__MODEL", "guard")
    monkeypatch.setenv("ROSTRUM_MODERATION__BASE_URL", guard.base_url)
    await run_check()
    assert "ok    moderation: guard answers" in capsys.readouterr().out
    guard.script(status(401), model="guard")
    with pytest.raises(RostrumError):
        await run_check()
    assert "FAIL  moderation: refused the key (401); check ROSTRUM_MODERATION__" in (
        capsys.readouterr().out
    )
