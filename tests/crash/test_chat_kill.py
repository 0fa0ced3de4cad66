"""The process that serves a platform is killed at every send and every vote of one debate.

In `make test` it is killed at the first send of each kind, and at the votes of one person. A send
is killed twice: before the platform has stored it, and after, before its answer. The platform runs
in a process of its own, and what it holds in the end is the oracle. On Discord sides speak by a
webhook, and no nonce is remembered.
"""

import asyncio
import re
from collections import Counter
from typing import NamedTuple

import pytest

from adapters.slack.render import NAMES
from engine.words import cards as card_markdown
from tests.crash.bot import Act, Bot, Held, Read, Send, Voters
from tests.crash.conftest import NewScene
from tests.doubles import discord, slack
from tests.doubles.discord import hang
from tests.doubles.facts import on_discord, on_slack
from tests.doubles.faults import When
from tests.doubles.remote import Json
from tests.scenario.discord_stage import OPTIONS, counted_in

REACTIONS = {option: NAMES[option] for option in OPTIONS}
ONE_PERSON = ((0, "+", "A"), (0, "+", "tie"), (0, "-", "A"))


class DiscordBot(Bot):
    """The bot's processes on Discord."""

    name, remote, own_name, signs = "discord", discord.Remote, "Rostrum", OPTIONS
    rules = {"nonce_seconds": 0.0}  # noqa: RUF012
    allowed = ("manage_webhooks",)
    messages = "/channels/*/messages"
    own = f"{messages}/*/reactions/{{}}/@me"
    before_votes = (
        Send("POST", messages),  # the announcement
        Send("POST", f"{messages}/*/threads"),
        Send("POST", "/channels/*/webhooks"),
        Send("POST", "/webhooks/*/*", times=8, text='"username"'),  # the turns
        Send("POST", messages),  # the invitation to vote
        Send("PUT", own.format("*"), times=4),
    )
    after_votes = (
        Send("PATCH", f"{messages}/*", text=card_markdown.CLOSED_EARLY),
        Send("POST", messages),  # the reveal
    )
    # Of four removals the second is killed: what went before it is not asked for in vain.
    second_removal = Send("DELETE", own.format(OPTIONS["B"]))
    sends = (*before_votes, *after_votes, Send("DELETE", own.format("*"), times=4))
    opening = ("votes.open connection, before", "votes.open connection, after")
    other_points = (*opening, "votes.close debate, before", "votes.close debate, after")
    told = {"before": ("ada", "ben", "cleo"), "after": ("dan", "eve", "fay")}  # noqa: RUF012
    # One person changes to another option, one stays, and one withdraws.
    acts = (*ONE_PERSON[:1], (1, "+", "B"), *ONE_PERSON[1:], (2, "+", "A"), (2, "-", "A"))
    voters = Voters(acts, told, untold=("gus", "hal", "ida"))
    # Raise or lower it knowingly: sends twice, openings and closings twice, votes, and one absence.
    deaths = 2 * (1 + 1 + 1 + 8 + 1 + 4) + 2 + 2 * 6 + 1 + 2 + 2 * (1 + 1 + 1)
    votes = 6

    async def be_killed(self) -> None:
        await self.kill_at(self.before_votes, self.start)
        await self.die(len(self.opening))
        await self.die_at_votes()
        met = len(self.scene.met)
        await self.close()
        await self.die(met + 1)
        await self.kill_at((*self.after_votes, self.second_removal), self.close)

    async def hang(self, send: Send, when: When) -> None:
        silence = hang(when, everywhere=True)
        await self.platform.fail(silence, send.method, send.path, text=send.text)

    async def start(self) -> None:
        await self.platform.until(lambda state: state["commands"])
        await self.platform.act("slash", "ada", "debate start", {"topic": "Tea beats coffee"})

    async def vote(self, act: Act) -> None:
        state = await self.platform.state()
        [thread] = self.threads(state)
        [ballot] = [m for m in state["messages"][thread] if author(m) == card_markdown.INVITE]
        way = "react" if act.sign == "+" else "unreact"
        await self.platform.act(way, act.user, ballot["id"], OPTIONS[act.option])

    async def close(self) -> None:
        [thread] = self.threads(await self.platform.state())
        await self.platform.act("slash", "olga", "debate close", channel=thread)

    @staticmethod
    def is_open(state: Json) -> bool:
        return "Vote now in" in announced(state)

    @staticmethod
    def is_over(state: Json) -> bool:
        # The announcement may say so before the thread has it.
        said = str(state["messages"])
        titles = (card_markdown.CLOSED_EARLY, card_markdown.REVEAL)
        posted = all(f"'{title}'" in said for title in titles)
        [thread] = DiscordBot.threads(state)
        held = [m["holders"].values() for m in state["messages"][thread]]
        seeds = sum("Rostrum" in names for holders in held for names in holders)
        return posted and not seeds and "the whole debate" in announced(state)

    @staticmethod
    def read(state: Json) -> list[Read]:
        [thread] = DiscordBot.threads(state)
        posted = [*state["messages"][state["channel"]], *state["messages"][thread]]
        return [Read(author(m), *place_of(on_discord(m)), m["text"], m["holders"]) for m in posted]

    @staticmethod
    def threads(state: Json) -> set[str]:
        return {place["id"] for place in state["channels"] if "thread_metadata" in place}

    @staticmethod
    def count(held: Held, send: Send) -> int:
        path = re.compile(send.path.replace("*", "[^/]+"))
        return sum(
            call["method"] == send.method
            and bool(path.fullmatch(call["path"]))
            and send.text in call["text"]
            for call in held.sent
        )


