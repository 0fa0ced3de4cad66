"""What Slack remembers: people, channels, messages, files, questions; and how it refuses."""

from __future__ import annotations

import asyncio
import html
import re
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.doubles.facts import Slack
from tests.doubles.loopback import Clock
from tests.doubles.wire import readable_in
from tests.kit import HANG_SECONDS

Json = dict[str, Any]


class Refusal(Exception):  # noqa: N818 - an answer of the platform, not an error of the double
    """A request that is refused with an error's name, and fields that go with it."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.more = more

    def body(self) -> Json:
        return {"ok": False, "error": self.error, **self.more}


@dataclass
class Rules:
    """What Slack allows, in seconds and messages.

    `tiered` limits methods by their tier, whose minute is `tier_seconds`, `spaced` posts by
    channel; `ack` is how long an envelope or request waits for its acknowledgement, `retries` when
    an event is told again, `events` what the app has subscribed to, `messages_tab` whether people
    may be written to.
    """

    tiered: bool = True
    tier_seconds: float = 60.0
    spaced: bool = True
    post_gap: float = Slack.POST_GAP
    burst: int = 1
    ack: float = Slack.ACK_SECONDS
    retries: tuple[float, ...] = Slack.RETRIES
    trigger: float = Slack.TRIGGER_SECONDS
    response_uses: int = Slack.RESPONSE_USES
    response_seconds: float = Slack.RESPONSE_SECONDS
    page: int = Slack.PAGE
    messages_tab: bool = True
    scopes: tuple[str, ...] = Slack.SCOPES
    events: tuple[str, ...] = Slack.EVENTS

    @classmethod
    def generous(cls, **changes: Any) -> Rules:
        """Return rules under which nobody has to wait."""
        return cls(tiered=False, spaced=False, **changes)


APP = "A0ROSTRUM"
BOT = "0ROSTRUM"  # a bot's ids begin so: U for its user, B for itself
TEAM, BOT_USER, BOT_ID = "T0HALL", f"U{BOT}", f"B{BOT}"
_PING = re.compile(r"<(!(?:channel|here|everyone|subteam\^\w+)|@\w+)(?:\|[^>]*)?>")


@dataclass
class User:
    """A person or a bot."""

    id: str
    name: str
    bot: bool = False
    admin: bool = False
    locale: str = "en-US"
    team: str = TEAM


@dataclass
class Team:
    """A workspace; a `token` that is empty is of one that never installed the app."""

    id: str
    name: str
    bot_user: str
    token: str = ""
    installed: bool = True

    @property
    def bot_id(self) -> str:
        return self.bot_user.replace("U", "B", 1)


@dataclass
class Channel:
    """A channel; one that begins with D is a direct message. `thread_only` takes no roots."""

    id: str
    name: str
    private: bool = False
    archived: bool = False
    thread_only: bool = False
    team: str = TEAM
    members: set[str] = field(default_factory=set)
    messages: dict[str, Message] = field(default_factory=dict)


@dataclass
class Message:
    """A message; `to` names the one person who sees an ephemeral one.

    `broadcast` is a reply that its channel shows as well. `username` and `icon` are those that an
    app chose for it.
    """

    channel: str
    ts: str
    user: str
    body: str = ""
    blocks: list[Json] = field(default_factory=list)
    metadata: Json | None = None
    thread_ts: str | None = None
    to: str | None = None
    edited: float | None = None
    deleted: bool = False
    broadcast: bool = False
    username: str = ""
    icon: str = ""
    files: list[str] = field(default_factory=list)
    reactions: dict[str, dict[str, None]] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Everything of it that a person can read, entities decoded as Slack shows them."""
        said = "\n".join(texts(self.blocks)) if self.blocks else self.body
        return html.unescape(said)

    @property
    def pings(self) -> set[str]:
        return {m[1] for text in (self.body, *texts(self.blocks)) for m in _PING.finditer(text)}

    def json(self, *, metadata: bool = False) -> Json:
        own = self.user.startswith(BOT_USER)
        shown: Json = {"type": "message", "ts": self.ts, "user": self.user, "text": self.body}
        shown |= {"bot_id": self.user.replace("U", "B", 1), "app_id": APP} if own else {}
        shown |= {"blocks": self.blocks} if self.blocks else {}
        shown |= {"thread_ts": self.thread_ts} if self.thread_ts else {}
        shown |= {"subtype": "thread_broadcast"} if self.broadcast else {}
        if self.username:  # then it is the bot's, and no user's
            shown |= {"subtype": "bot_message", "username": self.username}
            shown |= {"icons": {"emoji": self.icon}} if self.icon else {}
            del shown["user"]
        if self.metadata:  # without the argument that includes it, Slack leaves the payload out
            payload = self.metadata["event_payload"] if metadata else {}
            shown["metadata"] = {**self.metadata, "event_payload": payload}
        held = [
            {"name": name, "count": len(users), "users": list(users)}
            for name, users in self.reactions.items()
            if users
        ]
        return shown | ({"reactions": held} if held else {})


@dataclass
class File:
    """A file; `channel` is None until its upload is completed, `alt` says what a picture shows."""

    id: str
    name: str
    length: int
    alt: str = ""
    data: bytes = b""
    channel: str | None = None


texts = partial(readable_in, ("text", "title", "label"))


