"""The process that serves Discord is killed at every send and every vote of one debate.

A send is killed twice: before Discord has stored it, and after, before its answer. Discord runs in
a process of its own, remembers no nonce, and what it holds in the end is the oracle.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

import orjson
import pytest

from engine import card_markdown
from tests.crash.conftest import Scene
from tests.crash.discord_bot import Bot, Send, serving
from tests.doubles.discord import Remote
from tests.doubles.discord.refusals import Json
from tests.scenario.discord_stage import OPTIONS, counted_in

MESSAGES = "/channels/*/messages"
BEFORE_VOTES = (
    Send("POST", MESSAGES),  # the announcement
    Send("POST", f"{MESSAGES}/*/threads"),
    Send("POST", MESSAGES, times=9),  # the turns, and the invitation to vote
    Send("PUT", f"{MESSAGES}/*/reactions/*/@me", times=4),
)
AFTER_VOTES = (
    Send("PATCH", f"{MESSAGES}/*", text=card_markdown.CLOSED_EARLY),
    Send("POST", MESSAGES),  # the reveal
)
SENDS = (*BEFORE_VOTES, *AFTER_VOTES)
OPEN = ("votes.open connection, before", "votes.open connection, after")
CLOSE = ("votes.close debate, before", "votes.close debate, after")
# Of three people one changes to another option, one stays, and one withdraws.
ACTS = ((0, "+", "A"), (1, "+", "B"), (0, "+", "tie"), (0, "-", "A"), (2, "+", "A"), (2, "-", "A"))
TOLD = {"before": ("ada", "ben", "cleo"), "after": ("dan", "eve", "fay")}
UNTOLD = ("gus", "hal", "ida")
NEWCOMERS = (*TOLD["after"], *UNTOLD)
# Raise or lower it knowingly: sends twice, openings and closings twice, votes, and one absence.
KILLS = 2 * (1 + 1 + 9 + 4) + 2 + 2 * 6 + 1 + 2 + 2 * (1 + 1)


@dataclass(frozen=True, slots=True)
class Held:
    """A debate that has been held to its end: Discord's state, and all that was sent to it."""

    state: Json
    sent: list[Json]
    scene: Scene
    kills: int

    @property
    def messages(self) -> list[Json]:
        """Every message, those of the channel first."""
        channel, [thread] = self.state["channel"], threads(self.state)
        found: dict[str, list[Json]] = self.state["messages"]
        return [*found[channel], *found[thread]]

    def titled(self, title: str) -> Json:
        """Return the message with this author line."""
        return next(message for message in self.messages if author(message) == title)

    def count(self, send: Send) -> int:
        """Count the requests of a kind."""
        path = re.compile(send.path.replace("*", "[^/]+"))
        return sum(
            call["method"] == send.method
            and bool(path.fullmatch(call["path"]))
            and send.text in call["text"]
            for call in self.sent
        )


@pytest.fixture(scope="module")
def clean(new_scene: Callable[[], Scene]) -> Held:
    """A debate that nothing happened to."""
    return asyncio.run(hold(new_scene(), hold_quietly, doomed=False))


@pytest.fixture(scope="module")
def killed(new_scene: Callable[[], Scene]) -> Held:
    """A debate whose process was killed at every point, one after the other."""
    return asyncio.run(hold(new_scene(), hold_killed, doomed=True))


async def hold(scene: Scene, lead: Callable[[Bot], Awaitable[None]], *, doomed: bool) -> Held:
    """Hold a debate on a platform of its own."""
    async with Remote.spawned(scene.folder, "--generous") as discord:
        await discord.set_rules(nonce_seconds=0.0)
        for name in NEWCOMERS:
            await discord.act("add_user", name)
        # A file that names no point of this debate keeps its process from noting every one.
        points = casts((await discord.state())["users"]) if doomed else ()
        scene.doom([*OPEN, *points, *CLOSE] if doomed else ["none"])
        async with serving(scene, discord) as bot:
            await lead(bot)
            state = await discord.until(is_over, 60)
            return Held(state, await discord.sent(), scene, bot.kills)


async def hold_quietly(bot: Bot) -> None:
    """Lead a debate to its end."""
    await start(bot)
    await bot.discord.until(is_open, 60)
    for user, sign, option in acts(TOLD["before"]):
        await vote(bot, user, sign, option)
    await close(bot)


