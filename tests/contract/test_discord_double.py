"""The Discord double's own rules: what a test of the bot would not miss if it were gone."""

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import orjson
import pytest

from tests.doubles.discord import (
    DidNotRespondError,
    DiscordServer,
    Fault,
    NotOfferedError,
    Rate,
    Rates,
    Refusal,
    drop,
    limited,
    status,
)

A = "🅰️"
START = {
    "name": "start",
    "description": "Start",
    "type": 1,
    "options": [
        {"name": "topic", "description": "T", "type": 3, "required": True},
        {"name": "rounds", "description": "R", "type": 4},
    ],
}
DEBATE = {"name": "debate", "description": "Debates", "options": [START]}


@pytest.fixture
async def platform() -> AsyncIterator[DiscordServer]:
    async with DiscordServer(rates=Rates.generous()) as server:
        yield server


async def ask(
    platform: DiscordServer, method: str, path: str, body: Any = None, file: bytes = b""
) -> tuple[int, Any]:
    """Ask as the bot does; return the status and the JSON of the answer."""
    form = aiohttp.FormData()
    if file:
        form.add_field("payload_json", orjson.dumps(body).decode())
        form.add_field("files[0]", io.BytesIO(file), filename="export.zip")
    sent: dict[str, Any] = {"data": form} if file else {"json": body}
    headers = {"Authorization": f"Bot {platform.token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.request(method, f"{platform.api_url}{path}", **sent) as response,
    ):
        told = await response.read()
        return response.status, orjson.loads(told) if told.startswith((b"{", b"[")) else None


async def code(platform: DiscordServer, *asked: Any) -> int:
    """Ask, and return Discord's code for its refusal."""
    found = (await ask(platform, *asked))[1]
    return int((found or {}).get("code", 0))


async def post(platform: DiscordServer, place: str, **body: Any) -> str:
    """Post as the bot, and return the message's path."""
    _, told = await ask(platform, "POST", f"/channels/{place}/messages", body)
    return f"/channels/{place}/messages/{told['id']}"


async def test_messages_are_read_as_they_were_posted_but_without_their_nonce(
    platform: DiscordServer,
) -> None:
    messages = f"/channels/{platform.channel.id}/messages"
    body: dict[str, Any] = {"content": "hello", "nonce": "n1", "enforce_nonce": True}
    body["embeds"] = [{"footer": {"text": "k7f2·3·1/2"}}]
    _, sent = await ask(platform, "POST", messages, body, b"bytes")
    _, again = await ask(platform, "POST", messages, body)
    assert (sent["nonce"], again["id"]) == ("n1", sent["id"])
    _, [read] = await ask(platform, "GET", messages)
    assert "nonce" not in read
    assert read["embeds"][0]["footer"]["text"] == "k7f2·3·1/2"
    async with aiohttp.ClientSession() as session:
        file = await session.get(read["attachments"][0]["url"])
        assert await file.read() == b"bytes"
    platform.advance(platform.rules.nonce_seconds + 1)
    assert (await ask(platform, "POST", messages, body))[1]["id"] != sent["id"]
    assert "k7f2·3·1/2" in platform.sent_text


@pytest.mark.parametrize(
    ("content", "allowed", "pinged"),
    [
        ("@everyone <@1>", {"parse": []}, set()),
        ("<@1> <@&2>", None, {"1", "2"}),
        ("<@1> <@2>", {"users": ["2"]}, {"2"}),
    ],
)
async def test_who_is_pinged_follows_allowed_mentions(
    platform: DiscordServer, content: str, allowed: dict[str, Any] | None, pinged: set[str]
) -> None:
    more = {} if allowed is None else {"allowed_mentions": allowed}
    await post(platform, platform.channel.id, content=content, **more)
    assert {who for _, who in platform.world.pings} == pinged


async def test_reactions_come_with_all_their_holders_page_by_page(platform: DiscordServer) -> None:
    path = await post(platform, platform.channel.id, content="vote")
    message = path.rpartition("/")[2]
    await ask(platform, "PUT", f"{path}/reactions/{A}/@me")
    platform.react("ada", message, A)
    platform.react("ben", message, "\U0001f170")  # without its variation selector
    platform.unreact("ada", message, A)
    assert platform.holders(message, A) == {"ben"}
    for number in range(120):
        platform.react(platform.add_user(f"voter{number}").id, message, A)
    _, read = await ask(platform, "GET", path)
    assert read["reactions"][0]["count"] == 122
    _, page = await ask(platform, "GET", f"{path}/reactions/{A}?limit=100")
    _, rest = await ask(platform, "GET", f"{path}/reactions/{A}?limit=100&after={page[-1]['id']}")
    assert [len(page), len({one["id"] for one in (*page, *rest)})] == [100, 122]
    platform.clear_reactions(message)
    assert platform.holders(message, A) == set()


