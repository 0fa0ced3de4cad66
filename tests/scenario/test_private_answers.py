"""A private answer whose request was cut is given again, for as long as there is a way."""

import asyncio

import pytest

from adapters.discord import interactions, rest
from adapters.slack import interactions as slack_interactions
from tests.doubles.discord import Code, DiscordServer, denied
from tests.doubles.faults import Fault, drop, status
from tests.scenario.discord_stage import DiscordStage, until
from tests.scenario.slack_stage import SlackStage

CUTS = {"before": drop("before"), "after": drop("after"), "503": status(503)}
EDIT = ("PATCH", "/webhooks/*/*/messages/@original")


@pytest.fixture(autouse=True)
def _swift(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (rest, slack_interactions):
        monkeypatch.setattr(module, "FIRST_PAUSE", 0.02)
        monkeypatch.setattr(module, "LONGEST_PAUSE", 0.1)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("times", [1, 5])
async def test_an_acknowledgement_and_an_answer_that_were_cut_are_sent_again_and_shown_once(
    on_discord: DiscordStage, when: str, times: int
) -> None:
    discord = on_discord.discord
    discord.fail(CUTS[when], "POST", "/interactions/*/*/callback")
    discord.fail(CUTS[when], *EDIT, times=times)
    async with on_discord.process():
        asked = await discord.slash("ada", "debate topics").finished()
        await until(lambda: len(requests(discord, "PATCH")) > times)
    assert asked.ephemeral
    assert "Remote work" in asked.text
    assert len(asked.messages) == 1
    assert discord.messages() == []


async def test_an_answer_that_was_refused_for_good_is_not_sent_again(
    on_discord: DiscordStage,
) -> None:
    discord = on_discord.discord
    discord.fail(denied(Code.INVALID_TOKEN), *EDIT, times=-1)
    async with on_discord.process():
        discord.slash("ada", "debate topics")
        await until(lambda: discord.messages())
        await asyncio.sleep(0.2)
    assert len(requests(discord, "PATCH")) == 1


async def test_an_answer_in_pieces_is_whole_when_one_was_cut(
    on_discord: DiscordStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    discord = on_discord.discord
    async with on_discord.process():
        whole = (await discord.slash("ada", "debate topics").finished()).text
        monkeypatch.setattr(interactions, "ANSWER", len(whole) // 2)
        discord.fail(drop("before"), "POST", "/webhooks/*/*", times=2)
        asked = await discord.slash("ada", "debate topics").finished()
        await until(lambda: asked.text.split() == whole.split())
    assert len(asked.messages) > 1


def requests(discord: DiscordServer, method: str) -> list[str]:
    made = discord.rest.requests
    return [c.path for c in made if c.method == method and c.path.startswith("/webhooks")]


@pytest.mark.parametrize("name", CUTS)
async def test_an_answer_is_given_again_while_slack_is_away(
    on_slack: SlackStage, name: str
) -> None:
    slack = on_slack.slack
    lost: Fault = CUTS[name]
    slack.fail(lost, "response_url", times=3)
    slack.fail(status(503), "chat.postEphemeral", times=3)
    async with on_slack.process():
        asked = await slack.slash("ada", "/debate topics")
        await until(lambda: slack.calls.count("chat.postEphemeral") == 3)
        await asked.said("Remote work")
        if name != "after":  # one that was cut alone is given the other way, once
            slack.fail(lost, "response_url")
            asked = await slack.slash("ada", "/debate topics")
            assert (await asked.said("Remote work")).count("Remote work") == 1


async def test_where_neither_way_can_ever_work_nothing_is_repeated(on_slack: SlackStage) -> None:
    slack = on_slack.slack
    place = slack.add_channel("away", with_bot=False)
    slack.fail(status(404), "response_url", times=-1)
    async with on_slack.process():
        await slack.slash("ada", "/debate topics", channel=place.id)
        await until(lambda: slack.calls.count("chat.postEphemeral"))
        await asyncio.sleep(0.2)
    assert slack.calls.count("chat.postEphemeral") == 1
