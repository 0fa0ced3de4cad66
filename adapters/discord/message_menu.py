"""“Debate this” in the menu of a message: opens the form with the message as its motion.

Discord hands over the message's text with the command, so that no privileged intent is needed.
"""

from __future__ import annotations

import discord
from discord import app_commands

from adapters.discord.answering import FrontDesk, Interaction
from adapters.discord.commands import TopicForm
from adapters.discord.translation import language_of
from engine.chat.motion import motion_of
from engine.values.errors import UsageError
from engine.values.language import speaking

NAME = "Debate this"


def debate_this(desk: FrontDesk) -> app_commands.ContextMenu:
    """Return the entry, for everyone who can write, as `/debate`."""

    @app_commands.guild_only()
    @app_commands.default_permissions(send_messages=True)
    @app_commands.allowed_installs(guilds=True, users=False)
    async def ask(interaction: Interaction, message: discord.Message) -> None:
        with speaking(language_of(interaction)):
            try:
                motion = motion_of(message.content)
            except UsageError as error:
                await desk.refuse(interaction, error)
            else:
                await interaction.response.send_modal(TopicForm(desk, {"topic": motion}))

    return app_commands.ContextMenu(name=NAME, callback=ask)
