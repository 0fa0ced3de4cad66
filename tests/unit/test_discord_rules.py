"""What Discord's answers mean, what it must allow, and how often it may be asked."""

from __future__ import annotations

import asyncio
import base64
import time
from types import SimpleNamespace
from typing import Any

import aiohttp
import discord
import pytest

from adapters.discord import presence
from adapters.discord.errors import Act, UnreadyError, explain
from adapters.discord.permissions import (
    NEEDED,
    application_id_of,
    in_channel,
    invite_link,
    missing,
)
from adapters.discord.presence import Identifies, Presence
from adapters.discord.render import emoji_of, reaction_of
from engine.delivery.pace import ChannelPace
from engine.values.errors import (
    MessageGoneError,
    SettingsError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
    VenueLockedError,
)
from engine.values.text import REACTIONS, split_variant
from tests.doubles.facts import Code, Discord
from tests.kit import HANG_SECONDS, skipped_time


def refusal(code: Code, text: str = "No.", *, status: int = 0) -> discord.HTTPException:
    response: Any = SimpleNamespace(status=status or code.status, reason="x")
    kinds = {403: discord.Forbidden, 404: discord.NotFound}
    kind = kinds.get(response.status, discord.HTTPException)
    return kind(response, {"code": code, "message": text})


@pytest.mark.parametrize(
    ("error", "act", "kind", "said"),
    [
        (refusal(Code.UNKNOWN_CHANNEL), Act.POST, VenueGoneError, "was deleted"),
        (refusal(Code.UNKNOWN_MESSAGE), Act.READ, MessageGoneError, "A message in <#7>"),
        (refusal(Code.MISSING_ACCESS), Act.READ, VenueGoneError, "View Channel"),
        (refusal(Code.MISSING_PERMISSIONS), Act.POST, VenueGoneError, "Send Messages in Threads"),
        (refusal(Code.MISSING_PERMISSIONS), Act.REACT, VenueError, "Add Reactions"),
        (refusal(Code.MISSING_PERMISSIONS), Act.REMOVE, VenueError, "Manage Messages"),
        (refusal(Code.MISSING_PERMISSIONS), Act.READ, VenueError, "Read Message History"),
        (refusal(Code.THREAD_ARCHIVED), Act.POST, VenueLockedError, "unlock"),
        (refusal(Code.THREAD_LOCKED), Act.EDIT, VenueLockedError, "grant Manage Threads"),
        (refusal(Code.TOO_MANY_THREADS), Act.THREAD, VenueError, "archive some"),
        (refusal(Code.NONE, status=401), Act.POST, VenueGoneError, "ROSTRUM_DISCORD__TOKEN"),
        (refusal(Code.INVALID_FORM, "Must be 4096"), Act.POST, VenueError, "Must be 4096"),
        (
            UnreadyError(429, 1.0, False, Code.TOO_OLD_TO_EDIT),
            Act.EDIT,
            VenueError,
            "posted as a new message",
        ),
    ],
)
def test_a_refusal_is_a_sentence_that_says_what_to_do(
    error: Exception, act: Act, kind: type[VenueError], said: str
) -> None:
    explained = explain(error, act, "7", "9")
    assert type(explained) is kind
    assert said in str(explained)


@pytest.mark.parametrize(
    ("error", "maybe_stored"),
    [
        (UnreadyError(429, 2.5, False), False),
        (UnreadyError(503, 1.0, False), True),
        (aiohttp.ServerDisconnectedError(), True),
        (ConnectionResetError(), True),
        (TimeoutError(), True),
    ],
)
def test_a_failure_says_whether_the_message_may_be_there(
    error: Exception, maybe_stored: bool
) -> None:
    explained = explain(error, Act.POST, "7")
    assert isinstance(explained, VenueAwayError)
    assert explained.maybe_stored is maybe_stored
    if not maybe_stored:
        assert explained.retry_after == 2.5


def test_emojis_are_known_with_and_without_their_mark() -> None:
    for option, emoji in REACTIONS.items():
        assert reaction_of(emoji) == option
        assert reaction_of(emoji.replace("\ufe0f", "")) == option
    assert reaction_of("🎉") is None
    assert reaction_of(None) is None
    assert len(set(REACTIONS.values())) == len(REACTIONS)
    # No message has letters beside colours.
    assert len([one for one in REACTIONS if not one.startswith("letter")]) <= Discord.EMOJIS


