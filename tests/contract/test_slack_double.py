"""The Slack double, judged by the real slack-bolt and slack_sdk and by what Slack documents."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from tests.doubles.slack import (
    DidNotRespondError,
    Refusal,
    Remote,
    Rules,
    SlackServer,
    drop,
    hang,
    limited,
    refused,
    status,
)
from tests.doubles.slack.web_api import CLIENT_ID, CLIENT_SECRET
from tests.kit import some


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer(rules=Rules(spaced=False)) as server:
        yield server


@pytest.fixture
def web(slack: SlackServer) -> AsyncWebClient:
    return client_of(slack)


def client_of(slack: SlackServer) -> AsyncWebClient:
    return AsyncWebClient(token=slack.bot_token, base_url=slack.api_url, retry_handlers=[])


async def test_a_token_is_good_in_its_own_workspace_alone(slack: SlackServer) -> None:
    lounge = slack.add_team("bay")
    proof = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    token = slack.oauth.access(proof | {"code": granted(slack, "T0BAY")})["access_token"]
    bay = AsyncWebClient(token=token, base_url=slack.api_url, retry_handlers=[])
    assert (await bay.auth_test())["team_id"] == "T0BAY"
    await bay.chat_postMessage(channel=lounge.id, text="here")
    for channel, web in ((slack.channel, bay), (lounge, client_of(slack))):
        with pytest.raises(SlackApiError, match="channel_not_found"):
            await web.chat_postMessage(channel=channel.id, text="there")
    with pytest.raises(SlackApiError, match="user_not_found"):
        await bay.users_info(user=slack.users["ada"].id)
    slack.uninstall("T0BAY")
    with pytest.raises(SlackApiError, match="account_inactive"):
        await bay.auth_test()
    assert (await client_of(slack).auth_test())["team_id"] == "T0HALL"


async def test_a_code_is_exchanged_once_by_the_app_that_it_is_for(slack: SlackServer) -> None:
    code = granted(slack, "T0HALL")
    web = AsyncWebClient(base_url=slack.api_url, retry_handlers=[])
    for name, secret, error in (
        ("another", CLIENT_SECRET, "invalid_client_id"),
        (CLIENT_ID, "another", "bad_client_secret"),
    ):
        with pytest.raises(SlackApiError, match=error):
            await web.oauth_v2_access(client_id=name, client_secret=secret, code=code)
    proof = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    given = await web.oauth_v2_access(**proof, code=code)
    assert given["access_token"] == slack.bot_token
    with pytest.raises(SlackApiError, match="code_already_used"):
        await web.oauth_v2_access(**proof, code=code)


@pytest.mark.parametrize(
    "asked", ["client_id=x&state=s&scope=commands", f"client_id={CLIENT_ID}&scope=commands"]
)
async def test_an_address_that_slack_would_not_show_is_refused(
    slack: SlackServer, asked: str
) -> None:
    slack.oauth.redirect_urls = ("http://127.0.0.1/back",)
    with pytest.raises(Refusal):
        slack.oauth.approve(f"{slack.origin}/oauth/v2/authorize?{asked}", "T0HALL")


def granted(slack: SlackServer, team: str) -> str:
    slack.oauth.redirect_urls = ("http://127.0.0.1/back",)
    asked = f"client_id={CLIENT_ID}&state=s&scope=commands"
    back = slack.oauth.approve(f"{slack.origin}/oauth/v2/authorize?{asked}", team)
    return parse_qs(urlsplit(back).query)["code"][0]


def form() -> dict[str, Any]:
    field = {"type": "plain_text_input", "action_id": "topic"}
    label = {"type": "plain_text", "text": "Topic"}
    block = {"type": "input", "block_id": "topic", "label": label, "element": field}
    return {"type": "modal", "callback_id": "form", "title": label, "blocks": [block]}


async def post(web: AsyncWebClient, slack: SlackServer, text: str = "hi", **more: Any) -> str:
    return str((await web.chat_postMessage(channel=slack.channel.id, text=text, **more))["ts"])


async def test_messages_threads_and_metadata_are_kept(
    slack: SlackServer, web: AsyncWebClient
) -> None:
    root = await post(web, slack, "a &lt; b")
    kept = {"event_type": "rostrum", "event_payload": {"reference": "r1"}}
    inside = await post(web, slack, "inside", thread_ts=root, metadata=kept)
    assert [m.text for m in slack.messages()] == ["a < b"]
    assert [m.ts for m in slack.replies(root)] == [inside]
    read = await web.conversations_replies(
        channel=slack.channel.id, ts=root, include_all_metadata=True
    )
    assert [m["ts"] for m in read["messages"]] == [root, inside]
    assert read["messages"][1]["metadata"] == kept
    await web.chat_update(channel=slack.channel.id, ts=inside, text="changed")
    assert slack.replies(root)[0].history == ["inside"]
    history = await web.conversations_history(channel=slack.channel.id)
    assert [m["ts"] for m in history["messages"]] == [root]


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ({"text": ""}, "no_text"),
        ({"text": "x" * 4001}, "msg_too_long"),
        ({"text": "x", "blocks": [{"type": "markdown", "text": "y" * 12001}]}, "too_long"),
        ({"text": "x", "blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
        ({"text": "x", "blocks": [{"type": "markdown", "text": " "}]}, "invalid_blocks"),
        (
            {"text": "x", "blocks": [{"type": "section", "text": {"text": "y" * 3001}}]},
            "invalid_blocks",
        ),
        (
            {"text": "x" * 3000, "blocks": [{"type": "markdown", "text": "y" * 10500}]},
            "msg_blocks_too_long",
        ),
        ({"text": "x", "thread_ts": "1.5"}, "thread_not_found"),
        ({"text": "x", "metadata": {"event_type": "e"}}, "invalid_metadata_format"),
    ],
)
async def test_what_slack_refuses_is_refused(
    slack: SlackServer, web: AsyncWebClient, sent: dict[str, Any], error: str
) -> None:
    with pytest.raises(SlackApiError, match=error):
        await web.api_call("chat.postMessage", json={"channel": slack.channel.id, **sent})
    assert slack.messages() == []


async def test_mentions_notify_unless_they_are_escaped(
    slack: SlackServer, web: AsyncWebClient
) -> None:
    await post(web, slack, "&lt;!channel&gt; @here")
    assert slack.pings == []
    ping = await post(web, slack, "x", blocks=[{"type": "markdown", "text": "<!here> <@U1|x>"}])
    assert slack.pings == [(ping, {"!here", "@U1"})]


async def test_scopes_membership_and_tokens_are_asked_for(
    slack: SlackServer, web: AsyncWebClient
) -> None:
    slack.rules.scopes = ("chat:write",)
    root = await post(web, slack)
    with pytest.raises(SlackApiError, match="missing_scope"):
        await web.conversations_replies(channel=slack.channel.id, ts=root)
    who = await web.auth_test()
    assert who.headers["x-oauth-scopes"] == "chat:write"
    slack.kick_bot()
    with pytest.raises(SlackApiError, match="not_in_channel"):
        await post(web, slack)
    slack.bot_token = "xoxb-another"
    with pytest.raises(SlackApiError, match="invalid_auth"):
        await post(web, slack)


async def test_one_message_a_gap_and_tiers_are_held() -> None:
    assert (Rules().post_gap, Rules().burst) == (1.0, 1)
    async with SlackServer(rules=Rules(post_gap=30.0)) as slack:  # no machine is that slow
        client = client_of(slack)
        await post(client, slack)
        with pytest.raises(SlackApiError, match="ratelimited") as over:
            await post(client, slack)
        assert 1 <= int(over.value.response.headers["Retry-After"]) <= 30
        assert [violation.of for violation in slack.violations] == [slack.channel.id]
        slack.advance(30)
        root = await post(client, slack)
        for _ in range(50):
            await client.reactions_get(channel=slack.channel.id, timestamp=root)
        with pytest.raises(SlackApiError, match="ratelimited"):
            await client.reactions_get(channel=slack.channel.id, timestamp=root)


async def test_faults_happen_before_and_after(slack: SlackServer, web: AsyncWebClient) -> None:
    slack.fail(drop("after"), "chat.postMessage")
    with pytest.raises(aiohttp.ClientError):
        await post(web, slack, "stored")
    assert [m.text for m in slack.messages()] == ["stored"]
    for fault, error in ((limited(3), "ratelimited"), (refused("fatal_error"), "fatal_error")):
        slack.fail(fault, "chat.*")
        with pytest.raises(SlackApiError, match=error):
            await post(web, slack)
    slack.fail(status(500), "chat.postMessage")
    with pytest.raises(SlackApiError):
        await post(web, slack)
    slack.fail(hang("after"), "chat.postMessage", text="slow")
    sending = asyncio.ensure_future(post(web, slack, "slow"))
    await slack.faults.hung()
    slack.faults.release()
    with pytest.raises(aiohttp.ClientError):
        await sending
    assert [m.text for m in slack.messages()] == ["stored", "slow"]


async def test_reactions_are_whole_only_with_full(slack: SlackServer, web: AsyncWebClient) -> None:
    root = await post(web, slack)
    await web.reactions_add(channel=slack.channel.id, timestamp=root, name="thumbsup")
    with pytest.raises(SlackApiError, match="already_reacted"):
        await web.reactions_add(channel=slack.channel.id, timestamp=root, name="+1")
    for user in ("ada", "ben", "cleo"):
        await slack.react(user, root, "+1", tone=0)
    await slack.react("olga", root, "+1", tone=4)
    assert slack.holders(root, "thumbsup") == {"ada", "ben", "cleo", "olga"}
    where: dict[str, Any] = {"channel": slack.channel.id, "timestamp": root}
    cut = (await web.reactions_get(**where))["message"]["reactions"][0]
    assert (cut["count"], len(cut["users"])) == (4, 2)
    whole = (await web.reactions_get(**where, full=True))["message"]["reactions"]
    assert [(r["name"], len(r["users"])) for r in whole] == [("+1", 4), ("+1::skin-tone-4", 1)]
    await slack.unreact("olga", root, "+1", tone=4)
    assert slack.holders(root, "+1") == {"ada", "ben", "cleo"}
    with pytest.raises(Refusal, match="no_reaction"):
        await slack.unreact("olga", root, "+1")


async def test_a_response_url_is_good_for_five_uses_and_half_an_hour(slack: SlackServer) -> None:
    ada = slack.users["ada"].id
    used, old = [slack.interactions.new(ada, slack.channel.id) for _ in range(2)]
    hook = AsyncWebhookClient(f"{slack.origin}/response/{used.id}")
    codes = [(await hook.send(text="more")).status_code for _ in range(6)]
    assert codes == [*[200] * 5, 404]
    slack.advance(1801)
    late = await AsyncWebhookClient(f"{slack.origin}/response/{old.id}").send(text="late")
    assert "expired_url" in some(late.body)


async def test_a_trigger_opens_one_view_within_three_seconds(
    slack: SlackServer, web: AsyncWebClient
) -> None:
    asked, old = [slack.interactions.new("ada", slack.channel.id) for _ in range(2)]
    await web.views_open(trigger_id=f"trigger-{asked.id}", view=form())
    with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
        await web.views_open(trigger_id=f"trigger-{asked.id}", view=form())
    slack.advance(4)
    with pytest.raises(SlackApiError, match="expired_trigger_id"):
        await web.views_open(trigger_id=f"trigger-{old.id}", view=form())
    slack.rules.ack = 0.01
    with pytest.raises(DidNotRespondError):
        await slack.slash("ada", "/debate sleep")


async def test_in_a_process_of_its_own_it_falls_silent_and_carries_nothing_more_out(
    tmp_path: Path,
) -> None:
    async with Remote.spawned(tmp_path) as slack:
        channel = (await slack.state())["channel"]
        web = AsyncWebClient(token="xoxb-a-token-for-the-double", base_url=slack.api_url)
        web.retry_handlers = []
        await slack.fail(hang("after", everywhere=True), "chat.postMessage")
        asked = []
        for text in ("stored", "lost"):
            asked.append(asyncio.ensure_future(web.chat_postMessage(channel=channel, text=text)))
            await slack.until(lambda state: state["hanging"] == len(asked))
        await slack.release()
        cut = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(error, aiohttp.ClientError) for error in cut)
        await web.chat_postMessage(channel=channel, text="later")
        state = await slack.state()
        assert [message["text"] for message in state["messages"]] == ["stored", "later"]
        await slack.fail(hang(), "chat.update", text="canary")
        with pytest.raises(TimeoutError) as late:
            await slack.until(lambda state: state["hanging"], 1.0)
        [note] = late.value.__notes__
        assert "hanging: 0" in note
        assert "canary" in note
