"""What the double remembers: people, servers, channels, threads, messages, commands.

Ids are texts, as on the wire. Everything here may be read by a test; changes go through
`Platform`, which applies Discord's rules and tells the gateway.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from tests.doubles.discord.refusals import Json, Refusal
from tests.doubles.facts import Code
from tests.doubles.listening import Clock

EPOCH_MS: Final = 1_420_070_400_000
DIRECT = 1
TEXT, VOICE, NEWS, STAGE, FORUM, MEDIA = 0, 2, 5, 13, 15, 16
NEWS_THREAD, PUBLIC_THREAD, PRIVATE_THREAD = 10, 11, 12
EPHEMERAL, LOADING = 1 << 6, 1 << 7

Id = int | str


def stamp(moment: float) -> str:
    """Return a moment as Discord writes it."""
    return datetime.fromtimestamp(moment, UTC).isoformat()


@dataclass
class User:
    """A person or a bot; `member_days` is how long they have been in their servers."""

    id: str
    name: str
    bot: bool = False
    member_days: int = 0


@dataclass
class Role:
    """A role of a server; the one with the server's id is @everyone."""

    id: str
    name: str
    permissions: int


@dataclass
class Guild:
    """A server. `members` maps each user to the roles that they hold beside @everyone.

    `updates` is the channel where moderators get Discord's own notices; empty for none.
    """

    id: str
    name: str
    owner_id: str
    locale: str = "en-US"
    roles: dict[str, Role] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=dict)
    joined: float = 0.0
    updates: str = ""


@dataclass
class Overwrite:
    """What a channel allows and denies a role (type 0) or a member (type 1)."""

    id: str
    type: int
    allow: int = 0
    deny: int = 0


@dataclass
class Channel:
    """A channel of any kind, or a thread (then `parent_id` is its channel)."""

    id: str
    guild_id: str
    name: str
    type: int = TEXT
    parent_id: str | None = None
    overwrites: dict[str, Overwrite] = field(default_factory=dict)
    owner_id: str = ""
    archived: bool = False
    locked: bool = False
    auto_archive: int = 1440
    changed: float = 0.0
    members: set[str] = field(default_factory=set)
    posted: int = 0

    @property
    def is_thread(self) -> bool:
        """Whether it is a thread."""
        return self.type in (NEWS_THREAD, PUBLIC_THREAD, PRIVATE_THREAD)


@dataclass
class Attachment:
    """A file of a message."""

    id: str
    filename: str
    data: bytes
    description: str | None = None


@dataclass
class Reaction:
    """An emoji under a message, and who holds it, in the order of their reacting.

    `bursts` are those who hold it as a super reaction; one person can hold both.
    """

    emoji: str
    holders: dict[str, None] = field(default_factory=dict)
    bursts: dict[str, None] = field(default_factory=dict)

    def of(self, burst: bool) -> dict[str, None]:
        """Return who holds it as a super reaction, or as an ordinary one."""
        return self.bursts if burst else self.holders


@dataclass
class Webhook:
    """An incoming webhook of a channel, and who made it."""

    id: str
    channel_id: str
    name: str
    token: str
    owner: str


@dataclass
class Message:
    """A message; `pings` names whom it notified (user ids, role ids, `everyone`).

    `username` and `avatar` are those under which a webhook posted it.
    """

    id: str
    channel_id: str
    author_id: str
    created: float
    content: str = ""
    embeds: list[Json] = field(default_factory=list)
    components: list[Json] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    flags: int = 0
    type: int = 0
    nonce: str | None = None
    edited: float | None = None
    old_edits: int = 0
    reactions: dict[str, Reaction] = field(default_factory=dict)
    pings: set[str] = field(default_factory=set)
    reference: Json | None = None
    interaction: Json | None = None
    history: list[str] = field(default_factory=list)
    username: str = ""
    avatar: str | None = None

    @property
    def ephemeral(self) -> bool:
        """Whether only one person sees it."""
        return bool(self.flags & EPHEMERAL)

    @property
    def text(self) -> str:
        """Everything of it that a person can read, in reading order."""
        return "\n".join((self.content, *texts(self.embeds), *texts(self.components)))

    def holders(self, emoji: str) -> set[str]:
        """Return the ids of all who hold an emoji, as either kind of reaction, bots too."""
        reaction = self.reactions.get(plain(emoji))
        return {*reaction.holders, *reaction.bursts} if reaction else set()


