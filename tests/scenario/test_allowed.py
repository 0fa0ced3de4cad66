"""A bot that serves some servers and workspaces only: nothing is spent or done in others."""

from collections.abc import AsyncIterator

import pytest

from engine.values.errors import NotAllowedError
from tests.doubles.slack import Rules, SlackServer
from tests.doubles.slack.state import TEAM
from tests.scenario.conftest import DEFAULTS, Running
from tests.scenario.discord_stage import DiscordStage, custom_ids
from tests.scenario.slack_oauth_stage import OAuthStage

ELSEWHERE = 123456789012345678
BAY = "T0BAY"
REFUSED = "serves only the servers and workspaces that its operator has chosen"


async def test_a_server_that_is_not_served_any_more_is_told_so_and_people_keep_what_is_theirs(
    on_discord: DiscordStage,
) -> None:
    discord = on_discord.discord
    on_discord.settings = {"discord": {"guild_ids": [ELSEWHERE, int(discord.guild.id)]}}
    async with on_discord.process() as app:  # when this server was served
        await on_discord.vote()
        held = await app.store.listings.recent()
    announcement = discord.messages()[-1]
    on_discord.settings = {"discord": {"guild_ids": [ELSEWHERE]}}
    async with on_discord.process() as app:
        for line in ("debate start", "debate help", "debate result"):
            options = {"topic": "Cats are better than dogs"} if line == "debate start" else {}
            asked = await discord.slash("ada", line, options).finished()
            assert asked.ephemeral
            assert REFUSED in asked.text
        form = await discord.slash("ada", "debate start").finished()
        assert (form.modal, REFUSED in form.text) == (None, True)
        about = discord.say("ada", "Cats are better than dogs.")
        menu = await discord.menu("ada", "Debate this", about).finished()
        assert (menu.modal, REFUSED in menu.text) == (None, True)
        button = custom_ids(announcement)[0]
        pressed = await discord.press("ben", announcement, button).finished()
        assert REFUSED in pressed.text
        german = discord.slash("ada", "debate help", locale="de")
        assert "Dieser Bot bedient nur" in (await german.finished()).text
        assert len(await app.store.listings.recent()) == len(held) > 0
        for line in ("privacy", "mydata", "optout", "optin"):
            asked = await discord.slash("ada", f"debate {line}").finished()
            assert REFUSED not in asked.text, line
        await discord.slash("ada", "debate forget", {"confirm": True}).finished()
        ada = next(user for user in discord.world.users.values() if user.name == "ada")
        assert not (await app.store.privacy.traces("discord", str(ada.id))).started


@pytest.fixture
async def oauth(database_url: str) -> AsyncIterator[OAuthStage]:
    """A stage where workspaces install Rostrum by themselves."""
    async with SlackServer(rules=Rules.generous()) as slack:
        slack.bot_token = ""
        yield OAuthStage(database_url, slack)


async def test_a_workspace_that_is_not_served_any_more_cannot_install_and_is_told_so(
    oauth: OAuthStage,
) -> None:
    lounge = oauth.slack.add_team("bay")
    async with oauth.process():
        for team in (TEAM, BAY):
            assert (await oauth.install(team)).status == 200
    oauth.settings = {"slack": {"allowed_teams": [TEAM]}}
    async with oauth.process() as app:
        page = await oauth.install(BAY)
        assert page.status == 403
        assert REFUSED in page.text
        assert (await oauth.install(TEAM)).status == 200
        asked = await oauth.slack.slash("bay-ada", '/debate start "Tea beats coffee"', lounge.id)
        assert REFUSED in await asked.said()
        own = await oauth.slack.slash("bay-ada", "/debate forget confirm=yes", lounge.id)
        assert "You are forgotten" in await own.said()
        assert await app.store.listings.recent() == []
        await oauth.vote("ada", oauth.slack.channel.id)


async def test_no_debate_begins_in_a_place_that_is_not_served_whatever_asks_for_it(
    line: Running,
) -> None:
    """As a schedule or a league would that was set before."""
    with pytest.raises(NotAllowedError, match=REFUSED):
        await line.start(DEFAULTS.model_copy(update={"allowed": {"memory": frozenset({"guild"})}}))
    assert await line.store.listings.recent() == []
    served = DEFAULTS.model_copy(update={"allowed": {"memory": frozenset({"club"})}})
    assert (await line.start(served)).debate.community == "club"
