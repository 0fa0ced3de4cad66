"""Refusals, tiers, connection and events of Slack, and plain text in place of what it refuses."""

import asyncio
import time
from types import SimpleNamespace
from typing import Any, cast

import aiohttp
import pytest
from aiohttp import web
from hypothesis import given, strategies as st
from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError

from adapters.discord import render as discord
from adapters.discord.render import DiscordPayload
from adapters.site import Site
from adapters.slack import connection as slack_connection, render as slack
from adapters.slack.connection import Missed, SlackConnection
from adapters.slack.errors import SlackAct, explain, limited_for
from adapters.slack.render import SlackPayload
from adapters.slack.rest import METHODS, MINUTE, SlackRest
from adapters.slack.venue import SlackVenue
from adapters.slack.workspaces import Workspaces
from adapters.wire import InOrder, Window
from engine.delivery.fallbacks import numbered
from engine.delivery.reasons import refusal_of
from engine.values.errors import VenueAwayError
from engine.values.language import speaking
from engine.values.markdown import chop
from engine.values.ports import CommunityChanged, ConnectionGap, Inbound, ReactionSeen
from engine.values.text import clean
from tests.doubles.facts import Discord, Slack
from tests.kit import HANG_SECONDS, beside, skipped_time, speech, until


def refusal(name: str, status: int = 200, headers: Any = None, **more: str) -> SlackApiError:
    answer = {"ok": False, "error": name} | more if name else "an error page"
    response = SimpleNamespace(data=answer, status_code=status, headers=headers or {})
    make: Any = SlackApiError  # which has no types
    return cast(SlackApiError, make("refused", response))


def test_what_slack_calls_a_refusal_is_in_the_log_and_not_in_a_chat() -> None:
    error = explain(refusal("invalid_blocks"), SlackAct.POST, "C1", "1.5")
    assert str(error).endswith(". (post C1 1.5: invalid blocks)")
    with speaking("de"):
        said = refusal_of(error)
    assert said == "Slack hat das abgelehnt; wer Rostrum betreibt, sieht den Grund im Log."


@pytest.mark.parametrize(
    ("error", "maybe_stored"),
    [
        (refusal("ratelimited", 429, {"Retry-After": "7"}), False),
        (refusal("ratelimited", 200, {"Retry-After": "7"}), False),
        (refusal("", 503), True),
        (refusal("internal_error"), True),
        (TimeoutError(), True),
        (aiohttp.ServerDisconnectedError(), True),
    ],
)
def test_what_passes_is_waited_for_and_says_whether_a_message_may_be_there(
    error: Exception, maybe_stored: bool
) -> None:
    away = explain(error, SlackAct.POST, "C1")
    assert isinstance(away, VenueAwayError)
    assert away.maybe_stored is maybe_stored
    limited = limited_for(error)
    assert limited == (None if maybe_stored else 7)
    assert maybe_stored or away.retry_after == 7


@pytest.mark.parametrize("said", ["", "soon"])
def test_a_limit_without_a_time_is_kept_for_half_a_minute(said: str) -> None:
    assert limited_for(refusal("ratelimited", 429, {"Retry-After": said})) == 30


async def test_no_minute_holds_more_than_a_tier_and_none_is_overtaken() -> None:
    minute, asked = 0.3, list[tuple[int, float]]()
    most = METHODS["reactions.get"]
    window = Window(most, minute)

    async def ask(number: int) -> None:
        await window.take()
        asked.append((number, time.monotonic()))

    with skipped_time():
        await asyncio.gather(*map(ask, range(120)))
    numbers, moments = zip(*asked, strict=True)
    assert list(numbers) == list(range(120))
    # Each is noted just after it left, so a moment may be a little late.
    spans = [b - a for a, b in zip(moments, moments[most:], strict=False)]
    assert min(spans) > 0.9 * minute
    assert moments[-1] - moments[0] < 3 * minute


async def refused(rest: SlackRest, method: str) -> None:
    with pytest.raises(VenueAwayError):
        await rest.read(SlackAct.ASK, method, {"user": "U1"})


