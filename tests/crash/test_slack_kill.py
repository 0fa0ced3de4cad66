"""The process that serves Slack is killed at every send and every vote of one debate.

A send is killed twice: before Slack has stored it, and after, before its answer. Slack runs in a
process of its own, and what it holds in the end is the oracle. In `make test` it is killed at the
first send of each kind, and at the votes of one person.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from adapters.slack.votes import NAMES
from engine.words import cards as card_markdown
from tests.crash.bot import Act, Bot, Held, Send, Voters
from tests.crash.conftest import NewScene, Scene
from tests.doubles.facts import on_slack
from tests.doubles.faults import When
from tests.doubles.slack import Remote, hang
from tests.doubles.slack.state import Json

POST = "chat.postMessage"
OPTIONS = ("A", "B", "tie", "weak")
BEFORE_VOTES = (Send("", POST, times=10), Send("", "reactions.add", times=4))
AFTER_VOTES = (Send("", "chat.update", text=card_markdown.CLOSED_EARLY), Send("", POST))
SECOND_REMOVAL = Send("", "reactions.remove", text=NAMES["B"])  # of four
# One person changes to another option, and one stays.
ACTS = ((0, "+", "A"), (1, "+", "B"), (0, "+", "tie"), (0, "-", "A"))
TOLD = {"before": ("ada", "ben"), "after": ("cleo", "dan")}


class SlackBot(Bot[Remote]):
    """The bot's processes on Slack."""

    driver = "slack_driver"
    voters = Voters(ACTS, TOLD, untold=("eve", "fay"))
    # Raise or lower it knowingly: sends twice, votes, and one absence.
    deaths = 2 * (10 + 4) + 2 * 4 + 1 + 2 * (1 + 1 + 1)
    votes = 6

    async def be_killed(self) -> None:
        """Lead a debate to its end through every kill."""
        await self.kill_at(BEFORE_VOTES, self.start)
        await self.back()
        await self.platform.until(self.is_open)
        await self.die_at_votes()
        await self.kill_at((*AFTER_VOTES, SECOND_REMOVAL), self.close)

    async def hang(self, send: Send, when: When) -> None:
        await self.platform.fail(hang(when, everywhere=True), send.path, text=send.text)

    async def start(self) -> None:
        await self.platform.act("slash", "ada", '/debate start "Tea beats coffee"')

    async def vote(self, act: Act) -> None:
        messages = (await self.platform.state())["messages"]
        [ballot] = [message for message in messages if title(message) == card_markdown.INVITE]
        way = "react" if act.sign == "+" else "unreact"
        await self.platform.act(way, act.user, ballot["ts"], NAMES[act.option])

    async def close(self) -> None:
        await self.platform.act("slash", "olga", "/debate close")

    @staticmethod
    def is_open(state: Json) -> bool:
        # Later than the ballot has its reactions, with which people vote already.
        return any("Vote now in" in message["shown"] for message in state["messages"])

    @staticmethod
    def is_over(state: Json) -> bool:
        titles = [title(message) for message in state["messages"]]
        held = [m["reactions"].values() for m in state["messages"]]
        seeds = sum("rostrum" in names for reactions in held for names in reactions)
        posted = card_markdown.REVEAL in titles and card_markdown.CLOSED_EARLY in titles
        return posted and not seeds


class AtEachKind(SlackBot):
    """Processes killed once at each kind of send and vote."""

    everywhere = False
    voters = Voters(((0, "+", "A"), (0, "+", "tie"), (0, "-", "A")), TOLD, untold=("eve",))
    deaths = 2 * (1 + 1) + 2 * 3 + 1 + 2 * (1 + 1 + 1)
    votes = 3


async def hold(
    bot: type[SlackBot], scene: Scene, lead: Callable[[SlackBot], Awaitable[None]], doomed: bool
) -> Held:
    """Hold a debate on a platform of its own."""
    async with Remote.spawned(scene.folder) as slack:
        return await bot.hold(scene, slack, lead, doomed=doomed)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(AtEachKind, id="each-kind"),
        pytest.param(SlackBot, id="every-send", marks=pytest.mark.slow),
    ],
)
def bot(request: pytest.FixtureRequest) -> type[SlackBot]:
    """Where processes die."""
    kind: type[SlackBot] = request.param
    return kind


@pytest.fixture(scope="module")
def both(bot: type[SlackBot], new_scene: NewScene) -> tuple[Held, Held]:
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


def title(message: Json) -> str:
    first = message["blocks"][0] if message.get("blocks") else {}
    return str(first["elements"][0]["text"]) if first.get("type") == "context" else ""


def reference(message: Json) -> str:
    """Return a message's place in its debate: number and piece."""
    return on_slack(message.get("metadata")).partition("·")[2]


def shown(held: Held) -> list[tuple[str, str]]:
    """Return (title, place in the debate) of every message, in order.

    The reveal's picture is a message without a place, and is left out where the reveal was in
    doubt.
    """
    posted = [(title(message), reference(message)) for message in held.state["messages"]]
    return [(titled, place) for titled, place in posted if place]


# --- what must be true in the end ----------------------------------------------------------


def test_every_send_and_vote_was_a_kill(bot: type[SlackBot], killed: Held) -> None:
    assert set(killed.scene.met) == bot.points(killed.state["users"])
    assert killed.kills == bot.deaths


def test_no_other_post_or_reaction_is_sent(clean: Held) -> None:
    planned = Counter[str]()
    for send in (*BEFORE_VOTES, *AFTER_VOTES):
        planned[send.path] += send.times
    planned["reactions.remove"] = 4
    for method in (POST, "reactions.add", "reactions.remove"):
        assert clean.state["calls"].count(method) == planned[method]


def test_people_read_the_same_messages_in_one_thread(clean: Held, killed: Held) -> None:
    assert shown(killed) == shown(clean)
    assert len({message["thread_ts"] for message in killed.state["messages"]}) == 1


def test_nothing_is_there_twice(killed: Held) -> None:
    assert max(Counter(map(reference, killed.state["messages"])).values()) == 1
    assert killed.state["pings"] == []


def test_the_votes_are_what_people_hold(bot: type[SlackBot], clean: Held, killed: Held) -> None:
    for held in (clean, killed):
        [ballot] = [m for m in held.state["messages"] if title(m) == card_markdown.CLOSED_EARLY]
        held_by = {
            held.state["users"][name]: option
            for option in OPTIONS
            for name in ballot["reactions"].get(NAMES[option], ())
            if name != "rostrum"
        }
        assert held.scene.votes() == held_by
    assert len(killed.scene.votes()) == bot.votes