class DiscordAtEachKind(DiscordBot):
    """Processes killed once at each kind of send and vote."""

    everywhere = False
    voters = Voters(ONE_PERSON, DiscordBot.told, untold=("gus",))
    deaths = 2 * (1 + 1 + 1 + 1 + 1 + 1) + 2 + 2 * 3 + 1 + 2 + 2 * (1 + 1 + 1)
    votes = 3


class SlackBot(Bot):
    """The bot's processes on Slack."""

    name, remote, own_name, signs = "slack", slack.Remote, "rostrum", REACTIONS
    post = "chat.postMessage"
    before_votes = (Send("", post, times=10), Send("", "reactions.add", times=4))
    after_votes = (Send("", "chat.update", text=card_markdown.CLOSED_EARLY), Send("", post))
    second_removal = Send("", "reactions.remove", text=NAMES["B"])  # of four
    sends = (*before_votes, Send("", post), Send("", "reactions.remove", times=4))
    told = {"before": ("ada", "ben"), "after": ("cleo", "dan")}  # noqa: RUF012
    # One person changes to another option, and one stays.
    acts = (*ONE_PERSON[:1], (1, "+", "B"), *ONE_PERSON[1:])
    voters = Voters(acts, told, untold=("eve", "fay"))
    # Raise or lower it knowingly: sends twice, votes, and one absence.
    deaths = 2 * (10 + 4) + 2 * 4 + 1 + 2 * (1 + 1 + 1)
    votes = 6

    async def be_killed(self) -> None:
        await self.kill_at(self.before_votes, self.start)
        await self.back()
        await self.platform.until(self.is_open)
        await self.die_at_votes()
        await self.kill_at((*self.after_votes, self.second_removal), self.close)

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

    @staticmethod
    def read(state: Json) -> list[Read]:
        return [
            Read(
                title(m),
                *on_slack(m.get("metadata")).partition("·")[::2],
                m["shown"],
                m["reactions"],
            )
            for m in state["messages"]
        ]

    @staticmethod
    def threads(state: Json) -> set[str]:
        return {message["thread_ts"] for message in state["messages"]}

    @staticmethod
    def count(held: Held, send: Send) -> int:
        return int(held.state["calls"].count(send.path))


