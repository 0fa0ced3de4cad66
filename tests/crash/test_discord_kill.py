"""The process that serves Discord is killed at every send and every vote of one debate.

In `make test` it is killed at the first send of each kind, and at the votes of one person.

A send is killed twice: before Discord has stored it, and after, before its answer. Sides speak by a
webhook. Discord runs in a process of its own, remembers no nonce, and what it holds in the end is
the oracle.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from engine.words import cards as card_markdown
from tests.crash.bot import Act, Bot, Held, Send, Voters
from tests.crash.conftest import NewScene, Scene
from tests.doubles.discord import Remote, hang
from tests.doubles.discord.state import Json
from tests.doubles.facts import on_discord
from tests.doubles.faults import When
from tests.scenario.discord_stage import OPTIONS, counted_in

MESSAGES = "/channels/*/messages"
BEFORE_VOTES = (
    Send("POST", MESSAGES),  # the announcement
    Send("POST", f"{MESSAGES}/*/threads"),
    Send("POST", "/channels/*/webhooks"),
    Send("POST", "/webhooks/*/*", times=8, text='"username"'),  # the turns
    Send("POST", MESSAGES),  # the invitation to vote
    Send("PUT", f"{MESSAGES}/*/reactions/*/@me", times=4),
)
AFTER_VOTES = (
    Send("PATCH", f"{MESSAGES}/*", text=card_markdown.CLOSED_EARLY),
    Send("POST", MESSAGES),  # the reveal
)
# Of four removals the second is killed: what went before it is not asked for in vain.
OWN = f"{MESSAGES}/*/reactions/{{}}/@me"
SECOND_REMOVAL = Send("DELETE", OWN.format(OPTIONS["B"]))
SENDS = (*BEFORE_VOTES, *AFTER_VOTES, Send("DELETE", OWN.format("*"), times=4))
OPEN = ("votes.open connection, before", "votes.open connection, after")
CLOSE = ("votes.close debate, before", "votes.close debate, after")
# One person changes to another option, one stays, and one withdraws.
ACTS = ((0, "+", "A"), (1, "+", "B"), (0, "+", "tie"), (0, "-", "A"), (2, "+", "A"), (2, "-", "A"))
TOLD = {"before": ("ada", "ben", "cleo"), "after": ("dan", "eve", "fay")}


class DiscordBot(Bot[Remote]):
    """The bot's processes on Discord."""

    driver = "discord_driver"
    voters = Voters(ACTS, TOLD, untold=("gus", "hal", "ida"))
    # Raise or lower it knowingly: sends twice, openings and closings twice, votes, and one absence.
    deaths = 2 * (1 + 1 + 1 + 8 + 1 + 4) + 2 + 2 * 6 + 1 + 2 + 2 * (1 + 1 + 1)
    votes = 6
    other_points = (*OPEN, *CLOSE)

    async def be_killed(self) -> None:
        """Lead a debate to its end through every kill."""
        await self.kill_at(BEFORE_VOTES, self.start)
        await self.die(len(OPEN))
        await self.die_at_votes()
        met = len(self.scene.met)
        await self.close()
        await self.die(met + 1)
        await self.kill_at((*AFTER_VOTES, SECOND_REMOVAL), self.close)

    async def hang(self, send: Send, when: When) -> None:
        silence = hang(when, everywhere=True)
        await self.platform.fail(silence, send.method, send.path, text=send.text)

    async def start(self) -> None:
        await self.platform.until(lambda state: state["commands"])
        await self.platform.act("slash", "ada", "debate start", {"topic": "Tea beats coffee"})

    async def vote(self, act: Act) -> None:
        state = await self.platform.state()
        [thread] = threads(state)
        [ballot] = [m for m in state["messages"][thread] if author(m) == card_markdown.INVITE]
        way = "react" if act.sign == "+" else "unreact"
        await self.platform.act(way, act.user, ballot["id"], OPTIONS[act.option])

    async def close(self) -> None:
        [thread] = threads(await self.platform.state())
        await self.platform.act("slash", "olga", "debate close", channel=thread)

    @staticmethod
    def is_open(state: Json) -> bool:
        return "Vote now in" in announced(state)

    @staticmethod
    def is_over(state: Json) -> bool:
        # The announcement may say so before the thread has it.
        said = str(state["messages"])
        posted = all(
            f"'{title}'" in said for title in (card_markdown.CLOSED_EARLY, card_markdown.REVEAL)
        )
        [thread] = threads(state)
        held = [m["holders"].values() for m in state["messages"][thread]]
        seeds = sum("Rostrum" in names for holders in held for names in holders)
        return posted and not seeds and "the whole debate" in announced(state)


class AtEachKind(DiscordBot):
    """Processes killed once at each kind of send and vote."""

    everywhere = False
    voters = Voters(((0, "+", "A"), (0, "+", "tie"), (0, "-", "A")), TOLD, untold=("gus",))
    deaths = 2 * (1 + 1 + 1 + 1 + 1 + 1) + 2 + 2 * 3 + 1 + 2 + 2 * (1 + 1 + 1)
    votes = 3


