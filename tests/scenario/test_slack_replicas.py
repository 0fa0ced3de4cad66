"""Several processes behind a balancer: what one of them hears of a workspace holds for all."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from adapters.database.database import SqlDatabase
from adapters.slack import install
from adapters.slack.errors import SlackAct
from adapters.slack.install import Installations
from adapters.slack.rest import SlackRest
from adapters.slack.workspaces import Workspace
from engine.store import Store
from engine.store.installs import Install
from engine.values.errors import VenueGoneError
from tests.doubles.slack import SlackServer
from tests.doubles.slack.state import BOT_USER, TEAM

pytestmark = pytest.mark.postgresql


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer() as server:
        yield server


@pytest.fixture
async def app(slack: SlackServer) -> AsyncIterator[SlackRest]:
    rest = SlackRest(None, slack.api_url)
    yield rest
    await rest.close()


def given(token: str) -> Install:
    return Install(
        platform="slack",
        community=TEAM,
        name="Hall",
        account=BOT_USER,
        token=SecretStr(token),
        installed_at=datetime.now(UTC),
    )


async def answers(home: Workspace, slack: SlackServer) -> bool:
    """Whether Slack takes what is asked in a workspace."""
    asked = {"user": slack.users["ada"].id}
    return bool(await home.rest.read(SlackAct.ASK, "users.info", asked))


async def test_what_a_workspace_does_elsewhere_is_known_here_soon_and_not_read_for_every_message(
    slack: SlackServer, app: SlackRest, database: SqlDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(database, ["a-key-of-the-operator"])
    await store.installs.keep(given(slack.bot_token))
    patient, replica = Installations(app), Installations(app)
    await patient.open(store.installs, store.people)
    lasting = await patient.find(TEAM)
    monkeypatch.setattr(install, "FRESH_SECONDS", 0.0)
    await replica.open(store.installs, store.people)
    first = await replica.find(TEAM)
    assert await answers(first, slack)
    assert await replica.find(TEAM) is first
    slack.bot_token = "xoxb-after-installing-again"
    await store.installs.keep(given(slack.bot_token))
    again = await replica.find(TEAM)
    assert await answers(again, slack)
    assert await replica.of_bot(BOT_USER) is again
    await store.installs.drop("slack", TEAM)
    assert await patient.find(TEAM) is lasting
    with pytest.raises(VenueGoneError, match="not installed"):
        await replica.find(TEAM)
    assert await replica.of_bot(BOT_USER) is None
    assert await replica.teams() == ()
