"""A post in doubt on Slack is looked for on every page, and only among the bot's own messages."""

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from adapters.slack.render import SlackPayload
from adapters.slack.rest import SlackRest
from adapters.slack.venue import SlackPlace, SlackVenue
from adapters.slack.workspaces import OneWorkspace
from engine.values.messages import Notice
from tests.doubles.slack import Rules, SlackServer
from tests.doubles.slack.state import TEAM, Message

PAGE = 3


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer(rules=Rules.generous(page=PAGE)) as server:
        yield server


@pytest.fixture
async def venue(slack: SlackServer) -> AsyncIterator[SlackVenue]:
    rest = SlackRest(SecretStr(slack.bot_token), slack.api_url, minute=0.0)
    yield SlackVenue(OneWorkspace(rest), gap=0.0)
    await rest.close()


@pytest.mark.parametrize("inside", [False, True], ids=["channel", "thread"])
async def test_it_is_found_on_whichever_page_it_is(
    slack: SlackServer, venue: SlackVenue, inside: bool
) -> None:
    place = SlackPlace(TEAM, slack.channel.id)
    (root,) = venue.render(Notice(text="The announcement."), "k7f2qz·1")
    if inside:
        place = place._replace(root=await venue.post(str(place), root))
    posted = {}
    for number in range(2, 2 + 3 * PAGE):
        (part,) = venue.render(Notice(text=f"Message {number}."), f"k7f2qz·{number}")
        posted[part.reference] = await venue.post(str(place), part)
    for reference, ts in posted.items():
        assert await venue.find(str(place), reference, None) == ts
    assert await venue.find(str(place), "k7f2qz·99·1/1", None) is None


async def test_who_repeats_a_reference_is_not_taken_for_the_bot(
    slack: SlackServer, venue: SlackVenue
) -> None:
    place = str(SlackPlace(TEAM, slack.channel.id))
    (part,) = venue.render(Notice(text="Said once."), "k7f2qz·1")
    copied, ts = SlackPayload.of(part).body(part.reference), slack.world.new_ts()
    ada = slack.users["ada"].id
    slack.channel.messages[ts] = Message(slack.channel.id, ts, ada, "copied", copied["blocks"])
    slack.channel.messages[ts].metadata = copied["metadata"]
    assert await venue.find(place, part.reference, None) is None
    own = await venue.post(place, part)
    assert await venue.find(place, part.reference, None) == own
