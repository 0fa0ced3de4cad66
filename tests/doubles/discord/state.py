"""What Discord remembers, what it shows of that as JSON, who may do what, and how it refuses."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import discord

from tests.doubles.facts import Code
from tests.doubles.loopback import Clock
from tests.doubles.wire import readable_in

Json = dict[str, Any]


class Refusal(Exception):  # noqa: N818 - it is Discord's answer, not a failure of the double
    """Discord refused a request; with one of its JSON error codes."""

    def __init__(
        self, code: Code, *, status: int = 0, message: str = "", errors: Any = None
    ) -> None:
        self.code = code
        self.status = status or code.status
        self.message = message or code.said
        self.errors = errors
        super().__init__(f"{self.status} (error code {code.value}): {self.message} {errors or ''}")

    def body(self) -> Json:
        body: Json = {"message": self.message, "code": self.code.value}
        if self.errors is not None:
            body["errors"] = self.errors
        return body


class Faulty:
    """Collects what is wrong with a form, field by field, as Discord reports it."""

    def __init__(self) -> None:
        self._errors: Json = {}

    def add(self, path: str, code: str, message: str) -> None:
        """Note a fault of the field at a dotted path such as `embeds.0.title`."""
        at = self._errors
        for name in path.split("."):
            at = at.setdefault(name, {})
        at.setdefault("_errors", []).append({"code": code, "message": message})

    def length(self, path: str, value: Any, most: int, least: int = 0) -> None:
        """Note a text that is too long, too short or no text."""
        if not isinstance(value, str):
            self.add(path, "STRING_TYPE_CONVERT", "Could not interpret value as string.")
        elif len(value) > most:
            self.add(path, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")
        elif len(value) < least:
            self.add(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")

    def count(self, path: str, value: Any, most: int, least: int = 0) -> bool:
        """Note a list with too many or too few entries; say whether it is a list at all."""
        if not isinstance(value, list):
            self.add(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType.")
            return False
        if not least <= len(value) <= most:
            self.add(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")
        return True

    def check(self) -> None:
        if self._errors:
            raise Refusal(Code.INVALID_FORM, errors=self._errors)


EPOCH_MS: Final = 1_420_070_400_000
DIRECT = 1
TEXT, VOICE, NEWS, STAGE, FORUM, MEDIA = 0, 2, 5, 13, 15, 16
NEWS_THREAD, PUBLIC_THREAD, PRIVATE_THREAD = 10, 11, 12
EPHEMERAL, LOADING = 1 << 6, 1 << 7

Id = int | str


def stamp(moment: float) -> str:
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


texts = partial(readable_in, ("title", "description", "name", "value", "text", "label", "content"))


def plain(emoji: str) -> str:
    """Return an emoji without variation selectors, which tell no reactions apart."""
    return emoji.replace("\ufe0f", "")


Emit = Callable[..., None]  # tells an event of a server, or of one of its channels


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
        id_ = self.new_id()
        made = self.webhooks[id_] = Webhook(id_, channel, name, f"hook-token-{id_}", owner)
        return made

    def new_user(
        self, name: str, *, bot: bool = False, account_days: int = 0, member_days: int = 0
    ) -> User:
        made = int(self.new_id()) - (account_days * 86_400_000 << 22)
        user = User(str(made), name, bot, member_days)
        self.users[user.id] = user
        return user

    def user(self, ref: Id) -> User:
        if found := self.users.get(str(ref)):
            return found
        for user in self.users.values():
            if user.name == ref:
                return user
        raise Refusal(Code.UNKNOWN_USER)

    def guild(self, ref: Id) -> Guild:
        if str(ref) not in self.guilds:
            raise Refusal(Code.UNKNOWN_GUILD)
        return self.guilds[str(ref)]

    def channel(self, ref: Id) -> Channel:
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
        found = self.messages.get(str(channel), {}).get(str(ref))
        if found is None:
            raise Refusal(Code.UNKNOWN_MESSAGE)
        return found

    def find_message(self, ref: Id) -> Message:
        for messages in self.messages.values():
            if str(ref) in messages:
                return messages[str(ref)]
        raise Refusal(Code.UNKNOWN_MESSAGE)

    def in_order(self, channel: Id) -> list[Message]:
        return sorted(self.messages.get(str(channel), {}).values(), key=lambda m: int(m.id))

    def threads(self, parent: Id) -> list[Channel]:
        return [c for c in self.channels.values() if c.parent_id == str(parent)]


# --- who may do what where, computed as Discord documents it ----------------------------

FLAGS: Final = discord.Permissions.VALID_FLAGS
ALL: Final = (1 << 50) - 1


def bits(*names: str) -> int:
    total = 0
    for name in names:
        total |= FLAGS[name]
    return total


EVERYONE: Final = bits(
    "add_reactions",
    "view_channel",
    "send_messages",
    "read_message_history",
    "use_application_commands",
    "create_public_threads",
    "create_private_threads",
    "send_messages_in_threads",
    "embed_links",
    "attach_files",
)
WITH_SENDING: Final = bits("mention_everyone", "send_tts_messages", "attach_files", "embed_links")


def in_guild(guild: Guild, user_id: str) -> int:
    if user_id == guild.owner_id:
        return ALL
    total = guild.roles[guild.id].permissions
    for role in guild.members.get(user_id, set()):
        total |= guild.roles[role].permissions
    return ALL if total & FLAGS["administrator"] else total


def in_channel(world: World, channel: Channel, user_id: str) -> int:
    """Return a member's permissions in a channel; a thread has those of its parent."""
    if channel.type == DIRECT:
        return ALL if user_id in channel.members else 0
    guild = world.guild(channel.guild_id)
    if user_id not in guild.members:
        return 0
    total = in_guild(guild, user_id)
    if total == ALL:
        return ALL
    place = world.channel(channel.parent_id) if channel.parent_id else channel
    total = _overwritten(total, place, guild, user_id)
    if not total & FLAGS["view_channel"]:
        return 0
    sending = "send_messages_in_threads" if channel.is_thread else "send_messages"
    return total if total & FLAGS[sending] else total & ~WITH_SENDING


