"""Slack is reached by the proxy that the environment names, on every path."""

import pytest

from bot.serve.platforms import Slack, open_platforms
from engine.values.errors import SettingsError
from tests.doubles.slack import Rules, SlackServer
from tests.doubles.wire import proxying
from tests.scenario.discord_stage import settings_of
from tests.scenario.slack_stage import SlackStage, voting

ONLY_BY_PROXY = "slack.invalid"  # a name that leads nowhere else


@pytest.fixture(autouse=True)
def _no_proxy_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def test_calls_answers_and_socket_mode_go_by_the_proxy(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SlackServer, "host", ONLY_BY_PROXY)
    async with SlackServer(rules=Rules.generous()) as slack, proxying() as proxy:
        stage = SlackStage(database_url, slack, proxy=proxy.url)
        async with stage.process() as app:
            await stage.vote()  # all of it came to the double by the proxy, events too
            await voting(app)
            asked = await slack.slash("ada", "/debate topics")
            await asked.said("Remote work")
            assert "chat.postEphemeral" not in slack.calls  # as a response URL was enough
    assert {address.split("/")[2] for address in proxy.asked} == {f"{ONLY_BY_PROXY}:{slack.port}"}


async def test_no_proxy_is_used_that_the_environment_rules_out(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SlackServer(rules=Rules.generous()) as slack, proxying() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        stage = SlackStage(database_url, slack)
        async with stage.process():
            asked = await slack.slash("ada", "/debate topics")
            await asked.said("Remote work")
        assert proxy.asked == []


def test_slack_goes_by_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = {"bot_token": "xoxb-1", "app_token": "xapp-1"}
    settings = settings_of("sqlite+aiosqlite:///x.db", slack=tokens)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    [platform] = open_platforms(settings)
    assert isinstance(platform, Slack)
    assert platform.workspaces.app.proxy == "http://proxy.example:3128"
    monkeypatch.setenv("HTTPS_PROXY", "socks5://proxy.example:1080")
    with pytest.raises(SettingsError, match=r"slack.com is behind the socks5 proxy of HTTPS_PROXY"):
        open_platforms(settings)
