"""State as the JSON that Discord sends."""

from __future__ import annotations

from tests.doubles.discord.permissions import in_channel
from tests.doubles.discord.refusals import Json
from tests.doubles.discord.state import (
    STAGE,
    VOICE,
    Attachment,
    Channel,
    Guild,
    Message,
    Reaction,
    Role,
    User,
    World,
    stamp,
)

BURST_COLOUR = "#5865f2"


def user_json(user: User) -> Json:
    """Show a user."""
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
        "nick": None,
        "avatar": None,
        "joined_at": stamp(guild.joined - user.member_days * 86_400),
        "deaf": False,
        "mute": False,
        "pending": False,
        "flags": 0,
    }


def role_json(role: Role) -> Json:
    """Show a role."""
    return {
        "id": role.id,
        "name": role.name,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "position": 0,
        "permissions": str(role.permissions),
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }


def channel_json(world: World, channel: Channel) -> Json:
    """Show a channel or a thread."""
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
    """Show somebody's membership of a thread."""
    return {
        "id": thread.id,
        "user_id": user_id,
        "join_timestamp": stamp(thread.changed),
        "flags": 0,
    }


def guild_json(world: World, guild: Guild) -> Json:
    """Show a server as REST does."""
    return {
        "id": guild.id,
        "name": guild.name,
        "owner_id": guild.owner_id,
        "icon": None,
        "splash": None,
        "discovery_splash": None,
        "description": None,
        "banner": None,
        "vanity_url_code": None,
        "roles": [role_json(role) for role in guild.roles.values()],
        "emojis": [],
        "stickers": [],
        "features": [],
        "preferred_locale": guild.locale,
        "afk_channel_id": None,
        "afk_timeout": 300,
        "system_channel_id": None,
        "system_channel_flags": 0,
        "rules_channel_id": None,
        "public_updates_channel_id": guild.updates or None,
        "application_id": None,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "premium_tier": 0,
        "premium_progress_bar_enabled": False,
    }


def guild_create_json(world: World, guild: Guild) -> Json:
    """Show a server as GUILD_CREATE does: with its channels, active threads and the bot."""
    places = [c for c in world.channels.values() if c.guild_id == guild.id]
    seen = [c for c in places if in_channel(world, c, world.bot.id)]
    return {
        **guild_json(world, guild),
        "joined_at": stamp(guild.joined),
        "large": False,
        "unavailable": False,
        "member_count": len(guild.members),
        "members": [member_json(world, guild, world.bot.id)],
        "channels": [channel_json(world, c) for c in places if not c.is_thread],
        "threads": [channel_json(world, c) for c in seen if c.is_thread and not c.archived],
        "voice_states": [],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
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
    """Show an emoji."""
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
