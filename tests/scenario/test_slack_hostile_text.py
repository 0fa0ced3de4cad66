"""Whatever is written in a topic or a turn is shown whole on Slack, and notifies nobody."""

import pytest

from tests.doubles.model_server import Body, ModelServer
from tests.doubles.slack.state import Message
from tests.kit import conclude
from tests.scenario.conftest import (
    explaining,
    explanation,
    fair_ballot,
    is_closing,
    judging,
    on_slack,
)
from tests.scenario.discord_stage import until
from tests.scenario.slack_stage import SlackStage, counted, title, voting

HOSTILE = (
    "<!channel> <!here> <!everyone> <@U1> <@U1|ada> <#C1> <!subteam^S1|x> <https://x.example|y> "
    "& < > &lt; &amp;lt;!channel&amp;gt; <!date^0^{date}|then>\n\n"
    "| a | b |\n|---|---|\n| <!here> | 2 |\n\n> <!channel> quoted\n\n"
    "שלום עולם, العمل عن بُعد \u2068أكثر\u2069\n\n```python\nunclosed <!here> & <@U1>\n"
)
LONG = HOSTILE + "The kettle sings, <@U1> & <!here> hear it.\n" * 350


stage = on_slack


def words(text: str) -> str:
    """Return words alone: pieces are cut at white space, and code blocks closed and reopened."""
    plain = text.replace("\u2060", "").replace("\u2068", "").replace("\u2069", "")
    return " ".join(word for word in plain.split() if not word.startswith("```"))


async def test_a_topic_pings_nobody_and_is_shown_whole(stage: SlackStage) -> None:
    async with stage.process() as app:
        asked = await stage.slack.slash("ada", "/debate")
        await until(lambda: asked.view)
        sent = await stage.slack.submit(asked, {"topic": HOSTILE})
        assert sent.errors == {}
        await stage.ballot()
        await voting(app)
        assert words(HOSTILE) in words(stage.root.text)
        for command in ("status", "list"):
            assert "channel" in await (await stage.slack.slash("ben", f"/debate {command}")).said()
        assert counted(await stage.close())
    assert stage.slack.pings == []


@pytest.mark.slow
async def test_long_turns_ping_nobody_and_are_shown_whole(stage: SlackStage) -> None:
    assert len(LONG) > 15_000

    def respond(body: Body) -> str:
        if explaining(body):
            return explanation(body)
        if judging(body):
            return fair_ballot(body)
        return conclude("<!channel> Short.", LONG) if is_closing(body) else LONG

    async with ModelServer() as server:
        server.respond = respond
        stage.settings |= {
            "models": "near/ana, near/ben",
            "jurors": "near/j1#kin1, near/j2#kin2, near/j3#kin3",
            "backends": {"near": {"base_url": server.base_url}},
            "budget": {"debate_usd": None, "community_daily_usd": None},
        }
        async with stage.at_vote():
            assert counted(await stage.close())
    for number in range(1, 9):
        turn = [m for m in stage.replies if f" · turn {number} of 8" in title(m)]
        assert len(turn) > 1
        # The first block says whose the piece is, the last one which it is.
        pieces = [Message("", "", "", blocks=message.blocks[1:-1]).text for message in turn]
        assert words(LONG) in words("\n".join(pieces))
    assert stage.slack.pings == []
    posted = [sent.text for sent in stage.slack.sent if sent.method == "chat.postMessage"]
    assert all('"unfurl_links": false' in text for text in posted)  # nobody fetches what it names
    assert len(stage.references()) == len(set(stage.references()))