def _overwritten(total: int, place: Channel, guild: Guild, user_id: str) -> int:
    roles = [place.overwrites[r] for r in guild.members[user_id] if r in place.overwrites]
    for layer in (guild.id, None, user_id):
        if layer is None:
            allow = deny = 0
            for overwrite in roles:
                allow |= overwrite.allow
                deny |= overwrite.deny
            total = total & ~deny | allow
        elif layer in place.overwrites:
            total = total & ~place.overwrites[layer].deny | place.overwrites[layer].allow
    return total


def require(world: World, channel: Channel, user_id: str, *names: str) -> None:
    """Raise 50001 where the channel cannot be seen, 50013 where a permission is missing."""
    held = in_channel(world, channel, user_id)
    stranger = channel.type == PRIVATE_THREAD and user_id not in channel.members
    if not held & FLAGS["view_channel"] or (stranger and not held & FLAGS["manage_threads"]):
        raise Refusal(Code.MISSING_ACCESS)
    wanted = bits(*names)
    if held & wanted != wanted:
        raise Refusal(Code.MISSING_PERMISSIONS)


def require_sending(world: World, channel: Channel, user_id: str) -> None:
    """Raise unless the member may write there; Send Messages does not carry into threads."""
    sending = "send_messages_in_threads" if channel.is_thread else "send_messages"
    require(world, channel, user_id, sending)


# --- state as the JSON that Discord sends -----------------------------------------------

BURST_COLOUR = "#5865f2"


def user_json(user: User) -> Json:
    return {
        "id": user.id,
        "username": user.name,
        "global_name": None if user.bot else user.name.title(),
        "discriminator": "0000" if user.bot else "0",
        "avatar": None,
        "bot": user.bot,
        "public_flags": 0,
    }


def author_json(world: World, message: Message) -> Json:
    """Show who wrote a message: of a webhook's, the name that it was posted under."""
    if not message.username:
        return user_json(world.user(message.author_id))
    shown = {"id": message.author_id, "username": message.username, "global_name": None}
    return shown | {"discriminator": "0000", "avatar": message.avatar, "bot": True}


def member_json(world: World, guild: Guild, user_id: str) -> Json:
    """Show a member of a server, without permissions."""
    user = world.user(user_id)
    return {
        "user": user_json(user),
        "roles": sorted(guild.members.get(user_id, set())),
        "joined_at": stamp(guild.joined - user.member_days * 86_400),
        "flags": 0,
    }


def role_json(role: Role) -> Json:
    return {"id": role.id, "name": role.name, "permissions": str(role.permissions)}


def channel_json(world: World, channel: Channel) -> Json:
    newest = max(world.messages.get(channel.id, {}), key=int, default=None)
    shown: Json = {
        "id": channel.id,
        "type": channel.type,
        "guild_id": channel.guild_id,
        "name": channel.name,
        "parent_id": channel.parent_id,
        "rate_limit_per_user": 0,
        "last_message_id": newest,
        "flags": 0,
    }
    if channel.is_thread:
        return {**shown, **_thread_part(channel)}
    overwrites = [
        {"id": o.id, "type": o.type, "allow": str(o.allow), "deny": str(o.deny)}
        for o in channel.overwrites.values()
    ]
    if channel.type in (VOICE, STAGE):
        shown |= {"bitrate": 64000, "user_limit": 0, "rtc_region": None}
    return {
        **shown,
        "position": 0,
        "permission_overwrites": overwrites,
        "topic": None,
        "nsfw": False,
    }


