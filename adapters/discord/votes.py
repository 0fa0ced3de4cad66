"""Maps Discord's emoji to the reactions of a vote; pure."""

from __future__ import annotations

import re

import discord

from engine.values.ports import ReactionsCleared, ReactionSeen
from engine.values.text import REACTIONS, VARIANT, split_variant, with_variant

# Discord sends emoji with or without the selector of their coloured form.
_COLOURED = "\ufe0f"
_TONES = re.compile("[\U0001f3fb-\U0001f3ff]")
_REACTIONS = {emoji.replace(_COLOURED, ""): reaction for reaction, emoji in REACTIONS.items()}
_REACTIONS["🫱\u200d🫲"] = "tie"  # a handshake of two skin tones, without them
SUPER = "super"


def reaction_of(emoji: object, *, burst: bool = False) -> str | None:
    """Return the name of an emoji's reaction, None for other emoji.

    `burst`: it is a super reaction. One person may hold both kinds, and each in every skin tone.
    """
    plain = emoji.replace(_COLOURED, "") if isinstance(emoji, str) else ""
    toneless = _TONES.sub("", plain)
    reaction = _REACTIONS.get(toneless)
    if reaction is None:
        return None
    kinds = ([] if toneless == plain else [plain]) + ([SUPER] if burst else [])
    return with_variant(reaction, VARIANT.join(kinds))


def emoji_of(reaction: str) -> str:
    """Return the emoji of a reaction, in its skin tone."""
    plain, variant = split_variant(reaction)
    tone = variant.removesuffix(SUPER).removesuffix(VARIANT)
    return tone or REACTIONS[plain]


def reaction_seen(
    event: discord.RawReactionActionEvent, me: int | None, *, added: bool
) -> ReactionSeen | None:
    """Translate a reaction; None for a bot's, or another emoji.

    Discord says whether a user is a bot only when a reaction is added; one that was not counted
    then cannot be withdrawn.
    """
    name = None if event.emoji.is_custom_emoji() else event.emoji.name
    option = reaction_of(name, burst=event.burst)
    if option is None or event.user_id == me or (event.member is not None and event.member.bot):
        return None
    return ReactionSeen(
        place=str(event.channel_id),
        message=str(event.message_id),
        user=str(event.user_id),
        option=option,
        added=added,
        joined_at=event.member.joined_at if event.member is not None else None,
    )


def all_cleared(event: discord.RawReactionClearEvent) -> ReactionsCleared:
    """Translate the removal of every reaction by a moderator."""
    return ReactionsCleared(str(event.channel_id), str(event.message_id))


def emoji_cleared(event: discord.RawReactionClearEmojiEvent) -> ReactionsCleared | None:
    """Translate the removal of one emoji by a moderator; None for other emoji."""
    option = None if event.emoji.is_custom_emoji() else reaction_of(event.emoji.name)
    if option is None:
        return None
    return ReactionsCleared(str(event.channel_id), str(event.message_id), option)