class SlackAtEachKind(SlackBot):
    """Processes killed once at each kind of send and vote."""

    everywhere = False
    voters = Voters(ONE_PERSON, SlackBot.told, untold=("eve",))
    deaths = 2 * (1 + 1) + 2 * 3 + 1 + 2 * (1 + 1 + 1)
    votes = 3


def place_of(reference: str) -> tuple[str, str]:
    """Return a debate's code, and a message's place in it: number and piece."""
    code, _, place = reference.partition("·")
    return code, place


def announced(state: Json) -> str:
    posted = state["messages"].get(state["channel"], [])
    return "".join(message["text"] for message in posted[:1])


def author(message: Json) -> str:
    return str(message["embeds"][0].get("author", {}).get("name", "")) if message["embeds"] else ""


def title(message: Json) -> str:
    first = message["blocks"][0] if message.get("blocks") else {}
    return str(first["elements"][0]["text"]) if first.get("type") == "context" else ""


class Both(NamedTuple):
    """A debate that nothing happened to, and one whose process was killed at point after point."""

    bot: type[Bot]
    clean: Held
    killed: Held


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(SlackAtEachKind, id="slack-each-kind"),
        pytest.param(DiscordAtEachKind, id="discord-each-kind", marks=pytest.mark.slow),
        pytest.param(DiscordBot, id="discord-every-send", marks=pytest.mark.slow),
        pytest.param(SlackBot, id="slack-every-send", marks=pytest.mark.slow),
    ],
)
def both(request: pytest.FixtureRequest, new_scene: NewScene) -> Both:
    """Both, held beside one another on one platform."""
    return Both(request.param, *asyncio.run(request.param.hold_both(new_scene)))


def test_every_send_and_vote_was_a_kill(both: Both) -> None:
    bot, clean, killed = both
    planned = Counter[Send]()
    for send in bot.sends:
        planned[send._replace(times=1)] += send.times
    assert {send: bot.count(clean, send) for send in planned} == planned
    assert set(killed.scene.met) == bot.points(killed.state["users"])
    assert killed.kills == bot.deaths


def test_people_read_the_same_messages_in_the_same_thread(both: Both) -> None:
    # A debate's code is its own. Slack's picture of a reveal is a message without a place, and is
    # left out where the reveal was in doubt.
    alike = [
        [(m.title.replace(m.code, ""), m.place) for m in both.bot.read(held.state) if m.place]
        for held in (both.clean, both.killed)
    ]
    assert alike[0] == alike[1]
    assert len(both.bot.threads(both.killed.state)) == 1


def test_each_turn_is_there_once_under_its_sides_name_by_one_webhook(both: Both) -> None:
    if not issubclass(both.bot, DiscordBot):
        return  # on Slack the bot itself speaks for the sides
    for held in (both.clean, both.killed):
        assert all(message.place for message in both.bot.read(held.state))
        [thread] = both.bot.threads(held.state)
        posted = held.state["messages"][thread]
        named = [m["author"]["username"] for m in posted if m.get("webhook_id")]
        assert len(named) == 8
        assert len(set(named[::2])) == len(set(named[1::2])) == 1
        assert named[0].startswith("🔵 A · ")
        assert named[1].startswith("🔴 B · ")
        assert held.state["webhooks"] == ["Rostrum"]


def test_nothing_is_there_twice(both: Both) -> None:
    state = both.killed.state
    assert max(Counter(message.place for message in both.bot.read(state)).values()) == 1
    assert state["pings"] == []
    assert state["violations"] == []


def test_the_votes_are_what_people_hold(both: Both) -> None:
    for held in (both.clean, both.killed):
        by_title = {message.title: message for message in both.bot.read(held.state)}
        shown = {
            held.state["users"][name]: option
            for option, sign in both.bot.signs.items()
            for name in by_title[card_markdown.CLOSED_EARLY].holders.get(sign, ())
            if name != both.bot.own_name
        }
        assert held.scene.votes() == shown
        counts = Counter(shown.values())
        told = counted_in(by_title[card_markdown.REVEAL].text)
        assert told == {option: counts[option] for option in OPTIONS}
    assert len(both.killed.scene.votes()) == both.bot.votes