class World:
    """All of it, with timestamps that only grow; `caller` is the workspace whose token is used."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._last_ts = 0.0
        self._count = 0
        self.users: dict[str, User] = {}
        self.teams: dict[str, Team] = {}
        self.caller = self.add_team(TEAM, "Hall", BOT_USER)
        self.channels: dict[str, Channel] = {}
        self.files: dict[str, File] = {}
        self.ephemeral: list[Message] = []
        self.groups: dict[str, tuple[str, ...]] = {}  # of users, by their ids
        self.homes: dict[str, Json] = {}  # the Home tab of each user who has one

    def add_team(self, ref: str, name: str, bot_user: str) -> Team:
        made = self.teams[ref] = Team(ref, name, bot_user)
        self.users[bot_user] = User(bot_user, "rostrum", bot=True, team=ref)
        return made

    def team_of(self, channel: str) -> Team:
        return self.teams[self.channels[channel].team]

    def new_id(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count:07d}"

    def new_ts(self) -> str:
        """Make a timestamp, greater than any before."""
        self._last_ts = max(self._last_ts + 1e-4, self.clock.now())
        return f"{self._last_ts:.6f}"

    def user(self, ref: str) -> User:
        found = self.users.get(ref)
        if found is None:
            found = next((user for user in self.users.values() if user.name == ref), None)
        if found is None:
            raise Refusal("user_not_found")
        return found

    def channel(self, ref: str) -> Channel:
        """Find a channel of the caller's, opening a direct message where a user is named."""
        if ref in self.users:
            return self.direct(ref)
        found, me = self.channels.get(ref), self.caller
        hidden = found is None or (found.private and me.bot_user not in found.members)
        if found is None or hidden or found.team != me.id:
            raise Refusal("channel_not_found")
        return found

    def direct(self, user: str) -> Channel:
        ref = f"D{user[1:]}"
        if ref not in self.channels:
            me = self.caller
            made = Channel(ref, "directmessage", team=me.id, members={user, me.bot_user})
            self.channels[ref] = made
        return self.channels[ref]

    def message(self, channel: str, ts: str) -> Message:
        found = self.channel(channel).messages.get(ts)
        if found is None or found.deleted:
            raise Refusal("message_not_found")
        return found

    def find(self, ts: str) -> Message:
        for channel in self.channels.values():
            if ts in channel.messages:
                return channel.messages[ts]
        raise Refusal("message_not_found")

    def everything(self) -> list[Message]:
        every = [m for c in self.channels.values() for m in c.messages.values()]
        return sorted(every, key=lambda message: float(message.ts))


# --- what people ask of the app, with the trigger and response URL that go with it ------


@dataclass
class Asked:
    """A command, button or view of somebody; `answer` is what came with the acknowledgement."""

    id: str
    user: str
    channel: str
    at: float
    answer: Json | None = None
    latency: float = 0.0
    uses: int = 0
    triggered: bool = False
    view: Json | None = None
    messages: list[Message] = field(default_factory=list)
    pressed: Message | None = None
    _world: World | None = None

    @property
    def text(self) -> str:
        """Everything that the person read as an answer, in the order of arrival."""
        return "\n".join(message.text for message in self._seen())

    @property
    def errors(self) -> dict[str, str]:
        return dict((self.answer or {}).get("errors", {}))

    async def said(self, what: str = "", seconds: float = HANG_SECONDS) -> str:
        """Wait until the answer contains something, and return all of it."""
        try:
            async with asyncio.timeout(seconds):
                while not (self.text and what in self.text):  # noqa: ASYNC110 - it is looked at
                    await asyncio.sleep(0.01)
        except TimeoutError as error:
            raise AssertionError(f"not answered with {what!r} but {self.text!r}") from error
        return self.text

    def _seen(self) -> list[Message]:
        shown = self._world.ephemeral if self._world else []
        posted = [m for m in shown if m.to == self.user and float(m.ts) >= self.at]
        return sorted({m.ts: m for m in (*self.messages, *posted)}.values(), key=lambda m: m.ts)


class Interactions:
    """Remembers what was asked, and for how long it may be answered."""

    def __init__(self, world: World, rules: Rules) -> None:
        self._world, self._rules = world, rules
        self.all: list[Asked] = []

    def new(self, user: str, channel: str) -> Asked:
        asked = Asked(self._world.new_id("I"), user, channel, self._world.clock.now())
        asked._world = self._world
        self.all.append(asked)
        return asked

    def open(self, trigger: str, view: Json) -> Json:
        """Open a view with a trigger, which is good for once and for three seconds."""
        asked = self._find(trigger.removeprefix("trigger-"), "invalid_trigger_id")
        if self._world.clock.now() - asked.at > self._rules.trigger:
            raise Refusal("expired_trigger_id")
        if asked.triggered:
            raise Refusal("exchanged_trigger_id")
        asked.triggered = True
        asked.view = view | {"id": self._world.new_id("V"), "hash": "1"}
        return {"view": asked.view}

    def respond(self, ref: str) -> Asked:
        """Use a response URL. Raises Refusal when it is used up or too old."""
        asked = self._find(ref, "invalid_url")
        old = self._world.clock.now() - asked.at > self._rules.response_seconds
        if old or asked.uses >= self._rules.response_uses:
            raise Refusal("expired_url" if old else "used_url")
        asked.uses += 1
        return asked

    def _find(self, ref: str, error: str) -> Asked:
        found = next((asked for asked in self.all if asked.id == ref), None)
        if found is None:
            raise Refusal(error)
        return found
