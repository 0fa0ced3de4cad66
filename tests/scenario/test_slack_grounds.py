"""Where a debate can be held on Slack is known before any model is paid."""

import pytest

from engine.values.debate import BallotKind, Status
from tests.doubles.facts import Slack
from tests.doubles.model_server import ModelServer
from tests.doubles.slack import SlackServer, refused
from tests.scenario import crowd
from tests.scenario.discord_stage import state, until
from tests.scenario.slack_stage import SlackStage, voting

TEA = '"Tea beats coffee"'


@pytest.fixture
def stage(on_slack: SlackStage, models: ModelServer) -> SlackStage:
    on_slack.settings = crowd.settings_for(models)
    return on_slack


def without(*scopes: str) -> tuple[str, ...]:
    return tuple(scope for scope in Slack.SCOPES if scope not in scopes)


@pytest.mark.parametrize("scope", ["chat:write", "reactions:read", "reactions:write"])
async def test_a_missing_scope_is_named_before_anything_is_paid(
    stage: SlackStage, slack: SlackServer, models: ModelServer, scope: str
) -> None:
    slack.rules.scopes = without(scope)
    async with stage.process() as app:
        asked = await stage.start()
        assert f"lacks the scope {scope}" in asked.text
        assert await app.store.listings.recent() == []
        slack.rules.scopes = Slack.SCOPES  # installed again, with the same token
        await stage.vote()
    assert models.requests


async def test_uploads_are_asked_for_only_where_a_format_posts_files(
    stage: SlackStage, slack: SlackServer, models: ModelServer
) -> None:
    slack.rules.scopes = without("files:write")
    async with stage.process() as app:
        asked = await stage.start(f"{TEA} format=structured")
        assert "lacks the scope files:write" in asked.text
        assert models.requests == []
        await stage.vote()
        await voting(app)


async def test_a_channel_that_rostrum_is_not_in_or_that_takes_no_debate_is_refused(
    stage: SlackStage, slack: SlackServer, models: ModelServer
) -> None:
    places = [
        slack.add_channel("away", private=private, with_bot=False) for private in (False, True)
    ]
    async with stage.process() as app:
        for place in places:
            asked = await slack.slash("ada", f"/debate start {TEA}", channel=place.id)
            assert "/invite" in await asked.said()
        for kind in ("archived", "thread_only"):
            setattr(slack.channel, kind, True)
            asked = await slack.slash("ada", f"/debate start {TEA}")
            assert "No debate was started" in await asked.said()
            setattr(slack.channel, kind, False)
        assert await app.store.listings.recent() == []
    assert models.requests == []


FAULTS = ("not_in_channel", "restricted_action", "is_archived", "missing_scope")


@pytest.mark.parametrize("fault", FAULTS)
async def test_nothing_is_paid_for_what_only_the_announcement_can_show(
    stage: SlackStage, slack: SlackServer, models: ModelServer, fault: str
) -> None:
    slack.rules.scopes = without("channels:read", "groups:read")
    slack.fail(refused(fault), "chat.postMessage", times=-1)
    async with stage.process() as app:
        await stage.start()
        debate = await state(app, lambda d: not d.status.live)
        assert (debate.status, debate.gone) == (Status.FAILED, True)
    assert models.requests == []


async def test_a_limit_on_asking_about_channels_stops_no_debate(stage: SlackStage) -> None:
    stage.slack.fail(refused("ratelimited"), "conversations.info", times=-1)
    async with stage.at_vote():
        pass


async def test_a_secret_ballot_is_refused_whoever_wants_it(
    stage: SlackStage, slack: SlackServer, models: ModelServer
) -> None:
    async with stage.process() as app:
        refused = await slack.slash("olga", "/debate settings ballot=secret")
        assert "ballot=private" in await refused.said()
        asked = await stage.start(f"{TEA} ballot=secret")
        assert "cannot be secret here" in asked.text
        await app.store.communities.change(
            "slack",
            slack.channel.team,
            lambda old: old.model_copy(update={"ballot": BallotKind.SECRET}),
            app.commands.service.clock.now(),
        )
        asked = await stage.start(TEA)
        assert "cannot be secret here" in asked.text
        assert await app.store.listings.recent() == []
        await stage.start(f"{TEA} ballot=private")
        await voting(app)
    assert models.requests


async def test_nothing_on_slack_offers_what_slack_cannot_do(stage: SlackStage) -> None:
    lines = (
        "help start",
        "start Tea ballot=hidden",
        "start Tea ballot",
        "start Tea format=chess",
        "settings ballot=hidden",
        "settings quorum=2",
    )
    async with stage.process():
        for line in lines:
            said = await (await stage.slack.slash("olga", f"/debate {line}")).said()
            assert "secret" not in said, line
            assert "manager_role" not in said, line
        for line in ("/debate", "/debate settings"):
            asked = await stage.slack.slash("olga", line)
            view = await until(lambda asked=asked: asked.view)  # type: ignore[misc]  # bound now
            assert "secret" not in str(view)
