"""What whoever runs Rostrum on Slack sees: the check, the manifest, and what is refused."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

from adapters.slack.checkup import Checked, check
from adapters.slack.manifest import SCOPES
from adapters.slack.rest import Rest
from bot import cli
from bot.platforms import open_platforms
from bot.settings import Settings
from engine.errors import SettingsError
from tests.doubles.slack import SlackServer, status


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer() as server:
        yield server


async def look(
    slack: SlackServer, *, bot: str | None = None, app: str | None = None, secret: str | None = None
) -> dict[str, Checked]:
    rest = Rest(SecretStr(bot or slack.bot_token), slack.api_url)
    app_token = SecretStr(app or slack.app_token)
    try:
        found = check(rest, app_token, SecretStr(secret or slack.signing_secret))
        return {checked.subject: checked async for checked in found}
    finally:
        await rest.close()


async def test_everything_right_is_said_to_be(slack: SlackServer) -> None:
    found = await look(slack)
    assert all(checked.good for checked in found.values())
    assert "in Hall" in found["slack"].text
    assert "#debates" in found["slack channels"].text


async def test_each_failure_says_what_to_do(slack: SlackServer) -> None:
    slack.rules.scopes = tuple(scope for scope in SCOPES if scope != "reactions:read")
    slack.kick_bot()
    found = await look(slack, app="xapp-wrong", secret="short")
    failed = {name: checked.text for name, checked in found.items() if checked.good is False}
    assert failed.keys() == {"slack scopes", "slack app token", "slack signing secret"}
    assert "reactions:read (votes)" in failed["slack scopes"]
    assert "connections:write" in failed["slack app token"]
    assert "Basic Information" in failed["slack signing secret"]
    assert "/invite" in found["slack channels"].text


async def test_a_wrong_token_or_an_absent_slack_is_one_line(slack: SlackServer) -> None:
    (wrong,) = (await look(slack, bot="xoxb-wrong")).values()
    assert wrong.good is False
    assert "ROSTRUM_SLACK__BOT_TOKEN" in wrong.text
    slack.fail(status(503), "auth.test")
    (away,) = (await look(slack)).values()
    assert "status 503" in away.text


@pytest.mark.parametrize("mode", ["socket", "http"])
def test_the_manifest_is_printed_for_the_mode_that_is_set(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSTRUM_SLACK__MODE", mode)
    asked = ["invite", "--slack", "--name", "Agora", "--url", "https://agora.example.com"]
    printed = CliRunner().invoke(cli.app, asked)
    assert printed.exit_code == 0
    made = json.loads(printed.stdout)
    assert made["features"]["bot_user"]["display_name"] == "Agora"
    assert ("https://agora.example.com/slack/events" in printed.stdout) == (mode == "http")


def test_nothing_set_says_what_to_set() -> None:
    with pytest.raises(SettingsError, match="ROSTRUM_SLACK__BOT_TOKEN"):
        open_platforms(Settings())


def test_installing_by_oauth_alone_is_refused_in_a_sentence() -> None:
    slack = {
        "client_id": "1.2",
        "client_secret": "s",
        "app_token": "xapp-1",
    }
    settings = Settings.model_validate({"slack": slack, "secret_key": "k" * 44})
    with pytest.raises(SettingsError, match="one workspace"):
        open_platforms(settings)