async def test_a_thread_hangs_on_its_message_and_takes_nothing_when_archived(
    platform: DiscordServer,
) -> None:
    path = await post(platform, platform.channel.id, content="debate")
    _, thread = await ask(platform, "POST", f"{path}/threads", {"name": "Cats"})
    assert path.endswith(thread["id"])
    assert await code(platform, "POST", f"{path}/threads", {"name": "Cats"}) == 160004
    inside = await post(platform, thread["id"], content="turn")
    platform.archive(thread["id"])
    assert await code(platform, "PUT", f"{inside}/reactions/{A}/@me") == 50083
    assert await code(platform, "PATCH", inside, {"content": "new"}) == 50083
    with pytest.raises(Refusal):
        platform.react("ada", inside.rpartition("/")[2], A)
    await post(platform, thread["id"], content="wakes it")
    assert not platform.threads()[0].archived
    platform.lock(thread["id"])
    messages = f"/channels/{thread['id']}/messages"
    assert await code(platform, "POST", messages, {"content": "locked"}) == 50083
    platform.delete_thread(thread["id"])
    assert await code(platform, "POST", messages, {"content": "gone"}) == 10003


async def test_what_is_too_big_or_empty_is_refused(platform: DiscordServer) -> None:
    long, messages = {"description": "x" * 4000}, f"/channels/{platform.channel.id}/messages"
    for body, wanted in (
        ({"content": "x" * 2001}, 50035),
        ({"embeds": [long, long]}, 50035),
        ({"embeds": [{"title": "x" * 257}]}, 50035),
        ({"content": "x", "nonce": "n" * 26}, 50035),
        ({"content": ""}, 50006),
    ):
        assert await code(platform, "POST", messages, body) == wanted, body
    assert await code(platform, "POST", messages, {}, b"x" * (10 * 2**20 + 1)) == 40005
    path = await post(platform, platform.channel.id, content="x")
    assert await code(platform, "POST", f"{path}/threads", {"name": "x" * 101}) == 50035
    assert await code(platform, "PUT", f"{path}/reactions/notanemoji/@me") == 10014
    for number in range(20):
        await ask(platform, "PUT", f"{path}/reactions/{chr(0x1F600 + number)}/@me")
    assert await code(platform, "PUT", f"{path}/reactions/{A}/@me") == 30010
    platform.rules.old_edits = 1
    platform.advance(3700)
    assert await code(platform, "PATCH", path, {"content": "one more"}) == 0
    assert await code(platform, "PATCH", path, {"content": "too many"}) == 30046


async def test_permissions_are_needed_where_discord_needs_them(platform: DiscordServer) -> None:
    place = platform.channel.id
    path = await post(platform, place, content="x")
    _, thread = await ask(platform, "POST", f"{path}/threads", {"name": "t"})
    inside = await post(platform, thread["id"], content="in it")
    said = ("POST", f"/channels/{place}/messages", {"content": "x"})
    platform.deny("read_message_history")
    assert await code(platform, "PUT", f"{inside}/reactions/{A}/@me") == 50013
    platform.allow("read_message_history")
    platform.deny("send_messages_in_threads")
    assert await code(platform, "POST", inside.rpartition("/")[0], {"content": "x"}) == 50013
    await post(platform, place, content="here I may")
    platform.deny("view_channel", place)
    assert await code(platform, *said) == 50001
    platform.allow("view_channel", place)
    platform.kick_bot()
    assert await code(platform, *said) == 50001


async def test_commands_over_the_limits_are_not_registered_nor_what_is_not_offered_used(
    platform: DiscordServer,
) -> None:
    path = f"/applications/{platform.bot.id}/commands"
    await ask(platform, "PUT", path, [DEBATE])
    choices = [{"name": f"{n:03}" + "x" * 97, "value": str(n)} for n in range(25)]
    options = [{"type": 3, "name": f"o{n}", "description": "x"} for n in range(26)]
    large = [option | {"choices": choices} for option in options[:4]]
    plain = {"name": "x", "description": "x"}
    for change in (
        {"name": "Upper"},
        {"description": ""},
        {"options": options},
        {"name_localizations": {"xx": "y"}},
        {"options": [options[1], options[1]]},
        {"options": large},
    ):
        assert await code(platform, "PUT", path, [plain | change]) == 50035, change
    _, kept = await ask(platform, "GET", path)
    assert [command["name"] for command in kept] == ["debate"]
    unoffered: list[tuple[str, dict[str, Any]]] = [
        ("debate nothing", {}),
        ("debate start", {}),
        ("debate start", {"topic": "x", "colour": "y"}),
        ("debate start", {"topic": "x", "rounds": "two"}),
    ]
    for name, given in unoffered:
        with pytest.raises(NotOfferedError):
            platform.slash("ada", name, given)


