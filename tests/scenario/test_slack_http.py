"""HTTP mode on Slack: what is not Slack's is refused, without a word of why to whoever sent it."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator

import aiohttp
import pytest

from bot.platforms import open_platforms
from bot.settings import Settings
from engine.errors import SettingsError
from tests.doubles.slack import Rules, SlackServer
from tests.scenario.slack_stage import SlackStage, counted, voting

BODY = json.dumps({"type": "url_verification", "challenge": "c1"}).encode()


@pytest.fixture
async def stage(database_url: str) -> AsyncIterator[SlackStage]:
    async with SlackServer(rules=Rules(tiered=False, spaced=False)) as slack:
        yield SlackStage(database_url, slack, http=True)


async def send(slack: SlackServer, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            slack.deliveries.request_url,
            data=io.BytesIO(body),
            headers={"Content-Type": "application/json"} | headers,
        ) as response,
    ):
        return response.status, await response.text()


async def test_only_slacks_own_requests_are_taken(
    stage: SlackStage, caplog: pytest.LogCaptureFixture
) -> None:
    slack = stage.slack
    signed = slack.deliveries.sign
    old = signed(BODY, str(int(slack.clock.now()) - 301))
    words = signed(BODY) | {"X-Slack-Request-Timestamp": "yesterday"}
    secret = b'{"type": "event_callback", "secret": "not-to-be-logged"}'
    async with stage.process():
        assert await send(slack, BODY, signed(BODY)) == (200, '{"challenge": "c1"}')
        refused = [
            await send(slack, secret, headers)
            for headers in (
                {},
                signed(BODY),
                old,
                words,
                words | {"X-Slack-Request-Timestamp": "9" * 400},
                {"X-Slack-Request-Timestamp": "٣"},
                signed(secret) | {"X-Slack-Signature": "v0=00"},
            )
        ]
        assert refused == [(401, "")] * len(refused)
        large = b"x" * (2**20 + 1)
        assert (await send(slack, large, signed(large))) == (413, "")
        for garbage in (b"{not json", b"\xff\xfe"):
            assert (await send(slack, garbage, signed(garbage))) == (400, "")
    assert "not-to-be-logged" not in caplog.text


async def test_votes_come_over_http_too(stage: SlackStage) -> None:
    async with stage.process() as app:
        ballot = await stage.vote()
        await voting(app)
        await stage.slack.react("ben", ballot.ts, "b")
        await stage.slack.deliveries.heard()
        await stage.slack.deliveries.repeat(1, retry=2)
        assert counted(await stage.close())["B"] == 1


async def test_a_port_in_use_is_said_at_start(stage: SlackStage) -> None:
    async with stage.process():
        port = int(stage.slack.deliveries.request_url.split(":")[2].split("/")[0])
        slack = {
            "bot_token": stage.slack.bot_token,
            "signing_secret": stage.slack.signing_secret,
            "mode": "http",
            "port": port,
            "api_url": stage.slack.api_url,
        }
        (second,) = open_platforms(Settings.model_validate({"slack": slack}))
        other = SlackStage(stage.url + "2", stage.slack, http=True)
        with pytest.raises(SettingsError, match="set ROSTRUM_SLACK__PORT to a free port"):
            async with other.joined(second):
                raise AssertionError("it started")