READABLE: Final = ("title", "description", "name", "value", "text", "label", "content")


def texts(value: Any) -> Iterator[str]:
    """Walk through embeds or components and yield what people read."""
    if isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in READABLE and isinstance(item, str):
                yield item
            else:
                yield from texts(item)


def plain(emoji: str) -> str:
    """Return an emoji without variation selectors, which tell no reactions apart."""
    return emoji.replace("\ufe0f", "")


class Emit(Protocol):
    """Tells everyone who listens at the gateway."""

    def __call__(self, event: str, data: Json, guild: str, channel: Channel | None = None) -> None:
        """Send an event of a server, or of one of its channels."""
        ...


class World:
    """All of it, with ids that grow with time as Discord's do."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._last_id = 0
        self.users: dict[str, User] = {}
        self.guilds: dict[str, Guild] = {}
        self.channels: dict[str, Channel] = {}
        self.messages: dict[str, dict[str, Message]] = {}
        self.commands: dict[str | None, dict[str, Json]] = {None: {}}
        self.webhooks: dict[str, Webhook] = {}
        self.typing: list[tuple[float, str]] = []
        self.pings: list[tuple[str, str]] = []
        self.attached: dict[str, Attachment] = {}  # to commands
        self.bot = self.new_user("Rostrum", bot=True)

    def new_id(self) -> str:
        """Make a snowflake, greater than any before."""
        moment = int(self.clock.now() * 1000) - EPOCH_MS
        self._last_id = max(self._last_id + 1, moment << 22)
        return str(self._last_id)

    def add_webhook(self, channel: str, name: str, owner: str) -> Webhook:
        """Let a channel have a webhook."""
        id_ = self.new_id()
        made = self.webhooks[id_] = Webhook(id_, channel, name, f"hook-token-{id_}", owner)
        return made

    def new_user(
        self, name: str, *, bot: bool = False, account_days: int = 0, member_days: int = 0
    ) -> User:
        """Let somebody exist, for so many days."""
        made = int(self.new_id()) - (account_days * 86_400_000 << 22)
        user = User(str(made), name, bot, member_days)
        self.users[user.id] = user
        return user

    def user(self, ref: Id) -> User:
        """Find a user by id or name."""
        if found := self.users.get(str(ref)):
            return found
        for user in self.users.values():
            if user.name == ref:
                return user
        raise Refusal(Code.UNKNOWN_USER)

    def guild(self, ref: Id) -> Guild:
        """Find a server."""
        if str(ref) not in self.guilds:
            raise Refusal(Code.UNKNOWN_GUILD)
        return self.guilds[str(ref)]

    def channel(self, ref: Id) -> Channel:
        """Find a channel or thread."""
        if str(ref) not in self.channels:
            raise Refusal(Code.UNKNOWN_CHANNEL)
        return self.channels[str(ref)]

    def direct(self, ref: Id) -> Channel:
        """Return the bot's direct messages with somebody, opening them the first time."""
        user = self.user(ref)
        for channel in self.channels.values():
            if channel.type == DIRECT and user.id in channel.members:
                return channel
        made = Channel(self.new_id(), "", "", type=DIRECT, members={user.id, self.bot.id})
        self.channels[made.id] = made
        return made

    def message(self, channel: Id, ref: Id) -> Message:
        """Find a message of a channel."""
        found = self.messages.get(str(channel), {}).get(str(ref))
        if found is None:
            raise Refusal(Code.UNKNOWN_MESSAGE)
        return found

    def find_message(self, ref: Id) -> Message:
        """Find a message wherever it is."""
        for messages in self.messages.values():
            if str(ref) in messages:
                return messages[str(ref)]
        raise Refusal(Code.UNKNOWN_MESSAGE)

    def in_order(self, channel: Id) -> list[Message]:
        """Return a channel's messages, oldest first."""
        return sorted(self.messages.get(str(channel), {}).values(), key=lambda m: int(m.id))

    def threads(self, parent: Id) -> list[Channel]:
        """Return the threads of a channel."""
        return [c for c in self.channels.values() if c.parent_id == str(parent)]
