"""The process that serves Slack is killed at every send and every vote of one debate.

A send is killed twice: before Slack has stored it, and after, before its answer. Slack runs in a
process of its own, and what it holds in the end is the oracle.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from adapters.slack.votes import NAMES
from engine import card_markdown
from tests.crash.conftest import ROOT, Scene
from tests.crash.discord_bot import Bot, Send
from tests.crash.discord_driver import LIVES, OVER
from tests.crash.fate import lines
from tests.doubles.slack import Remote, hang
from tests.doubles.slack.refusals import Json

POST = "chat.postMessage"
OPTIONS = ("A", "B", "tie", "weak")
BEFORE_VOTES = (Send("", POST, times=10), Send("", "reactions.add", times=4))
AFTER_VOTES = (Send("", "chat.update", text=card_markdown.CLOSED_EARLY), Send("", POST))
# Of two people one changes to another option, and one stays.
ACTS = ((0, "+", "A"), (1, "+", "B"), (0, "+", "tie"), (0, "-", "A"))
TOLD = {"before": ("ada", "ben"), "after": ("cleo", "dan")}
UNTOLD = ("eve", "fay")
NEWCOMERS = ("dan", *UNTOLD)
# Raise or lower it knowingly: sends twice, votes, and one absence.
KILLS = 2 * (10 + 4) + 2 * 4 + 1 + 2 * (1 + 1)
_REFERENCE = re.compile(r"\w+·(\d+·\d+/\d+)")


class SlackBot(Bot):
    """The bot's processes on Slack."""

    def __init__(self, scene: Scene, slack: Any, chain: asyncio.subprocess.Process) -> None:
        super().__init__(scene, slack, chain)
        self.slack: Remote = slack

    async def _plan(self, send: Send, when: Any) -> None:
        await self.slack.fail(hang(when), send.path, text=send.text)


@dataclass(frozen=True, slots=True)
class Held:
    """A debate that has been held to its end."""

    state: Json
    scene: Scene
    kills: int

    def shown(self) -> list[tuple[str, str]]:
        """Return (title, place in the debate) of every message, in order."""
        return [(title(message), reference(message)) for message in self.state["messages"]]


@pytest.fixture(scope="module")
def clean(new_scene: Callable[[], Scene]) -> Held:
    """A debate that nothing happened to."""
    return asyncio.run(hold(new_scene(), hold_quietly, doomed=False))


@pytest.fixture(scope="module")
def killed(new_scene: Callable[[], Scene]) -> Held:
    """A debate whose process was killed at every point, one after the other."""
    return asyncio.run(hold(new_scene(), hold_killed, doomed=True))


async def hold(scene: Scene, lead: Callable[[SlackBot], Awaitable[None]], *, doomed: bool) -> Held:
    """Hold a debate on a platform of its own."""
    async with Remote.spawned(scene.folder, "--generous") as slack:
        for name in NEWCOMERS:
            await slack.act("add_user", name)
        points = casts((await slack.state())["users"]) if doomed else ()
        scene.doom([*points] if doomed else ["none"])
        async with serving(scene, slack) as bot:
            await lead(bot)
            state = await slack.until(is_over, 30)
            return Held(state, scene, bot.kills)


@asynccontextmanager
async def serving(scene: Scene, slack: Remote) -> AsyncIterator[SlackBot]:
    """Run the bot's processes until the body ends."""
    command = (sys.executable, "-m", "tests.crash.slack_driver", str(scene.folder))
    chain = await asyncio.create_subprocess_exec(*command, slack.api_url, cwd=ROOT)
    bot = SlackBot(scene, slack, chain)
    try:
        await bot.back()
        yield bot
    finally:
        (scene.folder / OVER).touch()
        while chain.returncode is None:  # one more may just have been born
            for life in lines(scene.folder / LIVES)[-1:]:
                with suppress(ProcessLookupError):
                    os.kill(int(life), signal.SIGKILL)
            with suppress(TimeoutError):
                await asyncio.wait_for(chain.wait(), 0.5)


