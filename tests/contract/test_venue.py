"""What every Venue must do, asked of each one alike."""

import asyncio
import io
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr
from rich.console import Console

from adapters.discord.rest import DiscordRest
from adapters.discord.venue import DiscordVenue
from adapters.slack import render as slack_votes
from adapters.slack.rest import SlackRest
from adapters.slack.venue import SlackVenue
from adapters.slack.workspaces import OneWorkspace
from adapters.terminal.venue import TerminalVenue
from engine.values.errors import MessageGoneError, VenueAwayError, VenueError, VenueGoneError
from engine.values.messages import (
    AgainInvite,
    ConfidenceInvite,
    Message,
    Notice,
    RoundInvite,
    StanceInvite,
    TurnPost,
    VoteClosed,
    VoteInvite,
)
from engine.values.ports import (
    ButtonPressed,
    Inbound,
    ReactionsCleared,
    ReactionSeen,
    ThreadChanged,
)
from engine.values.protocols import Venue
from engine.values.text import REACTIONS
from tests.doubles.discord import DiscordServer, Rates
from tests.doubles.slack import Rules, SlackServer
from tests.doubles.slack.state import TEAM
from tests.doubles.venue import Fault, MemoryVenue
from tests.kit import HANG_SECONDS, announcement, speech

OPTIONS = ("A", "B", "tie", "weak")
REFERENCE = re.compile(r"#\d+(?: · \d+/\d+)?(?: · k7f2qz)?")


@dataclass
class Stage:
    """A venue on its platform, and what people do and see there."""

    venue: Venue
    channel: str
    react: Callable[[str, str, str, str], Awaitable[None]]
    unreact: Callable[[str, str, str, str], Awaitable[None]]
    seen: Callable[[], str]
    missing: str = "m404"  # the reference of a message that does not exist
    user: Callable[[str], str] = str  # a person's id on the platform


def memory(folder: Path) -> Stage:
    venue = MemoryVenue()
    return Stage(venue, "lobby", venue.react, venue.unreact, venue.said)


def terminal(folder: Path, *, tty: bool = False) -> Stage:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=tty, width=100, color_system=None)
    venue = TerminalVenue(console, record=folder / "transcript.jsonl")

    async def react(user: str, place: str, message: str, option: str) -> None:
        await venue.hold(user, option)

    async def unreact(user: str, place: str, message: str, option: str) -> None:
        await venue.drop(user, option)

    return Stage(venue, "terminal", react, unreact, screen.getvalue)


@asynccontextmanager
async def discord() -> AsyncIterator[Stage]:
    async with DiscordServer(rates=Rates.generous()) as server:
        for name in ("bob", "cy", "ann"):
            server.add_user(name)
        server.add_role("loud", "mention_everyone", holder=server.world.bot.id)
        rest = DiscordRest(SecretStr(server.token), server.api_url)
        venue = DiscordVenue(rest, gap=0.0)

        async def react(user: str, place: str, message: str, option: str) -> None:
            server.react(user, message, REACTIONS[option])

        async def unreact(user: str, place: str, message: str, option: str) -> None:
            if user in server.holders(message, REACTIONS[option]):
                server.unreact(user, message, REACTIONS[option])

        def seen() -> str:
            places = list(server.world.channels)
            return "\n".join(m.text for p in places for m in server.messages(p))

        def user_id(name: str) -> str:
            return server.users[name].id

        yield Stage(venue, server.channel.id, react, unreact, seen, "404404", user_id)
        await rest.close()
        assert server.world.pings == []


@asynccontextmanager
async def slack() -> AsyncIterator[Stage]:
    async with SlackServer(rules=Rules.generous()) as server:
        for name in ("bob", "cy", "ann"):
            server.add_user(name)
        rest = SlackRest(SecretStr(server.bot_token), server.api_url, minute=0.0)
        venue = SlackVenue(OneWorkspace(rest), gap=0.0)

        async def react(user: str, place: str, message: str, option: str) -> None:
            name = slack_votes.NAMES[option]
            if user not in server.holders(message, name):
                await server.react(user, message, name)

        async def unreact(user: str, place: str, message: str, option: str) -> None:
            if user in server.holders(message, slack_votes.NAMES[option]):
                await server.unreact(user, message, slack_votes.NAMES[option])

        def seen() -> str:
            return "\n".join(message.text for message in server.world.everything())

        def user_id(name: str) -> str:
            return server.users[name].id

        channel = f"{TEAM}:{server.channel.id}"
        yield Stage(venue, channel, react, unreact, seen, "404.000404", user_id)
        await rest.close()
        assert server.pings == []


VENUES: dict[str, Callable[[Path], Stage]] = {
    "memory": memory,
    "terminal": terminal,
    "terminal-tty": lambda folder: terminal(folder, tty=True),
}


