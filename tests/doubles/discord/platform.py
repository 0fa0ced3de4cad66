"""What happens on the platform, by Discord's rules, whoever does it: the bot or a person.

Every method changes the state and tells the gateway, or raises Refusal and changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import regex

from tests.doubles.discord import limits
from tests.doubles.discord.rest import Call
from tests.doubles.discord.state import (
    BURST_COLOUR,
    DIRECT,
    FLAGS,
    FORUM,
    MEDIA,
    NEWS,
    NEWS_THREAD,
    PRIVATE_THREAD,
    TEXT,
    Attachment,
    Channel,
    Emit,
    Faulty,
    Json,
    Message,
    Reaction,
    Refusal,
    Webhook,
    World,
    channel_json,
    emoji_json,
    in_channel,
    member_json,
    message_json,
    plain,
    require,
    require_sending,
    thread_member_json,
    user_json,
)
from tests.doubles.facts import Code, Discord

POSTS_ONLY = (FORUM, MEDIA)
EMOJI = regex.compile(r"(?:[\p{Emoji}--[0-9#*]]|[0-9#*]\uFE0F?\u20E3)[\p{EComp}\uFE0F]*", regex.V1)
MENTION = regex.compile(r"<@(?P<role>&)?!?(?P<id>\d+)>|@(?P<all>everyone|here)\b")


@dataclass
class Rules:
    """What a test may set: seconds that a nonce is remembered, and other limits."""

    nonce_seconds: float = Discord.NONCE_SECONDS
    answer_seconds: float = Discord.ANSWER_SECONDS
    token_seconds: float = Discord.TOKEN_SECONDS
    old_edits: int = Discord.OLD_EDITS
    active_threads: int = Discord.ACTIVE_THREADS
    message_content: bool = False
    direct_messages: bool = True


@dataclass
class Draft:
    """What somebody wants to post."""

    body: Json
    files: list[Attachment] = field(default_factory=list)
    flags: int = 0
    interaction: Json | None = None


class Platform:
    """Messages, reactions and threads as they happen."""

    def __init__(self, world: World, emit: Emit, rules: Rules) -> None:
        self.world = world
        self.emit = emit
        self.rules = rules
        self._nonces: dict[tuple[str, str, str], tuple[float, Message]] = {}

    def post(self, channel: Channel, author: str, draft: Draft) -> Message:
        """Post; the same message again while its enforced nonce is remembered."""
        self.may_post(channel, author, draft)
        limits.check_message(draft.body, draft.files)
        nonce = str(draft.body["nonce"]) if draft.body.get("nonce") is not None else None
        key = (author, channel.id, nonce or "")
        if nonce and draft.body.get("enforce_nonce") and key in self._nonces:
            moment, known = self._nonces[key]
            if self.world.clock.now() - moment < self.rules.nonce_seconds:
                return known
        self._wake(channel)
        message = self.compose(channel, author, draft)
        message.nonce = nonce
        if nonce:
            self._nonces[key] = (message.created, message)
        self.show(channel, message)
        return message

    def post_by(self, hook: Webhook, channel: Channel, name: str, draft: Draft) -> Message:
        """Post by a webhook, which has no permissions of its own, and no nonce."""
        if channel.locked:
            raise Refusal(Code.THREAD_LOCKED)
        limits.check_message(draft.body, draft.files)
        self._wake(channel)
        message = self.compose(channel, hook.id, draft)
        message.username, message.avatar = name, draft.body.get("avatar_url")
        self.show(channel, message)
        return message

    def may_post(self, channel: Channel, author: str, draft: Draft) -> None:
        if channel.type in POSTS_ONLY:
            raise Refusal(Code.NOT_FOR_TEXT)
        if channel.type == DIRECT and not self.rules.direct_messages:
            raise Refusal(Code.NO_DIRECT_MESSAGES)
        require_sending(self.world, channel, author)
        wanted = ["embed_links"] if draft.body.get("embeds") else []
        wanted += ["attach_files"] if draft.files else []
        reference = draft.body.get("message_reference")
        wanted += ["read_message_history"] if reference else []
        require(self.world, channel, author, *wanted)
        if channel.locked and not self._may(channel, author, "manage_threads"):
            raise Refusal(Code.THREAD_ARCHIVED if channel.archived else Code.THREAD_LOCKED)
        if reference and reference.get("fail_if_not_exists", True):
            self.world.message(channel.id, reference["message_id"])

    def compose(self, channel: Channel, author: str, draft: Draft) -> Message:
        """Make a message that nobody sees yet."""
        body = draft.body
        message = Message(
            self.world.new_id(),
            channel.id,
            author,
            self.world.clock.now(),
            content=(body.get("content") or "").strip(),
            embeds=[{"type": "rich", **embed} for embed in body.get("embeds") or []],
            components=body.get("components") or [],
            attachments=draft.files,
            flags=draft.flags | int(body.get("flags") or 0),
            reference=body.get("message_reference"),
            interaction=draft.interaction,
        )
        message.pings = self._pings(channel, author, message.content, body)
        return message

    def show(self, channel: Channel, message: Message) -> None:
        self.world.messages.setdefault(channel.id, {})[message.id] = message
        self.world.pings += [(message.id, who) for who in sorted(message.pings)]
        channel.posted += 1
        self._tell(channel, message, "MESSAGE_CREATE")

    def edit(self, message: Message, author: str, draft: Draft, *, member: bool = True) -> Message:
        """Edit one's own message; fields that the body lacks stay as they are."""
        if message.author_id != author:
            raise Refusal(Code.NOT_THE_AUTHOR)
        channel = self.world.channels.get(message.channel_id)
        if member and channel is not None:
            if not message.username:
                require(self.world, channel, author)
            self._require_open(channel)
        body = draft.body
        kept = self._kept(message, body)
        names = ("content", "embeds", "components")
        merged = {name: body[name] if name in body else getattr(message, name) for name in names}
        limits.check_message({**body, **merged}, draft.files, kept_files=len(kept))
        now = self.world.clock.now()
        if now - message.created > Discord.OLD_AFTER:
            if message.old_edits >= self.rules.old_edits:
                raise Refusal(Code.TOO_OLD_TO_EDIT)
            message.old_edits += 1
        message.history.append(message.text)
        message.content = merged["content"] or ""
        message.embeds = [{"type": "rich", **embed} for embed in merged["embeds"] or []]
        message.components = merged["components"] or []
        message.attachments = kept + draft.files
        message.edited = now
        if channel is not None and message.id in self.world.messages.get(channel.id, {}):
            self._tell(channel, message, "MESSAGE_UPDATE")
        return message

    def delete(self, message: Message, actor: str) -> None:
        channel = self.world.channel(message.channel_id)
        if message.author_id != actor:
            require(self.world, channel, actor, "manage_messages")
        self._require_open(channel)
        del self.world.messages[channel.id][message.id]
        gone = {"id": message.id, "channel_id": channel.id, "guild_id": channel.guild_id}
        self.emit("MESSAGE_DELETE", gone, channel.guild_id, channel)

    def _kept(self, message: Message, body: Json) -> list[Attachment]:
        if body.get("attachments") is None:
            return message.attachments
        wanted = {str(item.get("id")) for item in body["attachments"]}
        return [item for item in message.attachments if item.id in wanted]

    def _tell(self, channel: Channel, message: Message, event: str) -> None:
        if channel.type == DIRECT:  # the bot's intents leave those out
            return
        guild = self.world.guild(channel.guild_id)
        data = self.withheld(message, message_json(self.world, message))
        if event == "MESSAGE_CREATE" and message.nonce:
            data["nonce"] = message.nonce
        data |= {"guild_id": guild.id}
        if not message.username:  # a webhook is no member
            member = member_json(self.world, guild, message.author_id)
            del member["user"]
            data |= {"member": member}
        self.emit(event, data, guild.id, channel)

    def withheld(self, message: Message, data: Json) -> Json:
        """Return a message as the bot gets it: without the intent, texts of others are kept."""
        mine = self.world.bot.id in (message.author_id, *message.pings) or bool(message.username)
        direct = self.world.channels[message.channel_id].type == DIRECT
        if mine or direct or self.rules.message_content:
            return data
        return data | {"content": "", "embeds": [], "components": [], "attachments": []}

    def _pings(self, channel: Channel, author: str, content: str, body: Json) -> set[str]:
        """Return whom a content notifies; without allowed_mentions that is everyone named."""
        allowed = body.get("allowed_mentions")
        parse = {"users", "roles", "everyone"} if allowed is None else set(allowed.get("parse", []))
        named = {str(i) for kind in ("users", "roles") for i in (allowed or {}).get(kind, [])}
        found: set[str] = set()
        for match in MENTION.finditer(content):
            kind = "everyone" if match["all"] else "roles" if match["role"] else "users"
            if kind == "everyone":
                if kind in parse and self._may(channel, author, "mention_everyone"):
                    found.add("everyone")
            elif kind in parse or match["id"] in named:
                found.add(match["id"])
        return found

    def react(self, message: Message, user: str, emoji: str, *, burst: bool = False) -> None:
        """Add somebody's reaction; the first of an emoji needs Add Reactions."""
        channel = self.world.channel(message.channel_id)
        require(self.world, channel, user, "read_message_history")
        self._require_open(channel)
        if not EMOJI.fullmatch(emoji):
            raise Refusal(Code.UNKNOWN_EMOJI)
        reaction = message.reactions.get(plain(emoji))
        if reaction is None:
            require(self.world, channel, user, "add_reactions")
            if len(message.reactions) >= Discord.EMOJIS:
                raise Refusal(Code.TOO_MANY_EMOJIS)
            reaction = message.reactions[plain(emoji)] = Reaction(emoji)
        if user in reaction.of(burst):
            return
        reaction.of(burst)[user] = None
        guild = self.world.guild(channel.guild_id)
        data = self._reaction_data(message, user, reaction.emoji, burst)
        if burst:
            data["burst_colors"] = [BURST_COLOUR]
        data["member"] = member_json(self.world, guild, user)
        data["message_author_id"] = message.author_id
        self.emit("MESSAGE_REACTION_ADD", data, guild.id, channel)

    def unreact(
        self, message: Message, user: str, emoji: str, *, actor: str, burst: bool = False
    ) -> None:
        """Take a reaction away: one's own, or another's with Manage Messages."""
        channel = self.world.channel(message.channel_id)
        require(self.world, channel, actor, *(["manage_messages"] if user != actor else []))
        self._require_open(channel)
        reaction = message.reactions.get(plain(emoji))
        if reaction is None or user not in reaction.of(burst):
            raise Refusal(Code.UNKNOWN_EMOJI)
        del reaction.of(burst)[user]
        if not (reaction.holders or reaction.bursts):
            del message.reactions[plain(emoji)]
        data = self._reaction_data(message, user, reaction.emoji, burst)
        self.emit("MESSAGE_REACTION_REMOVE", data, channel.guild_id, channel)

    def clear(self, message: Message, actor: str, emoji: str | None = None) -> None:
        """Take everybody's reactions away, all or one emoji's; needs Manage Messages."""
        channel = self.world.channel(message.channel_id)
        require(self.world, channel, actor, "manage_messages")
        self._require_open(channel)
        data: Json = {"channel_id": channel.id, "message_id": message.id}
        data["guild_id"] = channel.guild_id
        if emoji is None:
            message.reactions.clear()
            self.emit("MESSAGE_REACTION_REMOVE_ALL", data, channel.guild_id, channel)
        elif gone := message.reactions.pop(plain(emoji), None):
            data["emoji"] = emoji_json(gone.emoji)
            self.emit("MESSAGE_REACTION_REMOVE_EMOJI", data, channel.guild_id, channel)
        else:
            raise Refusal(Code.UNKNOWN_EMOJI)

    def _reaction_data(self, message: Message, user: str, emoji: str, burst: bool) -> Json:
        return {
            "user_id": user,
            "channel_id": message.channel_id,
            "message_id": message.id,
            "guild_id": self.world.channel(message.channel_id).guild_id,
            "emoji": emoji_json(emoji),
            "burst": burst,
            "type": int(burst),
        }

    def open_thread(
        self, channel: Channel, owner: str, body: Json, *, on: Message | None = None, kind: int
    ) -> Channel:
        """Open a thread; one that hangs on a message has that message's id."""
        if channel.type == DIRECT:
            raise Refusal(Code.NOT_IN_DIRECT_MESSAGES)
        if channel.type not in (TEXT, NEWS) and (on is not None or channel.type not in POSTS_ONLY):
            raise Refusal(Code.NOT_IN_SUCH_A_CHANNEL)
        kind = NEWS_THREAD if channel.type == NEWS and on is not None else kind
        private = kind == PRIVATE_THREAD
        wanted = "create_private_threads" if private else "create_public_threads"
        require(self.world, channel, owner, wanted)
        limits.check_thread({"name": None, **body})
        if on is not None and on.id in self.world.channels:
            raise Refusal(Code.THREAD_EXISTS)
        active = sum(t.is_thread and not t.archived for t in self.world.channels.values())
        if active >= self.rules.active_threads:
            raise Refusal(Code.TOO_MANY_THREADS)
        thread = Channel(
            on.id if on is not None else self.world.new_id(),
            channel.guild_id,
            body["name"],
            type=kind,
            parent_id=channel.id,
            owner_id=owner,
            auto_archive=body.get("auto_archive_duration") or 1440,
            changed=self.world.clock.now(),
            members={owner},
        )
        self.world.channels[thread.id] = thread
        shown = {**channel_json(self.world, thread), "newly_created": True}
        shown["member"] = thread_member_json(thread, owner)
        self.emit("THREAD_CREATE", shown, thread.guild_id, thread)
        return thread

    def change_thread(self, thread: Channel, actor: str, body: Json) -> None:
        """Rename, archive, un-archive, lock or unlock."""
        require(self.world, thread, actor)
        limits.check_thread(body)
        if not self._may(thread, actor, "manage_threads"):
            if "locked" in body or (thread.locked and thread.archived):
                raise Refusal(Code.MISSING_PERMISSIONS)
            if thread.owner_id != actor:
                raise Refusal(Code.MISSING_PERMISSIONS)
        if thread.archived and body.get("archived", True) and body.keys() - {"archived", "locked"}:
            raise Refusal(Code.THREAD_ARCHIVED)
        thread.name = body.get("name", thread.name)
        thread.archived = body.get("archived", thread.archived)
        thread.locked = body.get("locked", thread.locked)
        thread.auto_archive = body.get("auto_archive_duration") or thread.auto_archive
        self._changed(thread)

    def delete_channel(self, channel: Channel, actor: str) -> None:
        wanted = "manage_threads" if channel.is_thread else "manage_channels"
        require(self.world, channel, actor, wanted)
        shown = channel_json(self.world, channel)
        for thread in self.world.threads(channel.id):
            del self.world.channels[thread.id]
        event = "THREAD_DELETE" if channel.is_thread else "CHANNEL_DELETE"
        self.emit(event, shown, channel.guild_id, channel)
        del self.world.channels[channel.id]
        self.world.messages.pop(channel.id, None)

    def _wake(self, channel: Channel) -> None:
        if channel.archived:
            channel.archived = False
            self._changed(channel)

    def _changed(self, thread: Channel) -> None:
        thread.changed = self.world.clock.now()
        shown = channel_json(self.world, thread)
        self.emit("THREAD_UPDATE", shown, thread.guild_id, thread)

    def _require_open(self, channel: Channel) -> None:
        if channel.archived:
            raise Refusal(Code.THREAD_ARCHIVED)

    def _may(self, channel: Channel, user: str, permission: str) -> bool:
        return bool(in_channel(self.world, channel, user) & FLAGS[permission])