def _thread_part(thread: Channel) -> Json:
    return {
        "owner_id": thread.owner_id,
        "member_count": len(thread.members),
        "message_count": thread.posted,
        "total_message_sent": thread.posted,
        "thread_metadata": {
            "archived": thread.archived,
            "locked": thread.locked,
            "auto_archive_duration": thread.auto_archive,
            "archive_timestamp": stamp(thread.changed),
            "create_timestamp": stamp(thread.changed),
        },
    }


def thread_member_json(thread: Channel, user_id: str) -> Json:
    return {
        "id": thread.id,
        "user_id": user_id,
        "join_timestamp": stamp(thread.changed),
        "flags": 0,
    }


def guild_json(world: World, guild: Guild) -> Json:
    return {
        "id": guild.id,
        "name": guild.name,
        "owner_id": guild.owner_id,
        "roles": [role_json(role) for role in guild.roles.values()],
        "features": [],
        "preferred_locale": guild.locale,
        "public_updates_channel_id": guild.updates or None,
    }


def guild_create_json(world: World, guild: Guild) -> Json:
    """Show a server as GUILD_CREATE does: with its channels, active threads and the bot."""
    places = [c for c in world.channels.values() if c.guild_id == guild.id]
    seen = [c for c in places if in_channel(world, c, world.bot.id)]
    return {
        **guild_json(world, guild),
        "joined_at": stamp(guild.joined),
        "unavailable": False,
        "member_count": len(guild.members),
        "members": [member_json(world, guild, world.bot.id)],
        "channels": [channel_json(world, c) for c in places if not c.is_thread],
        "threads": [channel_json(world, c) for c in seen if c.is_thread and not c.archived],
    }


def attachment_json(attachment: Attachment, channel_id: str, base: str = "") -> Json:
    """Show a file; its address is served by the double."""
    url = f"{base}/attachments/{channel_id}/{attachment.id}/{attachment.filename}"
    return {
        "id": attachment.id,
        "filename": attachment.filename,
        "description": attachment.description,
        "size": len(attachment.data),
        "url": url,
        "proxy_url": url,
    }


def emoji_json(emoji: str) -> Json:
    return {"id": None, "name": emoji}


def _reaction_json(reaction: Reaction, me: str) -> Json:
    burst, normal = len(reaction.bursts), len(reaction.holders)
    return {
        "emoji": emoji_json(reaction.emoji),
        "count": normal + burst,
        "count_details": {"burst": burst, "normal": normal},
        "me": me in reaction.holders,
        "me_burst": False,
        "burst_colors": [BURST_COLOUR] if burst else [],
    }


def message_json(world: World, message: Message, base: str = "") -> Json:
    """Show a message as reading it does: without its nonce."""
    people = [world.users[p] for p in sorted(message.pings) if p in world.users]
    shown: Json = {
        "id": message.id,
        "channel_id": message.channel_id,
        "author": author_json(world, message),
        "type": message.type,
        "content": message.content,
        "embeds": message.embeds,
        "components": message.components,
        "attachments": [attachment_json(a, message.channel_id, base) for a in message.attachments],
        "flags": message.flags,
        "timestamp": stamp(message.created),
        "edited_timestamp": None if message.edited is None else stamp(message.edited),
        "tts": False,
        "pinned": False,
        "mention_everyone": "everyone" in message.pings,
        "mentions": [user_json(user) for user in people],
        "mention_roles": sorted(p for p in message.pings if p.isdigit() and p not in world.users),
    }
    if message.reactions:
        shown["reactions"] = [_reaction_json(r, world.bot.id) for r in message.reactions.values()]
    return {**shown, **_links(world, message)}


def _links(world: World, message: Message) -> Json:
    shown: Json = {}
    if message.reference:
        shown["message_reference"] = message.reference
    if message.username:
        hook = world.webhooks.get(message.author_id)
        own = hook is None or hook.owner == world.bot.id
        shown["webhook_id"] = message.author_id
        shown["application_id"] = world.bot.id if own else None
    if message.interaction:
        shown["interaction_metadata"] = message.interaction
        shown["application_id"] = world.bot.id
        shown["webhook_id"] = world.bot.id
    thread = world.channels.get(message.id)
    if thread is not None:
        shown["thread"] = channel_json(world, thread)
        shown["flags"] = message.flags | 1 << 5
    return shown