PLATFORMS = {"discord": discord, "slack": slack}


@pytest.fixture(params=[*VENUES, *PLATFORMS])
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    if request.param in PLATFORMS:
        async with PLATFORMS[request.param]() as made:
            yield made
    else:
        yield VENUES[request.param](tmp_path)


def turn(text: str, number: int = 1) -> TurnPost:
    return speech(text, number=number, words=len(text.split()))


INVITE = VoteInvite(options=OPTIONS, minutes=30, quorum=5)


async def post(stage: Stage, message: Message, number: int = 1, place: str = "") -> str:
    refs = [
        await stage.venue.post(place or stage.channel, part)
        for part in stage.venue.render(message, f"k7f2qz·{number}")
    ]
    return refs[0]


async def invited(stage: Stage) -> str:
    message = await post(stage, INVITE)
    await stage.venue.seed(stage.channel, message, OPTIONS)
    return message


def test_rendering_is_pure_and_numbers_its_parts(stage: Stage) -> None:
    message = turn("A sentence that goes on. " * 400)
    parts = stage.venue.render(message, "k7f2qz·3")
    assert parts == stage.venue.render(message, "k7f2qz·3")
    n = len(parts)
    assert [p.reference for p in parts] == [f"k7f2qz·3·{i}/{n}" for i in range(1, n + 1)]
    assert 0 < stage.venue.limits.send_seconds < 9, "a lease has time to spare"
    assert stage.venue.limits.typing_seconds > 0


def test_every_kind_of_message_has_a_part(stage: Stage) -> None:
    closed = VoteClosed(options=OPTIONS, votes=0)
    stance = StanceInvite(topic="T", after=False, options=("up", "down", "unsure"), seconds=60)
    again = AgainInvite(options=OPTIONS, minutes=60)
    ahead = RoundInvite(round="opening", options=("A", "B", "even"))
    sure = ConfidenceInvite(options=("close", "clear", "onesided"))
    invites = (INVITE, stance, again, ahead, sure)
    for message in (announcement("T"), turn(""), *invites, closed, Notice(text="")):
        assert stage.venue.render(message, "k7f2qz·1")


async def test_turns_of_a_place_come_in_order_and_another_place_waits_for_none(
    stage: Stage,
) -> None:
    order: list[int] = []

    async def take(number: int) -> None:
        async with stage.venue.turn(stage.channel, first=number == 3):
            await post(stage, turn("Said."), number)
            order.append(number)

    async with asyncio.timeout(HANG_SECONDS):
        await asyncio.gather(*map(take, range(1, 5)))
        async with stage.venue.turn(stage.channel), stage.venue.turn(f"{stage.channel}9"):
            pass
    assert order == [1, 2, 3, 4]


async def test_a_post_is_seen_with_its_number_and_found_by_its_reference_after_what_came_before(
    stage: Stage,
) -> None:
    first = await post(stage, turn("one"), 1)
    second = await post(stage, turn("two"), 2)
    find = stage.venue.find
    assert await find(stage.channel, "k7f2qz·2·1/1", None) == second
    assert await find(stage.channel, "k7f2qz·2·1/1", first) == second
    assert await find(stage.channel, "k7f2qz·1·1/1", first) is None
    assert await find(stage.channel, "k7f2qz·9·1/1", None) is None
    await post(stage, turn("Remote work pays."), 3)
    assert "Remote work pays." in stage.seen()
    assert "#3" in stage.seen()
    assert "k7f2qz·3·1/1" not in stage.seen()


async def test_a_message_of_ours_is_deleted_and_then_it_is_gone(stage: Stage) -> None:
    if stage.venue.erase is None:  # what is on a screen stays there
        assert stage.venue.platform == "terminal"
        return
    first = await post(stage, turn("unheard-of"), 1)
    await post(stage, turn("another"), 2)
    await stage.venue.erase(stage.channel, first)
    with pytest.raises(MessageGoneError):
        await stage.venue.erase(stage.channel, first)
    assert await stage.venue.find(stage.channel, "k7f2qz·1·1/1", None) is None
    assert await stage.venue.find(stage.channel, "k7f2qz·2·1/1", None) is not None


async def test_a_thread_is_opened_once_and_what_is_in_it_not_found_elsewhere(stage: Stage) -> None:
    message = await post(stage, announcement("T"))
    thread = await stage.venue.open_thread(stage.channel, message, "T")
    assert await stage.venue.open_thread(stage.channel, message, "T") == thread
    assert thread != stage.channel
    await post(stage, turn("inside"), 2, thread)
    assert await stage.venue.find(stage.channel, "k7f2qz·2·1/1", None) is None
    assert await stage.venue.find(thread, "k7f2qz·2·1/1", None) is not None