async def hold_quietly(bot: SlackBot) -> None:
    """Lead a debate to its end."""
    await start(bot)
    await bot.slack.until(is_open, 30)
    for user, sign, option in acts(TOLD["before"]):
        await vote(bot, user, sign, option)
    await close(bot)


async def hold_killed(bot: SlackBot) -> None:
    """Lead a debate to its end through every kill."""
    await bot.kill_at(BEFORE_VOTES, lambda: start(bot))
    await bot.back()
    await bot.slack.until(is_open, 30)
    for group in TOLD.values():
        for user, sign, option in acts(group):
            met = len(bot.scene.met)
            await vote(bot, user, sign, option)
            await bot.die(met + 1)
    async with bot.away():
        for user, sign, option in acts(UNTOLD):
            await vote(bot, user, sign, option)
    await bot.kill_at(AFTER_VOTES, lambda: close(bot))


async def start(bot: SlackBot) -> None:
    await bot.slack.act("slash", "ada", '/debate start "Tea beats coffee"')


async def vote(bot: SlackBot, user: str, sign: str, option: str) -> None:
    [ballot] = [
        m for m in (await bot.slack.state())["messages"] if title(m) == card_markdown.INVITE
    ]
    act = "react" if sign == "+" else "unreact"
    await bot.slack.act(act, user, ballot["ts"], NAMES[option])


async def close(bot: SlackBot) -> None:
    await bot.slack.act("slash", "olga", "/debate close")


def acts(group: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield what a group of two people does, as (who, + or -, option)."""
    return ((group[who], sign, option) for who, sign, option in ACTS)


def casts(users: dict[str, str]) -> Iterator[str]:
    """Yield the point of each vote at which a process dies."""
    for when, group in TOLD.items():
        for user, sign, option in acts(group):
            yield f"votes.cast {users[user]}{sign}{option}, {when}"


def is_open(state: Json) -> bool:
    ballots = [m for m in state["messages"] if title(m) == card_markdown.INVITE]
    return any(len(message["reactions"]) == len(OPTIONS) for message in ballots)


def is_over(state: Json) -> bool:
    titles = [title(message) for message in state["messages"]]
    return card_markdown.REVEAL in titles and card_markdown.CLOSED_EARLY in titles


def title(message: Json) -> str:
    first = message["blocks"][0] if message.get("blocks") else {}
    said = str(first["elements"][0]["text"]) if first.get("type") == "context" else ""
    return re.sub(r"^Debate \w+$", "Debate", said)


def reference(message: Json) -> str:
    """Return a message's place in its debate: number and piece."""
    found = _REFERENCE.findall(message["shown"])
    return str(found[-1]) if found else ""


# --- what must be true in the end ----------------------------------------------------------


def test_every_send_and_vote_was_a_kill(killed: Held) -> None:
    assert set(killed.scene.met) == set(casts(killed.state["users"]))
    assert killed.kills == KILLS


def test_no_other_post_or_reaction_is_sent(clean: Held) -> None:
    planned = Counter[str]()
    for send in (*BEFORE_VOTES, *AFTER_VOTES):
        planned[send.path] += send.times
    for method in (POST, "reactions.add"):
        assert clean.state["calls"].count(method) == planned[method]


def test_people_read_the_same_messages_in_one_thread(clean: Held, killed: Held) -> None:
    assert killed.shown() == clean.shown()
    assert len({message["thread_ts"] for message in killed.state["messages"]}) == 1


def test_nothing_is_there_twice(killed: Held) -> None:
    assert max(Counter(map(reference, killed.state["messages"])).values()) == 1
    assert killed.state["pings"] == []


def test_the_votes_are_what_people_hold(clean: Held, killed: Held) -> None:
    for held in (clean, killed):
        [ballot] = [m for m in held.state["messages"] if title(m) == card_markdown.CLOSED_EARLY]
        shown = {
            held.state["users"][name]: option
            for option in OPTIONS
            for name in ballot["reactions"].get(NAMES[option], ())
            if name != "rostrum"
        }
        users, tables = held.scene.users(), held.scene.tables()
        stored = {
            users[row["person"]]: orjson.loads(row["body"])["option"] for row in tables["votes"]
        }
        assert stored == shown
    assert len(stored) == 6
