"""What whoever runs Rostrum on Slack sees: the check, the manifest, and what is refused."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
import typer
from pydantic import SecretStr
from typer.testing import CliRunner

from adapters import Finding
from adapters.database.database import SqlDatabase
from adapters.slack.checkup import check_app, check_bot, check_installs
from adapters.slack.install import SCOPES, Credentials
from adapters.slack.rest import SlackRest
from bot import cli
from bot.doctor import run_check
from bot.exits import FAILED, fail
from bot.operations.control import disconnect_community
from bot.serve.platforms import open_platforms
from bot.settings.settings import Settings
from engine.store import Store
from engine.store.installs import Install
from engine.values.errors import NotFoundError, RostrumError, SettingsError
from tests.doubles.slack import SlackServer, status
from tests.doubles.slack.web_api import CLIENT_ID, CLIENT_SECRET

OAUTH = {
    "ROSTRUM_SECRET_KEY": "a-new-key-of-the-operator",
    "ROSTRUM_SLACK__APP_TOKEN": "xapp-1",
    "ROSTRUM_SLACK__CLIENT_ID": CLIENT_ID,
    "ROSTRUM_SLACK__CLIENT_SECRET": CLIENT_SECRET,
    "ROSTRUM_SLACK__PUBLIC_URL": "https://agora.example.com/",
}


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer() as server:
        yield server


async def look(
    slack: SlackServer, *, bot: str | None = None, app: str | None = None, secret: str | None = None
) -> dict[str, Finding]:
    rest = SlackRest(SecretStr(bot or slack.bot_token), slack.api_url)
    app_token = SecretStr(app or slack.app_token)
    try:
        found = {checked.subject: checked async for checked in check_bot(rest)}
        of_app = check_app(rest, app_token, SecretStr(secret or slack.signing_secret))
        return found | {checked.subject: checked async for checked in of_app}
    finally:
        await rest.close()


async def test_everything_right_is_said_to_be_and_each_failure_says_what_to_do(
    slack: SlackServer,
) -> None:
    found = await look(slack)
    assert all(checked.good for checked in found.values())
    assert "in Hall" in found["slack"].text
    assert "#debates" in found["slack channels"].text
    slack.rules.scopes = tuple(scope for scope in SCOPES if scope != "reactions:read")
    slack.kick_bot()
    found = await look(slack, app="xapp-wrong", secret="short")
    failed = {name: checked.text for name, checked in found.items() if checked.good is False}
    assert failed.keys() == {"slack scopes", "slack app token", "slack signing secret"}
    assert "reactions:read (votes)" in failed["slack scopes"]
    assert "connections:write" in failed["slack app token"]
    assert "Basic Information" in failed["slack signing secret"]
    assert "/invite" in found["slack channels"].text
    wrong = (await look(slack, bot="xoxb-wrong"))["slack"]
    assert wrong.good is False
    assert "ROSTRUM_SLACK__BOT_TOKEN" in wrong.text
    slack.fail(status(503), "auth.test")
    assert "status 503" in (await look(slack))["slack"].text


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


def test_the_manifest_of_an_app_to_install_says_where_slack_sends_people_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in OAUTH.items():
        monkeypatch.setenv(name, value)
    printed = CliRunner().invoke(cli.app, ["invite", "--slack"])
    made = json.loads(printed.stdout)
    assert made["settings"]["socket_mode_enabled"]
    assert made["oauth_config"]["redirect_urls"] == [
        "https://agora.example.com/slack/oauth_redirect"
    ]


async def test_every_workspace_that_installed_it_is_looked_at(slack: SlackServer) -> None:
    slack.add_team("bay")
    app = SlackRest(None, slack.api_url)
    given = [install_of(slack.bot_token, "Hall"), install_of("xoxb-revoked", "Bay")]
    credentials = Credentials(CLIENT_ID, SecretStr(CLIENT_SECRET))
    wrong = Credentials(CLIENT_ID, SecretStr("wrong"))
    try:
        found = {checked.subject: checked async for checked in check_installs(app, given)}
        (right,) = [c async for c in check_app(app, None, None, credentials)]
        (refused,) = [c async for c in check_app(app, None, None, wrong)]
        (nobody,) = [c async for c in check_installs(app, [])]
    finally:
        await app.close()
    assert found["slack Hall (T0HALL)"].good
    assert found["slack Hall (T0HALL) scopes"].good
    assert found["slack Bay (T0BAY)"].good is False
    assert (right.good, refused.good, nobody.good) == (True, False, None)
    assert "bad client secret" in refused.text
    assert "/slack/install" in nobody.text


def install_of(token: str, name: str) -> Install:
    return Install(
        platform="slack",
        community=f"T0{name.upper()}",
        name=name,
        account="U0ROSTRUM",
        token=SecretStr(token),
        installed_at=datetime.now(UTC),
    )


async def test_the_check_and_disconnecting_read_what_is_stored(
    slack: SlackServer,
    database: SqlDatabase,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    keyed = Store(database, ["an-old-key-of-the-operator"])
    hall = install_of(slack.bot_token, "Hall").model_copy(update={"name": "Hall\x1b[2J\nok"})
    await keyed.installs.keep(hall)
    given = {"ROSTRUM_DATABASE_URL": database_url, "ROSTRUM_SLACK__API_URL": slack.api_url}
    for name, value in (OAUTH | given).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RostrumError):
        await run_check()
    shown = capsys.readouterr().out
    assert "ROSTRUM_SECRET_KEY does not open" in shown
    assert "rostrum disconnect" in shown
    assert "Hall[2J ok (slack T0HALL)" in shown
    await disconnect_community("slack", "T0HALL")
    assert await keyed.installs.every("slack") == []
    with pytest.raises(NotFoundError):
        await disconnect_community("slack", "T0HALL")


@pytest.mark.parametrize("address", ["ftp://agora.example.com", "agora.example.com", ""])
def test_an_address_that_slack_would_not_call_is_in_no_manifest(address: str) -> None:
    refused = CliRunner().invoke(cli.app, ["invite", "--slack", "--url", address])
    assert (refused.exit_code, refused.stdout) == (2, "")


@pytest.mark.parametrize("command", ["forget", "purge", "disconnect"])
def test_a_platform_that_there_is_not_is_refused_rather_than_found_empty(command: str) -> None:
    refused = CliRunner().invoke(cli.app, [command, "Slack", "U1"])
    assert refused.exit_code == 2
    assert "'slack'" in refused.output


def test_what_an_error_quotes_acts_on_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        fail(NotFoundError("No token of slack T\x1b[2J is stored."), FAILED)
    assert capsys.readouterr().err == "rostrum: No token of slack T[2J is stored.\n"


def test_nothing_set_says_what_to_set() -> None:
    with pytest.raises(SettingsError, match="ROSTRUM_SLACK__BOT_TOKEN"):
        open_platforms(Settings())
