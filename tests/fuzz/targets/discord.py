"""What Discord sends: gateway events, and messages that are read back.

An input is a JSON object: the name of an `event` and its `data`.
"""

import asyncio
import logging
import traceback
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any

import discord
import orjson
from discord import app_commands
from pydantic import SecretStr

from adapters.discord.client import DiscordClient, ShardPresence
from adapters.discord.interactions import person_of, pressed_of
from adapters.discord.rest import DiscordRest
from adapters.discord.texts import language_around, language_of
from adapters.discord.venue import DiscordVenue
from engine.chat.context import Requester, _Cooldown
from engine.chat.invocation import Invocation
from engine.store.communities import CommunitySettings
from engine.values.errors import MISFITS, RostrumError
from tests.doubles.rehearsed import DEFAULTS
from tests.fuzz.target import Target, wait
from tests.kit import FixedClock

# Raised by discord.py for a payload that it cannot read; its client is replaced then (shard.py).
ITS_OWN = (*MISFITS, AssertionError, app_commands.AppCommandError, discord.DiscordException)


class Handler:
    """A handler that only reads what it is handed."""

    trial = None

    def __init__(self) -> None:
        self.heard: list[object] = []
        store = SimpleNamespace(
            communities=SimpleNamespace(get=self._settings),
            debates=SimpleNamespace(of_community=self._none),
            suggestions=SimpleNamespace(open=self._none),
        )
        self.commands: Any = SimpleNamespace(
            joined=self.listener,
            left=self.listener,
            communities=self._known,
            defaults=DEFAULTS,
            store=store,
            typing=_Cooldown(at_once=1_000_000),
            check_database=lambda: None,
            service=SimpleNamespace(clock=FixedClock()),
        )

    async def _settings(self, *_: object) -> CommunitySettings:
        return CommunitySettings()

    async def _none(self, *_: object, **__: object) -> tuple[()]:
        return ()

    async def person(self, interaction: Any) -> Requester:
        return person_of(interaction)

    async def refuse(self, interaction: Any, error: RostrumError) -> None:
        str(error).encode("utf-8", "surrogatepass")

    async def admits(self, *_: object) -> bool:
        return True

    async def _known(self, _: str) -> frozenset[str]:
        return frozenset({"1"})

    async def listener(self, *event: object) -> None:
        repr(event).encode()

    async def carry_out(self, interaction: Any, asked: Any, *_: object, **__: object) -> None:
        person_of(interaction)
        language_of(interaction)
        language_around(interaction)
        command = asked() if callable(asked) else asked
        assert isinstance(command, Invocation)

    async def press(self, interaction: Any, option: str | None) -> None:
        pressed_of(interaction, option)

    async def open_form(self, interaction: Any, form: Any) -> None:
        language_of(interaction)


class Silent(discord.InteractionResponse[Any]):
    """Answers to an interaction that are written and not sent."""

    async def autocomplete(self, choices: Any) -> None:
        orjson.dumps([choice.to_dict() for choice in choices])

    async def send_modal(self, modal: Any) -> None:  # type: ignore[override]
        modal.to_dict()


class Failures(logging.Handler):
    """What discord.py only logs: errors of ours while somebody types."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[BaseException] = []
        logging.getLogger("discord.app_commands.tree").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Note an error that was raised in our code."""
        error = record.exc_info[1] if record.exc_info else None
        frames = traceback.extract_tb(error.__traceback__) if error else ()
        if error and any("/adapters/discord/" in frame.filename for frame in frames):
            self.found.append(error)


class Door:
    """A client without a connection, and what its events were."""

    def __init__(self) -> None:
        handler: Any = Handler()
        rest = DiscordRest(SecretStr("x"), "http://127.0.0.1:1")
        self.client = DiscordClient(handler, self._identify, None, (0, 1), rest, ShardPresence())
        self.events: list[tuple[str, tuple[Any, ...]]] = []
        self.asked: list[Any] = []
        self._failures = Failures()
        tree: Any = self.client.tree
        tree._from_interaction = self.asked.append
        heard: Any = lambda name, *args: self.events.append((name, args))  # noqa: E731
        self.client.dispatch = self.client._connection.dispatch = heard  # type: ignore[method-assign]

    async def _identify(self) -> None: ...

    async def take(self, event: str, data: Any) -> None:
        """Let discord.py parse an event, and ours handle what comes of it."""
        self.events.clear()
        self.asked.clear()
        try:
            self.client._connection.parsers[event](data)
        except ITS_OWN:
            return
        for name, args in tuple(self.events):
            if handler := getattr(self.client, f"on_{name}", None):
                await handler(*args)
        for interaction in self.asked:
            await self._call(interaction)
        await asyncio.gather(*self.client._tasks)

    async def _call(self, interaction: Any) -> None:
        interaction._cs_response = Silent(interaction)
        self._failures.found.clear()
        try:
            await self.client.tree._call(interaction)
        except app_commands.CommandInvokeError as error:
            if not isinstance(error.original, RostrumError):
                raise error.original from error
        except ITS_OWN:
            return
        for failure in self._failures.found:
            raise failure


@lru_cache(maxsize=1)
def _door() -> Door:
    async def make() -> Door:
        door = Door()
        await door.client._async_setup_hook()
        return door

    return wait(make())


def event(data: bytes) -> None:
    try:
        held = orjson.loads(data)
        name, given = held["event"], held["data"]
    except MISFITS:
        return
    if isinstance(name, str) and name in _door().client._connection.parsers:
        wait(_door().take(name, given))


class Answers(DiscordRest):
    """Discord's REST interface, which answers everything with one value."""

    def __init__(self, answer: Any) -> None:
        super().__init__(SecretStr("x"), "http://127.0.0.1:1")
        self.me, self._answer = "800", answer

    async def request(self, *_: object, **__: object) -> Any:
        return self._answer


def answer(data: bytes) -> None:
    """Read an answer of Discord's REST interface as each that is asked for."""
    try:
        rest = Answers(orjson.loads(data))
    except orjson.JSONDecodeError:
        return
    venue = DiscordVenue(rest)
    reads: tuple[Callable[[], Coroutine[Any, Any, object]], ...] = (
        rest.gateway,
        partial(venue.find, "11", "r1", "12"),
        partial(venue.find, "11", "r1", None),
        partial(venue.open_thread, "11", "12", "Tea"),
        partial(venue.locate, "11"),
        partial(venue.written_by, "11", "13", "12"),
        partial(venue.member, "11", "13"),
        partial(venue.managers, "11"),
        partial(venue.reactions, "11", "12"),
        partial(venue.seed, "11", "12", ["A"]),
        partial(venue.say, "11", {}),
    )
    for asked in reads:
        with suppress(RostrumError):
            wait(asked())


DISCORD = (Target("discord-event", event), Target("discord-answer", answer))