async def test_an_edit_shows_the_new_state_and_keeps_the_message(stage: Stage) -> None:
    message = await invited(stage)
    closed = VoteClosed(options=OPTIONS, votes=6)
    part = stage.venue.render(closed, "k7f2qz·1")[0]
    await stage.venue.edit(stage.channel, message, part)
    assert "closed" in stage.seen()
    assert "6 votes" in stage.seen()
    assert await stage.venue.find(stage.channel, "k7f2qz·1·1/1", None) == message


async def test_seeds_are_made_once_and_are_nobodys_vote(stage: Stage) -> None:
    message = await invited(stage)
    for missing in (OPTIONS, OPTIONS[:1], ()):  # a look at what is there takes nothing away
        await stage.venue.seed(stage.channel, message, missing)
    read = await stage.venue.reactions(stage.channel, message)
    assert read.seeded == set(OPTIONS)
    assert not any(read.holders.values())
    assert read.complete


async def test_the_bots_own_reactions_go_and_what_people_hold_stays(stage: Stage) -> None:
    message = await invited(stage)
    await stage.react("ann", stage.channel, message, "A")
    await stage.react("bob", stage.channel, message, "B")
    for _ in range(2):  # the second time there is nothing left to remove
        await stage.venue.remove_own_reactions(stage.channel, message, OPTIONS)
    read = await stage.venue.reactions(stage.channel, message)
    held = {option: set(users) for option, users in read.holders.items() if users}
    assert held == {"A": {stage.user("ann")}, "B": {stage.user("bob")}}
    if stage.venue.platform == "terminal":  # it shows none; the options stay known
        assert read.seeded == set(OPTIONS)
        return
    assert not read.seeded
    with pytest.raises(MessageGoneError):
        await stage.venue.remove_own_reactions(stage.channel, stage.missing, OPTIONS)


async def test_reactions_are_what_people_hold_now(stage: Stage) -> None:
    message = await invited(stage)
    for user, option in (("ann", "A"), ("ann", "B"), ("bob", "B"), ("bob", "B"), ("cy", "tie")):
        await stage.react(user, stage.channel, message, option)
    await stage.unreact("ann", stage.channel, message, "A")
    await stage.unreact("cy", stage.channel, message, "weak")
    read = await stage.venue.reactions(stage.channel, message)
    held = {option: set(users) for option, users in read.holders.items() if users}
    ann, bob, cy = map(stage.user, ("ann", "bob", "cy"))
    assert held == {"B": {ann, bob}, "tie": {cy}}


async def test_a_reaction_is_taken_away_where_a_venue_states_that_it_can(stage: Stage) -> None:
    message = await invited(stage)
    await stage.react("ann", stage.channel, message, "A")
    await stage.react("bob", stage.channel, message, "A")
    ann, bob = map(stage.user, ("ann", "bob"))
    if stage.venue.remove_reaction is None:
        assert stage.venue.platform in ("terminal", "slack")
        return
    for _ in range(2):  # the second time there is nothing left to take away
        await stage.venue.remove_reaction(stage.channel, message, ann, "A")
    read = await stage.venue.reactions(stage.channel, message)
    assert read.holders["A"] == {bob}
    assert "A" in read.seeded


async def test_typing_begins_and_ends_and_disturbs_no_post(stage: Stage) -> None:
    typing = stage.venue.typing
    if typing is None:
        assert stage.venue.platform == "slack"
        return
    await typing(stage.channel, ["A", "B"])
    await post(stage, turn("Said while thinking."))
    await typing(stage.channel, ["B"])
    await typing(stage.channel, [])
    assert "Said while thinking." in stage.seen()


async def test_an_unknown_message_is_refused_in_a_sentence(stage: Stage) -> None:
    said = f"(?i)message .*{stage.missing}"
    with pytest.raises(MessageGoneError, match=said):
        await stage.venue.reactions(stage.channel, stage.missing)
    with pytest.raises(MessageGoneError):
        await stage.venue.seed(stage.channel, stage.missing, ())
    with pytest.raises(VenueError, match=said):
        await stage.venue.edit(
            stage.channel, stage.missing, stage.venue.render(INVITE, "k7f2qz·1")[0]
        )


