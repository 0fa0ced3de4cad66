"""Maps Discord's emoji to the reactions of a vote; pure."""

from __future__ import annotations

import discord

from engine.marks import REACTIONS
from engine.ports import ReactionsCleared, ReactionSeen

# Discord sends emoji with or without the selector of their coloured form.
_COLOURED = "\ufe0f"
_REACTIONS = {emoji.replace(_COLOURED, ""): reaction for reaction, emoji in REACTIONS.items()}


def reaction_of(emoji: object) -> str | None:
    """Return the name of an emoji's reaction, None for other emoji."""
    return _REACTIONS.get(emoji.replace(_COLOURED, "")) if isinstance(emoji, str) else None


def reaction_seen(
    event: discord.RawReactionActionEvent, me: int | None, *, added: bool
) -> ReactionSeen | None:
    """Translate a reaction; None for a bot's, or another emoji.

    Discord says whether a user is a bot only when a reaction is added; one that was not counted
    then cannot be withdrawn.
    """
    option = None if event.emoji.is_custom_emoji() else reaction_of(event.emoji.name)
    if option is None or event.user_id == me or (event.member is not None and event.member.bot):
        return None
    return ReactionSeen(
        place=str(event.channel_id),
        message=str(event.message_id),
        user=str(event.user_id),
        option=option,
        added=added,
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