async def hold(
    bot: type[DiscordBot], scene: Scene, lead: Callable[[DiscordBot], Awaitable[None]], doomed: bool
) -> Held:
    """Hold a debate on a platform of its own."""
    async with Remote.spawned(scene.folder) as discord:
        await discord.set_rules(nonce_seconds=0.0)
        await discord.act("allow", "manage_webhooks")
        return await bot.hold(scene, discord, lead, doomed=doomed)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(AtEachKind, id="each-kind"),
        pytest.param(DiscordBot, id="every-send", marks=pytest.mark.slow),
    ],
)
def bot(request: pytest.FixtureRequest) -> type[DiscordBot]:
    """Where processes die."""
    kind: type[DiscordBot] = request.param
    return kind


@pytest.fixture(scope="module")
def both(bot: type[DiscordBot], new_scene: NewScene) -> tuple[Held, Held]:
    """A debate that nothing happened to; and beside it one whose process dies."""
    return asyncio.run(bot.hold_both(new_scene, partial(hold, bot)))


@pytest.fixture(scope="module")
def clean(both: tuple[Held, Held]) -> Held:
    """The debate that nothing happened to."""
    return both[0]


@pytest.fixture(scope="module")
def killed(both: tuple[Held, Held]) -> Held:
    """The debate whose process was killed at point after point."""
    return both[1]


def threads(state: Json) -> list[str]:
    return [place["id"] for place in state["channels"] if "thread_metadata" in place]


def announced(state: Json) -> str:
    posted = state["messages"].get(state["channel"], [])
    return "".join(message["text"] for message in posted[:1])


def author(message: Json) -> str:
    return str(message["embeds"][0].get("author", {}).get("name", "")) if message["embeds"] else ""


def reference(message: Json) -> list[str]:
    """Return the parts of a message's reference: debate, number, piece."""
    return on_discord(message).split("·")


def shown(message: Json) -> tuple[str, list[str]]:
    """Return what a message is, and its place in the debate; a debate's code is its own."""
    code, *place = reference(message)
    return author(message).replace(code, ""), place


def messages(held: Held) -> list[Json]:
    """Return every message, those of the channel first."""
    channel, [thread] = held.state["channel"], threads(held.state)
    found: dict[str, list[Json]] = held.state["messages"]
    return [*found[channel], *found[thread]]


def titled(held: Held, title: str) -> Json:
    """Return the message with this author line."""
    return next(message for message in messages(held) if author(message) == title)


def count(held: Held, send: Send) -> int:
    """Count the requests of a kind."""
    path = re.compile(send.path.replace("*", "[^/]+"))
    return sum(
        call["method"] == send.method
        and bool(path.fullmatch(call["path"]))
        and send.text in call["text"]
        for call in held.sent
    )


# --- what must be true in the end ----------------------------------------------------------


def test_every_send_and_vote_was_a_kill(bot: type[DiscordBot], clean: Held, killed: Held) -> None:
    for send in {(send.method, send.path, send.text): send for send in SENDS}.values():
        expected = sum(s.times for s in SENDS if s._replace(times=1) == send._replace(times=1))
        assert count(clean, send) == expected, send
    assert set(killed.scene.met) == bot.points(killed.state["users"])
    assert killed.kills == bot.deaths


def test_people_read_the_same_messages_in_the_same_thread(clean: Held, killed: Held) -> None:
    assert len(threads(killed.state)) == 1
    assert list(map(shown, messages(killed))) == list(map(shown, messages(clean)))


def test_each_turn_is_there_once_under_its_sides_name_by_one_webhook(
    clean: Held, killed: Held
) -> None:
    for held in (clean, killed):
        named = [m["author"]["username"] for m in messages(held) if m.get("webhook_id")]
        assert len(named) == 8
        assert len(set(named[::2])) == len(set(named[1::2])) == 1
        assert named[0].startswith("🔵 A · ")
        assert named[1].startswith("🔴 B · ")
        assert held.state["webhooks"] == ["Rostrum"]


def test_nothing_is_there_twice(killed: Held) -> None:
    assert max(Counter(map(str, map(reference, messages(killed)))).values()) == 1
    assert killed.state["pings"] == []
    assert killed.state["violations"] == []


def test_the_votes_are_what_people_hold(bot: type[DiscordBot], clean: Held, killed: Held) -> None:
    for held in (clean, killed):
        holders = titled(held, card_markdown.CLOSED_EARLY)["holders"]
        shown = {
            held.state["users"][name]: option
            for option, emoji in OPTIONS.items()
            for name in holders.get(emoji, ())
            if name != "Rostrum"
        }
        assert held.scene.votes() == shown
        counts = Counter(shown.values())
        assert counted_in(titled(held, card_markdown.REVEAL)["text"]) == {
            o: counts[o] for o in OPTIONS
        }
    assert len(killed.scene.votes()) == bot.votes