# --- incoming webhooks: made by a bot with Manage Webhooks, and posting under any name ---


class Hooks:
    """What the API does with webhooks; a channel's threads share them."""

    def __init__(self, platform: Platform, base: Callable[[], str]) -> None:
        self._platform, self._world, self._base = platform, platform.world, base

    def listed(self, channel: Channel) -> list[Json]:
        """Return a channel's webhooks, with the tokens of the bot's own."""
        require(self._world, channel, self._world.bot.id, "manage_webhooks")
        return [self.json(hook) for hook in self._in(channel)]

    def make(self, channel: Channel, body: Json) -> Json:
        """Make one, at most fifteen a channel."""
        require(self._world, channel, self._world.bot.id, "manage_webhooks")
        if channel.is_thread:
            raise Refusal(Code.NOT_IN_SUCH_A_CHANNEL)
        _check_name("name", body.get("name"))
        if len(self._in(channel)) >= Discord.WEBHOOKS:
            raise Refusal(Code.TOO_MANY_WEBHOOKS)
        made = self._world.add_webhook(channel.id, body["name"], self._world.bot.id)
        return self.json(made)

    def known(self, call: Call) -> bool:
        """Return whether a request is for a webhook, not an interaction's."""
        return call.params["app"] != self._world.bot.id

    def execute(self, call: Call, draft: Draft) -> Json | None:
        """Post under the name that the request chooses."""
        hook = self._found(call)
        channel = self._place(hook, call)
        name = draft.body.get("username") or hook.name
        _check_name("username", name)
        message = self._platform.post_by(hook, channel, name, draft)
        waits = call.query.get("wait", "").lower() in ("1", "true")
        return self._show(message) if waits else None

    def edit(self, call: Call, draft: Draft) -> Json:
        return self._show(self._platform.edit(self._own(call), call.params["app"], draft))

    def delete(self, call: Call) -> None:
        self._platform.delete(self._own(call), call.params["app"])

    def json(self, hook: Webhook) -> Json:
        """Show a webhook; the token only of those that the bot made."""
        own = hook.owner == self._world.bot.id
        return {
            "id": hook.id,
            "type": 1,
            "channel_id": hook.channel_id,
            "guild_id": self._world.channel(hook.channel_id).guild_id,
            "name": hook.name,
            "avatar": None,
            "user": user_json(self._world.user(hook.owner)),
            "application_id": hook.owner if own else None,
            **({"token": hook.token} if own else {}),
        }

    def _in(self, channel: Channel) -> list[Webhook]:
        return [hook for hook in self._world.webhooks.values() if hook.channel_id == channel.id]

    def _found(self, call: Call) -> Webhook:
        hook = self._world.webhooks.get(call.params["app"])
        if hook is None:
            raise Refusal(Code.UNKNOWN_WEBHOOK)
        if hook.token != call.params["token"]:
            raise Refusal(Code.INVALID_TOKEN)
        return hook

    def _place(self, hook: Webhook, call: Call) -> Channel:
        thread = call.query.get("thread_id")
        channel = self._world.channel(thread or hook.channel_id)
        if thread and channel.parent_id != hook.channel_id:
            raise Refusal(Code.UNKNOWN_CHANNEL)
        assert thread or channel.type == TEXT
        return channel

    def _own(self, call: Call) -> Message:
        hook = self._found(call)
        message = self._world.message(self._place(hook, call).id, call.params["message"])
        if message.author_id != hook.id:
            raise Refusal(Code.UNKNOWN_MESSAGE)
        return message

    def _show(self, message: Message) -> Json:
        return message_json(self._world, message, self._base())


def _check_name(field: str, name: Any) -> None:
    faulty = Faulty()
    faulty.length(field, name, Discord.WEBHOOK_NAME, 1)
    said = name.casefold() if isinstance(name, str) else ""
    for word in ("clyde", "discord"):
        if word in said:
            text = f'Username cannot contain "{word}"'
            faulty.add(field, "USERNAME_INVALID_CONTAINS", text)
    if said in ("everyone", "here"):
        faulty.add(field, "USERNAME_INVALID", f'Username cannot be "{said}"')
    faulty.check()