@pytest.mark.parametrize("emoji", ["🤝", "🤝🏽", "🫱🏻\u200d🫲🏿", "👍🏿"])
def test_an_emoji_in_any_skin_tone_is_a_vote_and_reads_back(emoji: str) -> None:
    option = "up" if emoji[0] == "👍" else "tie"
    for burst in (False, True):
        reaction = reaction_of(emoji, burst=burst)
        assert reaction is not None
        assert split_variant(reaction)[0] == option
        assert emoji_of(reaction) == emoji
    assert reaction_of(emoji) != reaction_of(emoji, burst=True)


def test_the_link_asks_for_exactly_what_is_needed() -> None:
    link = invite_link(123)
    usable = NEEDED | discord.Permissions(manage_webhooks=True)  # which an admin may untick
    assert f"permissions={usable.value}" in link
    assert "scope=bot+applications.commands" in link
    assert not NEEDED.manage_messages
    assert not NEEDED.manage_webhooks
    assert not NEEDED.administrator
    secret = invite_link(123, secret_ballots=True)
    assert f"permissions={usable.value | discord.Permissions(manage_messages=True).value}" in secret


def test_a_token_says_whose_it_is() -> None:
    head = base64.urlsafe_b64encode(b"123456789012345678").decode().rstrip("=")
    assert application_id_of(f" {head}.abc.def ") == 123456789012345678
    with pytest.raises(SettingsError, match="ROSTRUM_DISCORD__TOKEN"):
        application_id_of("not a token")


def test_a_channel_may_take_permissions_away_and_give_them_back() -> None:
    send = discord.Permissions(send_messages=True).value
    overwrites = [
        {"id": "1", "allow": "0", "deny": str(send)},
        {"id": "5", "allow": str(send), "deny": "0"},
    ]
    closed = in_channel(NEEDED, overwrites, guild="1", roles=[], me="9")
    assert missing(closed) == ["Send Messages"]
    opened = in_channel(NEEDED, overwrites, guild="1", roles=["5"], me="9")
    assert missing(opened) == []
    everything = discord.Permissions(administrator=True)
    assert missing(in_channel(everything, overwrites, guild="1", roles=[], me="9")) == []


async def test_no_more_than_five_messages_in_five_gaps() -> None:
    pace, sent = ChannelPace(0.02), []
    with skipped_time():
        for _ in range(12):
            async with pace.turn("lobby"):
                sent.append(time.monotonic())
    assert all(later - earlier > 5 * 0.02 for earlier, later in zip(sent, sent[5:], strict=False))


async def test_channels_do_not_wait_for_one_another() -> None:
    pace = ChannelPace(30.0)
    async with asyncio.timeout(HANG_SECONDS):
        for place in ("one", "two", "three"):
            async with pace.turn(place):
                pass


async def test_a_long_queue_is_served_in_order_and_refuses_nobody() -> None:
    pace, sent = ChannelPace(0.005), list[int]()

    async def send(number: int) -> None:
        async with pace.turn("lobby"):
            sent.append(number)

    async with asyncio.timeout(HANG_SECONDS):
        await asyncio.gather(*map(send, range(50)))
    assert sent == list(range(50))


async def test_a_slow_answer_costs_no_turn_and_none_leaves_before_it() -> None:
    pace, left = ChannelPace(0.1), list[float]()
    with skipped_time():
        for _ in range(5):
            async with pace.turn("lobby"):
                left.append(time.monotonic())
                await asyncio.sleep(0.05)
    assert 0.4 <= left[-1] - left[0] < 0.6  # 0.15 s apart they would be, were it after the answer


def test_a_wait_of_our_own_is_no_silence_of_discord() -> None:
    presence = Presence()
    presence.begin(2)
    assert presence.silence == 0  # nothing was asked for yet
    presence.expect()
    assert presence.silence > 0
    with presence.pausing():
        presence.heard(0)
        assert (presence.connected, presence.silence) == (False, 0)
    assert presence.silence > 0
    presence.heard(1)
    assert (presence.connected, presence.silence) == (True, 0)
    presence.lost(0)
    assert (presence.connected, presence.silence > 0) == (False, True)


async def test_introductions_are_never_more_than_discord_takes_in_a_day(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(presence, "DAY", 0.2)
    identifies, made = Identifies(total=100, gap=0.0), 0
    with skipped_time():
        began = time.monotonic()
        while time.monotonic() - began < 0.2:
            await identifies.wait()
            made += 1
    assert made <= 100