HOSTILE = {
    "mentions": "@everyone @here <@123> <!channel> <!subteam^S1> <#C1> done",
    "markup": "[red]not red[/red] [/] [link=x]y[/link] :smile: [bold",
    "jinja": "{{ 7*7 }} {% raw %} {0} {topic} %s $HOME done",
    "html": "<b>bold</b> <script>alert(1)</script> <!-- gone? --> &lt; &amp; done",
    "right to left": "שלום עולם! مرحبا بالعالم, then left",
    "emoji": "👨‍👩‍👧‍👦 🇹🇷 👍🏽 ok",
    "chinese": "人工智能将取代程序员。",
    "a fence nobody closed": "Look:\n```python\nprint('<x>')\nlast = 1",
    "links": "[text](http://x.example/a_b) ![alt](http://y.example/p.png)\n\n[r]: http://z.example",
    "table": "| a | b |\n|---|---|\n| cell1 | cell2 |\n\nafter",
    "deep": "> " * 60 + "bottom",
    "indented": " " * 200 + "far",
    "long": " ".join(f"word{i}" for i in range(1500)),
    "one word": "x" * 10_000,
}
TEXTUAL = re.compile(r"[^\W_]+")


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_text_is_shown_whole(stage: Stage, name: str) -> None:
    await post(stage, turn(HOSTILE[name]))
    shown = "".join(TEXTUAL.findall(REFERENCE.sub("", stage.seen())))
    position = 0
    for word in TEXTUAL.findall(HOSTILE[name].replace("&lt;", "").replace("&amp;", "")):
        if word == "python":  # the language of a block may be shown as colours
            continue
        position = shown.find(word, position)
        assert position >= 0, f"{word[:40]} is missing"
        position += len(word)


async def test_plain_text_is_shown_whole_and_pings_nobody(stage: Stage) -> None:
    for part in stage.venue.plain(HOSTILE["mentions"], "k7f2qz·9·1/1"):
        await stage.venue.post(stage.channel, part)
    for word in ("everyone", "here", "123", "channel", "S1", "C1", "done"):
        assert word in stage.seen()


async def test_control_characters_never_reach_the_platform(stage: Stage) -> None:
    await post(stage, turn("a\x1b[31mred\x1b]8;;http://evil\x07b\x00c\x9b2J\r\u202eover"))
    await post(stage, announcement(f"t\x1b[2Jopic\x07 {HOSTILE['markup']}"), 2)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", stage.seen())
    assert "over" in stage.seen()
    assert "[red]not red[/red] [/] [link=x]y[/link] :smile: [bold" in stage.seen()


async def test_the_double_in_memory_fails_as_platforms_do() -> None:
    venue = MemoryVenue()
    (part,) = venue.render(turn("said"), "k7f2qz·1")
    venue.lose_answer()
    with pytest.raises(VenueAwayError) as lost:
        await venue.post("lobby", part)
    assert lost.value.maybe_stored
    assert await venue.find("lobby", part.reference, None) == "m1"
    venue.misbehave("post", Fault(VenueError("No.")), Fault(delay=0.001))
    with pytest.raises(VenueError, match="No"):
        await venue.post("lobby", part)
    assert len(venue.places["lobby"]) == 1, "a fault stores nothing"
    assert await venue.post("lobby", part) == "m2"
    venue.refuse_reading()
    with pytest.raises(VenueError, match="grant the right to read"):
        await venue.find("lobby", part.reference, None)
    venue.go_away(60)
    with pytest.raises(VenueAwayError) as away:
        await venue.typing("lobby", ["A"])
    assert not away.value.maybe_stored
    assert 0 < away.value.retry_after <= 60
    venue.go_away(0)
    venue.delete("lobby")
    for _ in range(2):
        with pytest.raises(VenueGoneError, match="lobby was deleted"):
            await venue.find("lobby", part.reference, None)


async def test_the_double_in_memory_tells_what_people_and_moderators_do() -> None:
    heard: list[Inbound] = []

    async def hear(event: Inbound) -> None:
        heard.append(event)

    venue = MemoryVenue(listener=hear)
    venue.bots.add("robot")
    message = await venue.post("lobby", venue.render(INVITE, "k7f2qz·1")[0])
    await venue.seed("lobby", message, OPTIONS)
    for user in ("ann", "robot"):
        await venue.react(user, "lobby", message, "A")
    await venue.remove_reaction("lobby", message, "ann", "A")
    await venue.press("bob", "lobby", message, "B", "e1")
    await venue.clear(message, "A")
    assert (await venue.reactions("lobby", message)).seeded == set(OPTIONS) - {"A"}
    venue.listening = False
    await venue.react("bob", "lobby", message, "A")
    assert (await venue.reactions("lobby", message)).holders == {"A": frozenset({"bob"})}
    venue.listening = True
    venue.delete_message(message)
    await venue.delete_thread("lobby")
    assert heard == [
        ReactionSeen("lobby", message, "ann", "A", True),
        ReactionSeen("lobby", message, "ann", "A", False),
        ButtonPressed("lobby", message, "bob", "B", "e1"),
        ReactionsCleared("lobby", message, "A"),
        ThreadChanged("lobby", "deleted"),
    ]
