"""Checks, before anything is paid, whether a debate can run where a command was used; pure."""

from __future__ import annotations

import discord

from adapters.discord import texts
from adapters.discord.permissions import (
    FOR_A_DEBATE,
    FOR_FILES,
    FOR_SECRET,
    INSIDE_A_THREAD,
    lacking,
    missing,
)
from engine.line.intake import Ground
from engine.values.language import Text

Interaction = discord.Interaction[discord.Client]
VOICE = (discord.ChannelType.voice, discord.ChannelType.stage_voice)
POSTS_ONLY = (discord.ChannelType.forum, discord.ChannelType.media)


def ground_of(interaction: Interaction) -> Ground:
    """Return the obstacles in a command's channel or thread, from the bot's permissions in it."""
    channel, held = interaction.channel, interaction.app_permissions
    place, inside = interaction.channel_id, isinstance(channel, discord.Thread)
    files = missing(held, FOR_FILES) and Text(texts.NO_FILES, place=place)
    removal = missing(held, FOR_SECRET) and Text(texts.NO_REMOVAL, place=place)
    return Ground(
        unfit=_unfit_kind(channel, held) or _lacking(held, place, inside=inside),
        no_files=files or "",
        no_removal=removal or "",
    )


def _unfit_kind(channel: object, held: discord.Permissions) -> str:
    kind = getattr(channel, "type", None)
    said = ""
    if kind in VOICE:
        said = texts.NO_VOICE
    elif kind in POSTS_ONLY:
        said = texts.NO_FORUM
    elif isinstance(channel, discord.Thread) and channel.locked and not held.manage_threads:
        said = texts.LOCKED_HERE
    return Text(said, place=str(getattr(channel, "id", ""))) if said else ""


def _lacking(held: discord.Permissions, place: int | None, *, inside: bool) -> str:
    names = lacking(held, INSIDE_A_THREAD if inside else FOR_A_DEBATE)
    return Text(texts.LACKING, place=place, permissions=names) if names else ""
