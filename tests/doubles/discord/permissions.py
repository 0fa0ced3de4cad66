"""Who may do what where, computed as Discord documents it."""

from __future__ import annotations

from typing import Final

from tests.doubles.discord.refusals import Refusal
from tests.doubles.discord.state import DIRECT, PRIVATE_THREAD, Channel, Guild, World
from tests.doubles.facts import Code

FLAGS: Final = {
    "administrator": 1 << 3,
    "manage_channels": 1 << 4,
    "manage_guild": 1 << 5,
    "add_reactions": 1 << 6,
    "view_channel": 1 << 10,
    "send_messages": 1 << 11,
    "send_tts_messages": 1 << 12,
    "manage_messages": 1 << 13,
    "embed_links": 1 << 14,
    "attach_files": 1 << 15,
    "read_message_history": 1 << 16,
    "mention_everyone": 1 << 17,
    "manage_webhooks": 1 << 29,
    "use_application_commands": 1 << 31,
    "manage_threads": 1 << 34,
    "create_public_threads": 1 << 35,
    "create_private_threads": 1 << 36,
    "send_messages_in_threads": 1 << 38,
}
ALL: Final = (1 << 50) - 1


def bits(*names: str) -> int:
    """Return the flags of permissions by name."""
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
    """Return a member's permissions before any channel has its say."""
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