async def test_a_method_at_its_limit_holds_up_no_other() -> None:
    rest = SlackRest(SecretStr("token"), "http://127.0.0.1:9/api/")
    async with asyncio.timeout(MINUTE / 2):
        for _ in range(METHODS["reactions.get"]):
            await refused(rest, "reactions.get")
        waiting = asyncio.create_task(refused(rest, "reactions.get"))
        for method in ("chat.update", "users.info", "views.open", "chat.postMessage"):
            await refused(rest, method)
        assert not waiting.done()
    waiting.cancel()
    await rest.close()


async def test_what_was_never_asked_leaves_its_place_to_others() -> None:
    """What is refused here and asked later, Slack never saw."""
    window = Window(METHODS["users.info"], MINUTE)
    rest = SlackRest(SecretStr("token"), "http://127.0.0.1:9/api/")
    rest._shut["users.info"] = time.monotonic() + 60
    async with asyncio.timeout(MINUTE / 2):
        for _ in range(METHODS["users.info"] - 1):
            await window.take()
        for _ in range(20):
            await window.take()
            window.give_back()
        await window.take()
        for _ in range(METHODS["users.info"] + 1):
            await refused(rest, "users.info")


def test_the_tiers_are_those_that_slack_has() -> None:
    assert {name: Slack.TIERS[Slack.METHODS[name]] for name in METHODS} == METHODS
    assert MINUTE > 60


class MovedTransport:
    """Events come as long as a test says so."""

    signing_secret = ""

    def __init__(self) -> None:
        self.connected = False
        self.says_hello = asyncio.Event()

    def routes(self, app: AsyncApp) -> list[web.RouteDef]:
        return []

    async def serve(self, app: AsyncApp, missed: Missed) -> None:
        while True:
            await self.says_hello.wait()
            self.says_hello.clear()
            self.connected = True
            await missed()


class NoWorkspaces:
    """No workspace has installed the app."""

    app = SlackRest(SecretStr("xoxb-1"), "http://127.0.0.1:9/api/")

    async def teams(self) -> list[str]:
        return []


async def test_events_that_stop_are_noticed_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slack_connection, "LOOK_SECONDS", 0.01)
    transport, heard = MovedTransport(), asyncio.Queue[Inbound]()
    nobody = cast(Workspaces, NoWorkspaces())
    connection = SlackConnection(nobody, transport, Site("127.0.0.1", 0))
    async with beside(connection.run(cast(Any, None), heard.put, SlackVenue(nobody))):
        for _ in range(2):
            transport.says_hello.set()
            assert await asyncio.wait_for(heard.get(), HANG_SECONDS) == ConnectionGap("missed")
            await asyncio.sleep(0.05)  # it is looked several times
            transport.connected = False
            assert await asyncio.wait_for(heard.get(), HANG_SECONDS) == ConnectionGap("lost")


class BriefTransport(MovedTransport):
    """Every connection ends after a while; `served` are those that there were."""

    served = 0

    async def serve(self, app: AsyncApp, missed: Missed) -> None:
        self.served += 1
        await asyncio.sleep(0.03)
        raise VenueAwayError("Slack closed it.", retry_after=0.0)


async def test_a_connection_that_lasted_is_followed_by_the_next_as_soon_as_the_first_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each loss in a process's life doubled the pause after the next, up to a minute."""
    monkeypatch.setattr(slack_connection, "STEADY_SECONDS", 0.02)
    transport, nobody = BriefTransport(), cast(Workspaces, NoWorkspaces())
    connection = SlackConnection(nobody, transport, Site("127.0.0.1", 0), first_pause=0.02)
    async with beside(connection.run(cast(Any, None), _hear, SlackVenue(nobody))):
        await until(lambda: transport.served >= 10, 3)


async def _hear(_: Inbound) -> None:
    """Hear nothing of it."""


def reaction(user: str, option: str) -> ReactionSeen:
    return ReactionSeen("T1:C1/1.5", "2.5", user, option, True)