async def test_silence_is_seen_and_a_second_late_or_old_answer_is_refused(
    platform: DiscordServer,
) -> None:
    await ask(platform, "PUT", f"/applications/{platform.bot.id}/commands", [DEBATE])
    asked, other = [platform.slash("ada", "debate start", {"topic": "x"}) for _ in range(2)]
    with pytest.raises(DidNotRespondError):
        await asked.answered(0.05)
    late, ok = [f"/interactions/{one.id}/{one.token}/callback" for one in (asked, other)]
    assert await ask(platform, "POST", ok, {"type": 5, "data": {}}) == (204, None)
    assert await code(platform, "POST", ok, {"type": 4, "data": {"content": "two"}}) == 40060
    webhook = f"/webhooks/{platform.bot.id}/{other.token}"
    # A refused edit leaves the answer as it was.
    assert await code(platform, "POST", webhook, {"content": "x" * 2001}) == 50035
    assert not other.filled
    assert (await ask(platform, "POST", webhook, {"content": "x"}))[0] == 200
    assert (await other.finished()).text.strip() == "x"
    platform.advance(4)
    assert await code(platform, "POST", late, {"type": 4, "data": {"content": "late"}}) == 10062
    platform.advance(901)
    assert await code(platform, "POST", webhook, {"content": "more"}) == 50027


async def test_who_ignores_a_limit_is_noted_and_a_wrong_token_refused(
    platform: DiscordServer,
) -> None:
    platform.limiter.rates.messages = Rate(1, 60.0)
    headers = {"Authorization": f"Bot {platform.token}"}
    url = f"{platform.api_url}/channels/{platform.channel.id}/messages"
    async with aiohttp.ClientSession(headers=headers) as session:
        answers = [await session.post(url, json={"content": "x"}) for _ in range(3)]
        wrong = await session.post(url, json={}, headers={"Authorization": "Bot wrong"})
    assert [answer.status for answer in (*answers, wrong)] == [200, 429, 429, 401]
    assert answers[1].headers["Via"]
    assert float(answers[1].headers["Retry-After"]) > 30
    assert [v.why for v in platform.violations] == [
        "more than 1 requests in 60 s",
        "sent while it was told to wait",
    ]
    platform.advance(61)
    assert len(platform.messages()) == 1


@pytest.mark.parametrize(
    ("fault", "answered", "stored"),
    [
        (status(503), 503, 0),
        (status(503, when="after"), 503, 1),
        (limited(5, via=False), 429, 0),
        (status(404, error=10003), 404, 0),
        (drop(), None, 0),
        (drop("after"), None, 1),
    ],
)
async def test_faults_happen_before_or_after_storing(
    platform: DiscordServer, fault: Fault, answered: int | None, stored: int
) -> None:
    path = f"/channels/{platform.channel.id}/messages"
    platform.fail(fault, "POST", "/channels/*/messages", text="unlucky")
    try:
        told, _ = await ask(platform, "POST", path, {"content": "unlucky"})
        assert told == answered
    except aiohttp.ServerDisconnectedError:
        assert answered is None
    assert len(platform.messages()) == stored


async def test_an_event_needs_its_intent_and_a_channel_that_can_be_seen(
    platform: DiscordServer,
) -> None:
    message = platform.say("ada", "hello")
    hidden = platform.add_channel("hidden")
    secret = platform.say("ada", "secret", hidden.id)
    platform.deny("view_channel", hidden.id)
    async with connected(platform, intents=1 << 0) as deaf, connected(platform) as hearing:
        platform.react("ada", message.id, A)
        platform.react("ada", secret.id, A)
        platform.react("ben", message.id, A)
        holders = [(await hearing.receive_json())["d"]["user_id"] for _ in range(2)]
        assert holders == [platform.users["ada"].id, platform.users["ben"].id]
        with pytest.raises(TimeoutError):
            await deaf.receive_json(timeout=0.05)


@pytest.mark.parametrize(
    ("change", "code"),
    [({"token": "wrong"}, 4004), ({"intents": 1 << 15}, 4014), ({"shard": [2, 2]}, 4010)],
)
async def test_who_identifies_wrongly_is_sent_away(
    platform: DiscordServer, change: dict[str, Any], code: int
) -> None:
    identify = {"token": platform.token, "intents": 1, **change}
    async with aiohttp.ClientSession() as session:
        socket = await session.ws_connect(platform.gateway.url)
        await socket.receive_json()
        await socket.send_json({"op": 2, "d": identify})
        await socket.receive()
        assert socket.close_code == code


@asynccontextmanager
async def connected(
    platform: DiscordServer, intents: int = 1 << 10
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """A bare gateway connection, past READY and the servers."""
    async with aiohttp.ClientSession() as session:
        socket = await session.ws_connect(platform.gateway.url)
        identify = {"token": platform.token, "intents": intents}
        await socket.send_json({"op": 2, "d": identify})
        expected = ["HELLO", "READY"] + ["GUILD_CREATE"] * (intents & 1)
        for _ in expected:
            await socket.receive_json()
        yield socket
        await socket.close()
