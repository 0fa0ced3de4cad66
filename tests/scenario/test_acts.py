"""One script of acts on every platform: start, vote, close, read. Their own things stand apart."""

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from bot.app import App
from tests.kit import some
from tests.scenario.chat_stage import NOBODY, Chat, OnDiscord, OnSlack, close, vote
from tests.scenario.discord_stage import known, voting
from tests.scenario.slack_stage import SlackStage
from tests.scenario.terminal_stage import Seat, Shell, seated
from tests.scenario.told_votes import told_votes

MODELS = {"rehearsal/maple", "rehearsal/willow"}
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
FRAME = re.compile(r"(?m)^│ | *│$")
TURN = re.compile(r"(🔵 A|🔴 B) · [a-z]+ · turn (\d) of 8")
COLOURS = {"A": "🔵 A", "B": "🔴 B"}


class Acts(ABC):
    """What people do on a platform, in processes that begin and end."""

    @abstractmethod
    def process(self) -> AbstractAsyncContextManager[None]:
        """Run a process until the body ends."""

    @abstractmethod
    async def start(self) -> None:
        """Start a debate, and wait until people can vote."""

    @abstractmethod
    async def vote(self, user: str, option: str) -> None: ...

    @abstractmethod
    async def withdraw(self, user: str, option: str) -> None: ...

    @abstractmethod
    async def close(self) -> str:
        """Close the vote; return the reveal."""

    @abstractmethod
    def read(self) -> str:
        """Return all that people read of the debate so far."""


class ChatActs(Acts):
    """A chat, whose people react to the invitation to vote."""

    def __init__(self, chat: Chat) -> None:
        self.chat, self.cast = chat, 0
        self.app: App
        self.ballot = ""

    @asynccontextmanager
    async def process(self) -> AsyncIterator[None]:
        async with self.chat.stage.process() as self.app:
            yield

    async def start(self) -> None:
        self.ballot = await vote(self.chat)
        await voting(self.app)

    async def vote(self, user: str, option: str) -> None:
        await self.chat.react(user, self.ballot, option)
        self.cast += 1
        await known(self.app, self.cast)

    async def withdraw(self, user: str, option: str) -> None:
        await self.chat.unreact(user, self.ballot, option)
        self.cast += 1
        await known(self.app, self.cast)

    async def close(self) -> str:
        reveal = await close(self.chat)
        await self.chat.ended(self.app)
        return reveal

    def read(self) -> str:
        return "\n".join(f"{shown.title}\n{shown.text}" for shown in self.chat.thread())


class TerminalActs(Acts):
    """A terminal, where each key is another person's vote, and one of them takes the last back."""

    def __init__(self, shell: Shell) -> None:
        self.shell, self.shown, self.code, self.cast = shell, "", "", 0
        self.seat: Seat | None = None

    @asynccontextmanager
    async def process(self) -> AsyncIterator[None]:
        sides = ("debate", "Tea beats coffee", "--a", "rehearsal/maple", "--b", "rehearsal/willow")
        words = ("resume", self.code) if self.code else sides
        with seated(self.shell, *words) as self.seat:
            yield
            if self.seat.process.poll() is None:
                self.seat.screen.press("\x03")
                self.seat.screen.until("Continue with")
                self.shown += self.seat.rest(1)
                self.code = re.findall(r"rostrum resume (\w+)", self.shown)[-1]

    async def start(self) -> None:
        some(self.seat).screen.until_keys()

    async def vote(self, user: str, option: str) -> None:
        screen = some(self.seat).screen
        screen.until_keys()
        # An arrow is nobody's vote, though its sequence ends in a letter that could be one.
        screen.press(f"\x1b[B{option[0].lower()}")
        self.cast += 1
        screen.until(f"guest-{self.cast} votes: ")

    async def withdraw(self, user: str, option: str) -> None:
        some(self.seat).screen.press("u")
        some(self.seat).screen.until(f"withdraws: {option}")

    async def close(self) -> str:
        some(self.seat).screen.press("\n")
        self.shown += some(self.seat).rest()
        return self.read().rpartition("Reveal")[2]

    def read(self) -> str:
        return FRAME.sub("", ESCAPES.sub("", self.shown + some(self.seat).screen.shown))


@pytest.fixture(
    params=[
        *("on_discord", "on_slack", "in a terminal"),
        pytest.param("on Slack over HTTP", marks=pytest.mark.slow),
    ]
)
def acts(request: pytest.FixtureRequest, tmp_path: Path) -> Acts:
    match request.param:
        case "in a terminal":
            return TerminalActs(Shell(tmp_path))
        case "on_discord":
            return ChatActs(OnDiscord(request.getfixturevalue("on_discord")))
    stage: SlackStage = request.getfixturevalue("on_slack")
    stage.http = request.param != "on_slack"
    return ChatActs(OnSlack(stage))


@pytest.mark.each_case
async def test_a_debate_from_its_start_to_its_reveal(acts: Acts) -> None:
    async with acts.process():
        await acts.start()
        before = acts.read()
        for user, option in (("ada", "A"), ("ben", "B"), ("cleo", "A"), ("olga", "tie")):
            await acts.vote(user, option)
        await acts.withdraw("olga", "tie")
        reveal = await acts.close()
    assert not [name for name in MODELS if name in before]
    assert [*dict.fromkeys(TURN.findall(before))] == [
        (COLOURS["AB"[n % 2]], str(n + 1)) for n in range(8)
    ]
    assert told_votes(reveal) == NOBODY | {"A": 2, "B": 1}
    assert not [name for name in MODELS if name not in reveal]


@pytest.mark.each_case
async def test_a_debate_goes_on_with_its_votes_in_another_process(acts: Acts) -> None:
    async with acts.process():
        await acts.start()
        await acts.vote("ada", "A")
    async with acts.process():
        await acts.vote("ben", "B")
        reveal = await acts.close()
    assert told_votes(reveal) == NOBODY | {"A": 1, "B": 1}
