"""HTTP mode on Slack: what is not Slack's is refused, without a word of why to whoever sent it."""

import asyncio
import io
import json
from urllib.parse import urlencode

import aiohttp
import pytest
from structlog.testing import capture_logs

from adapters.slack import client
from bot.serve.platforms import open_platforms
from bot.serve.run import serving
from bot.settings.settings import Settings
from engine.values.errors import SettingsError
from tests.doubles.databases import is_file
from tests.doubles.slack import SlackServer
from tests.doubles.slack.state import TEAM
from tests.kit import until
from tests.scenario.discord_stage import free_port
from tests.scenario.slack_stage import SlackStage, counted

STAMP = "X-Slack-Request-Timestamp"
BODY = json.dumps({"type": "url_verification", "challenge": "c1"}).encode()
CHALLENGED = (200, '{"challenge": "c1"}')
SECRET = b'{"type": "event_callback", "secret": "not-to-be-logged"}'


@pytest.fixture
def stage(on_slack: SlackStage) -> SlackStage:
    on_slack.http = True
    return on_slack


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
    old = signed(SECRET, str(int(slack.clock.now()) - 301))
    words = signed(SECRET) | {STAMP: "yesterday"}
    async with stage.process():
        assert await send(slack, BODY, signed(BODY)) == CHALLENGED
        with capture_logs() as logs:
            refused = [
                await send(slack, SECRET, headers)
                for headers in (
                    {},
                    {STAMP: signed(SECRET)[STAMP]},
                    signed(BODY),
                    old,
                    words,
                    words | {STAMP: "9" * 400},
                    {STAMP: "٣"},
                    {STAMP: "-1"},
                    signed(SECRET) | {"X-Slack-Signature": "v0=00"},
                    signed(SECRET) | {"X-Slack-Signature": "v0=\u0663"},
                    signed(SECRET) | {"X-Slack-Signature": "\xff"},
                )
            ]
        assert refused == [(401, "")] * len(refused)
    said = [(log["status"], log["log_level"]) for log in logs if log["event"] == "request refused"]
    assert said == [(401, "warning")] * len(refused)
    assert "not-to-be-logged" not in f"{logs}{caplog.text}"


async def test_a_start_says_that_events_arrive_and_where(stage: SlackStage) -> None:
    """A person at a terminal could not tell whether the bot was online."""
    with capture_logs() as logs:
        async with stage.process():
            (online,) = await until(
                lambda: [log for log in logs if log["event"] == "slack connected"]
            )
    assert online["via"] in stage.slack.deliveries.request_url
    assert (online["bot"], online["workspace"]) == ("rostrum", "Hall")


UNREADABLE = {
    "large": (SECRET + b" " * 2**20, False, 413),
    "large own": (SECRET + b" " * 2**20, True, 413),
    "bytes": (b"\xff\xfe not-to-be-logged", False, 400),
    "cut own": (b"{not-to-be-logged", True, 400),
    "form own": (b"payload=not-to-be-logged", True, 400),
    "cut": (b"{not-to-be-logged", False, 401),
    "list": (b'["not-to-be-logged"]', False, 401),
    "deep": (b'{"not-to-be-logged":' * 40_000, False, 401),
    "list own": (b'["not-to-be-logged"]', True, 400),
    "deep own": (b'{"not-to-be-logged":' * 40_000, True, 400),
    "event own": (b'{"type": "event_callback", "event": ["not-to-be-logged"]}', True, 400),
    "press own": (b'{"type": "block_actions", "actions": "not-to-be-logged"}', True, 400),
}


@pytest.mark.parametrize(("body", "slacks_own", "status"), UNREADABLE.values(), ids=UNREADABLE)
async def test_a_body_that_cannot_be_read_is_refused_and_not_logged(
    stage: SlackStage, caplog: pytest.LogCaptureFixture, body: bytes, slacks_own: bool, status: int
) -> None:
    headers = stage.slack.deliveries.sign(body if slacks_own else BODY)
    async with stage.process():
        with capture_logs() as logs:
            assert await send(stage.slack, body, headers) == (status, "")
        assert [log["status"] for log in logs if log["event"] == "request refused"] == [status]
        assert "not-to-be-logged" not in f"{logs}{caplog.text}"
        assert await send(stage.slack, BODY, stage.slack.deliveries.sign(BODY)) == CHALLENGED