async def test_a_persons_events_wait_for_one_another_and_for_nobody_elses() -> None:
    slow, heard = asyncio.Event(), list[Inbound]()

    async def listener(event: Inbound) -> None:
        if event == reaction("ada", "A"):
            await slow.wait()
        heard.append(event)

    events = InOrder(listener)
    ada = [
        asyncio.ensure_future(events.hear("ada", reaction("ada", option))) for option in ("A", "B")
    ]
    await asyncio.wait_for(events.hear("ben", reaction("ben", "B")), HANG_SECONDS)
    assert heard == [reaction("ben", "B")]
    assert not any(task.done() for task in ada)
    slow.set()
    await asyncio.gather(*ada)
    assert heard[1:] == [reaction("ada", "A"), reaction("ada", "B")]


async def test_one_that_fails_says_so_and_holds_the_next_not_up() -> None:
    heard = list[Inbound]()

    async def listener(event: Inbound) -> None:
        if isinstance(event, CommunityChanged):
            raise OSError("the disk is full")
        heard.append(event)

    events = InOrder(listener)
    failed, later = await asyncio.gather(
        events.hear("ada", CommunityChanged("T1", lost=True)),
        events.hear("ada", ConnectionGap("missed")),
        return_exceptions=True,
    )
    assert isinstance(failed, OSError)
    assert later is None
    assert heard == [ConnectionGap("missed")]


HOSTILE = "<!channel> <@U1> @everyone **bold** `code` ||spoiler|| & [a](https://a.example) _x_ "
TEXTS = st.text(st.sampled_from("ab &<@!>*_`|😀 \n"), max_size=600).map(lambda text: text * 40)


def letters(text: str) -> str:
    return "".join(char for char in text if char in "ab😀")


@given(TEXTS)
def test_no_plain_piece_is_over_the_platforms_limits_and_nothing_is_lost(text: str) -> None:
    posts = [DiscordPayload.of(p).body["content"] for p in discord.plain(text, "k7·3·1/1")]
    assert all(len(post.encode("utf-16-le")) // 2 <= Discord.CONTENT for post in posts)
    lines = [post.rpartition("\n")[0] for post in posts]
    assert letters("".join(lines)) == letters(clean(text))
    said = [SlackPayload.of(p).text for p in slack.plain(text, "k7·3·1/1")]
    assert all(len(post) <= Slack.SPLIT_TEXT for post in said)


def test_plain_text_shows_every_mark_as_it_is_and_notifies_no_one() -> None:
    for part in slack.plain(HOSTILE * 100, "k7·3·2/3"):
        assert "<" not in SlackPayload.of(part).text
        assert SlackPayload.of(part).blocks == []
        assert SlackPayload.of(part).body(part.reference)["mrkdwn"] is False
    [part] = discord.plain("**a** <@1> `x`", "k7·3·1/1")
    content = DiscordPayload.of(part).body["content"]
    assert content == "\\*\\*a\\*\\* \\<\\@1\\> \\`x\\`\n-# #3 · k7"


def test_a_refused_part_says_the_same_without_markup() -> None:
    [part] = discord.parts(speech("Tea wakes."), "k7·3")
    [plain] = discord.plain(part, part.reference)
    assert plain.plain
    assert plain.reference == part.reference
    said = DiscordPayload.of(plain).body["content"]
    assert said == "🔵 A · opening · turn 1 of 8\nTea wakes\\.\n-# #3 · k7"
    [part] = slack.parts(speech("Tea & <b> wakes."), "k7·3")
    [plain] = slack.plain(part, part.reference)
    text = SlackPayload.of(plain).text
    assert text.endswith("A · opening · turn 1 of 8\nTea &amp; &lt;b&gt; wakes.\n#3")
    # Further pieces have references of their own, and an empty text is one piece.
    assert numbered("k7·3·2/3", 3) == ["k7·3·2/3", "k7·3·2.2/3", "k7·3·2.3/3"]
    assert chop("", 10) == ("",)
