"""The app's Home tab on Slack: what people read there, and what its buttons do."""

from collections.abc import AsyncIterator

import orjson
import pytest

from adapters.slack.render import NAMES as NAMED
from tests.doubles.slack import Rules, SlackServer
from tests.doubles.slack.methods import check_view
from tests.doubles.slack.state import Message, texts
from tests.scenario.discord_stage import until
from tests.scenario.slack_stage import SlackStage, voting

NAMES = ("rehearsal/maple", "rehearsal/willow", "rehearsal/oak", "rehearsal/elm", "rehearsal/ash")
HOSTILE = "Tea <!channel> beats *coffee* & <@U1>"


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer(rules=Rules.generous(retries=(0.0, 0.1, 0.2))) as server:
        yield server


@pytest.fixture
def stage(database_url: str, slack: SlackServer) -> SlackStage:
    return SlackStage(database_url, slack)


def shown(slack: SlackServer, user: str) -> str:
    """Return all that a person's Home tab says."""
    view = slack.world.homes.get(slack.world.user(user).id)
    return "" if view is None else "\n".join(texts(view["blocks"]))


def direct(slack: SlackServer, user: str) -> list[Message]:
    return list(slack.world.direct(slack.world.user(user).id).messages.values())


async def opened(slack: SlackServer, user: str, text: str) -> str:
    slack.open_home(user)
    await until(lambda: text in shown(slack, user))
    return shown(slack, user)


async def told(slack: SlackServer, user: str, label: str, answer: str) -> None:
    """Press a button of the Home tab, and wait for the answer under Messages."""
    await slack.press_home(user, label)
    await until(lambda: any(answer in message.text for message in direct(slack, user)))


async def test_home_shows_live_debates_and_ones_own_data(stage: SlackStage) -> None:
    slack = stage.slack
    async with stage.process():
        assert "No debate is running" in await opened(slack, "ben", "Live debates")
    async with stage.at_vote(f'"{HOSTILE}"') as (app, ballot, _):
        await voting(app)
        assert "Settings" not in await opened(slack, "ben", "Vote now: ")
        assert "*coffee*" in shown(slack, "ben")
        view = slack.world.homes[slack.world.user("ben").id]
        check_view(view)
        (link,) = [b["accessory"]["url"] for b in view["blocks"] if "accessory" in b]
        assert stage.root.ts.replace(".", "") in link
        assert not [name for name in NAMES if name in orjson.dumps(view).decode()]
        await slack.press_home("ben", "Open")  # Slack tells of links too

        await slack.react("ben", ballot.ts, NAMED["A"])
        await until(lambda: slack.deliveries.told[-1].acknowledged)
        await told(slack, "ben", "Leave me out of exports", "From now on, exports leave you out")
        await until(lambda: "Exports leave you out" in shown(slack, "ben"))
        await told(slack, "ben", "Include me in exports", "under a pseudonym")
        await told(slack, "ben", "My votes", "You have no vote on a revealed debate here yet.")
        await told(slack, "ben", "My data as a file", "everything that is stored about you")
        (file,) = slack.world.files.values()
        await until(lambda: file.channel)
        assert file.channel == slack.world.direct(slack.world.user("ben").id).id
        assert len(orjson.loads(file.data)["tables"]["vote_events"]) == 1
        await told(slack, "ben", "Forget me", "You are forgotten.")
        await until(lambda: "You asked to be forgotten" in shown(slack, "ben"))
        await told(slack, "ben", "Take part again", "Welcome back.")
        # Nothing of it is in a channel, and nobody else's tab was published.
        assert not [m for m in slack.messages() if "exports" in m.text]
        assert set(slack.world.homes) == {slack.world.user("ben").id}
        await stage.close()
    assert not slack.violations


async def test_managers_open_the_settings_from_home_which_is_in_its_persons_language(
    stage: SlackStage, slack: SlackServer
) -> None:
    slack.world.user("ben").locale = "de-DE"
    async with stage.process():
        await opened(slack, "olga", "For managers")
        asked = await slack.press_home("olga", "Settings")
        await until(lambda: asked.view)
        sent = await slack.submit(asked, {"vote_minutes": "20"})
        assert not sent.errors
        await until(lambda: any("Changed: " in message.text for message in direct(slack, "olga")))
        text = await opened(slack, "ben", "Laufende Debatten")
    english = ("Live debates", "How to vote", "Your data", "Forget me", "My votes")
    assert not [one for one in english if one in text]


async def test_a_newer_view_stays(stage: SlackStage, slack: SlackServer) -> None:
    async with stage.process():
        await opened(slack, "ben", "Live debates")
        ben = slack.world.user("ben").id
        # Another process published meanwhile: what this event has seen is older.
        newer = {**slack.world.homes[ben], "hash": "newer"}
        slack.open_home("ben")
        slack.world.homes[ben] = newer
        published = [sent for sent in slack.sent if sent.method == "views.publish"]
        await until(lambda: len([s for s in slack.sent if s.method == "views.publish"]) == 2)
        assert len(published) == 1
        slack.open_home("ben", "messages")  # which is not ours to fill
        await slack.deliveries.heard()
        assert slack.world.homes[ben] is newer