async def test_whoever_calls_learns_nothing_of_a_defect(
    stage: SlackStage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defect(_: str) -> str:
        raise KeyError("not-to-be-logged")

    monkeypatch.setattr(client, "reaction_of", defect)
    slack = stage.slack
    item = {"type": "message", "channel": "C1", "ts": "1.2"}
    named = {"type": "reaction_added", "reaction": "large_blue_circle", "user": "not-to-be-logged"}
    event: dict[str, object] = named | {"item": item, "event_ts": "1.2"}
    told = {
        "type": "event_callback",
        "team_id": "T0HALL",
        "event_id": "E1",
        "event_time": 1,
        "event": event,
    }
    body = json.dumps(told).encode()
    async with stage.process():
        with capture_logs() as logs:
            status, said = await send(slack, body, slack.deliveries.sign(body))
    assert status == 500
    assert "Traceback" not in said
    assert "KeyError" not in said
    errors = [log["event"] for log in logs if log["log_level"] == "error"]
    assert errors == ["unhandled error in an event"]
    assert "not-to-be-logged" not in f"{logs}{caplog.text}"


def at(stage: SlackStage, port: int) -> dict[str, object]:
    """Return the settings of a process that takes requests at a port."""
    taken = {"bot_token": stage.slack.bot_token, "signing_secret": stage.slack.signing_secret}
    return {**taken, "mode": "http", "port": port, "api_url": stage.slack.api_url}


async def test_requests_are_taken_on_loopback_unless_told_otherwise(stage: SlackStage) -> None:
    port = free_port()
    settings = Settings.model_validate({"slack": at(stage, port), "database_url": stage.url})
    (platform,) = open_platforms(settings)
    async with serving(settings, platform):
        await until(platform.is_connected)
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        with pytest.raises(OSError, match=r"refused|Connect call failed"):
            await asyncio.open_connection("127.0.0.2", port)  # only who listens everywhere answers


async def test_votes_come_over_http_too(stage: SlackStage) -> None:
    async with stage.at_vote() as (_, ballot, _):
        await stage.slack.react("ben", ballot.ts, "red_circle")
        await stage.slack.deliveries.heard()
        await stage.slack.deliveries.repeat(1, retry=2)
        assert counted(await stage.close())["B"] == 1


async def test_a_port_in_use_is_said_at_start(stage: SlackStage) -> None:
    async with stage.process():
        port = int(stage.slack.deliveries.request_url.split(":")[2].split("/")[0])
        (second,) = open_platforms(Settings.model_validate({"slack": at(stage, port)}))
        url = f"{stage.url}2" if is_file(stage.url) else stage.url  # a file is one process's
        other = SlackStage(url, stage.slack, http=True)
        with pytest.raises(SettingsError, match="set ROSTRUM_SLACK__PORT to a free port"):
            async with other.joined(second):
                raise AssertionError("it started")


async def test_a_command_that_is_sent_again_as_it_was_runs_once(stage: SlackStage) -> None:
    deliveries = stage.slack.deliveries
    form = {
        "command": "/debate",
        "text": '"Tea beats coffee"',
        "team_id": TEAM,
        "channel_id": stage.slack.channel.id,
        "user_id": stage.slack.users["ada"].id,
        "response_url": "http://127.0.0.1:1/",
        "trigger_id": "1",
    }
    body = urlencode(form).encode()
    headers = deliveries.sign(body) | {"Content-Type": "application/x-www-form-urlencoded"}
    async with stage.process():
        assert (await send(stage.slack, body, headers))[0] == 200
        assert await send(stage.slack, body, headers) == (409, "")
        # Slack repeats an event within a second where the first was not answered.
        for _ in range(2):
            assert await send(stage.slack, BODY, deliveries.sign(BODY)) == CHALLENGED