async def hold_killed(bot: Bot) -> None:
    """Lead a debate to its end through every kill."""
    await bot.kill_at(BEFORE_VOTES, lambda: start(bot))
    await bot.die(len(OPEN))
    for group in TOLD.values():
        for user, sign, option in acts(group):
            met = len(bot.scene.met)
            await vote(bot, user, sign, option)
            await bot.die(met + 1)
    async with bot.away():
        for user, sign, option in acts(UNTOLD):
            await vote(bot, user, sign, option)
    met = len(bot.scene.met)
    await close(bot)
    await bot.die(met + 1)
    await bot.kill_at(AFTER_VOTES, lambda: close(bot))


async def start(bot: Bot) -> None:
    await bot.discord.act("slash", "ada", "debate start", {"topic": "Tea beats coffee"})


async def vote(bot: Bot, user: str, sign: str, option: str) -> None:
    state = await bot.discord.state()
    [thread] = threads(state)
    [ballot] = [m for m in state["messages"][thread] if author(m) == card_markdown.INVITE]
    act = "react" if sign == "+" else "unreact"
    await bot.discord.act(act, user, ballot["id"], OPTIONS[option])


async def close(bot: Bot) -> None:
    [thread] = threads(await bot.discord.state())
    await bot.discord.act("slash", "olga", "debate close", channel=thread)


def acts(group: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield what a group of three people does, as (who, + or -, option)."""
    return ((group[who], sign, option) for who, sign, option in ACTS)


def casts(users: dict[str, str]) -> Iterator[str]:
    """Yield the point of each vote at which a process dies."""
    for when, group in TOLD.items():
        for user, sign, option in acts(group):
            yield f"votes.cast {users[user]}{sign}{option}, {when}"


def threads(state: Json) -> list[str]:
    return [place["id"] for place in state["channels"] if "thread_metadata" in place]


def is_open(state: Json) -> bool:
    return "the vote is open" in announced(state)


def is_over(state: Json) -> bool:
    # The announcement may say so before the thread has it.
    said = str(state["messages"])
    posted = all(
        f"'{title}'" in said for title in (card_markdown.CLOSED_EARLY, card_markdown.REVEAL)
    )
    return posted and "the models are named" in announced(state)


def announced(state: Json) -> str:
    posted = state["messages"].get(state["channel"], [])
    return "".join(message["text"] for message in posted[:1])


def author(message: Json) -> str:
    return str(message["embeds"][0].get("author", {}).get("name", "")) if message["embeds"] else ""


def reference(message: Json) -> list[str]:
    """Return the parts of a message's reference: debate, number, piece."""
    return str(message["embeds"][0]["footer"]["text"]).split(" ")[0].split("·")


def shown(message: Json) -> tuple[str, list[str]]:
    """Return what a message is, and its place in the debate; a debate's code is its own."""
    code, *place = reference(message)
    return author(message).replace(code, ""), place


# --- what must be true in the end ----------------------------------------------------------


def test_every_send_and_vote_was_a_kill(clean: Held, killed: Held) -> None:
    for send in {(send.method, send.path, send.text): send for send in SENDS}.values():
        expected = sum(s.times for s in SENDS if s._replace(times=1) == send._replace(times=1))
        assert clean.count(send) == expected, send
    assert set(killed.scene.met) == {*OPEN, *casts(killed.state["users"]), *CLOSE}
    assert killed.kills == KILLS


def test_people_read_the_same_messages_in_the_same_thread(clean: Held, killed: Held) -> None:
    assert len(threads(killed.state)) == 1
    assert list(map(shown, killed.messages)) == list(map(shown, clean.messages))


def test_nothing_is_there_twice(killed: Held) -> None:
    assert max(Counter(map(str, map(reference, killed.messages))).values()) == 1
    assert killed.state["pings"] == []
    assert killed.state["violations"] == []


def test_the_votes_are_what_people_hold(clean: Held, killed: Held) -> None:
    for held in (clean, killed):
        holders = held.titled(card_markdown.CLOSED_EARLY)["holders"]
        shown = {
            held.state["users"][name]: option
            for option, emoji in OPTIONS.items()
            for name in holders[emoji]
            if name != "Rostrum"
        }
        users, tables = held.scene.users(), held.scene.tables()
        stored = {
            users[row["person"]]: orjson.loads(row["body"])["option"] for row in tables["votes"]
        }
        assert stored == shown
        counts = Counter(shown.values())
        assert counted_in(held.titled(card_markdown.REVEAL)["text"]) == {
            o: counts[o] for o in OPTIONS
        }
    assert len(stored) == 6
