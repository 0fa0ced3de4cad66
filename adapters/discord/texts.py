"""Every message that people on Discord read from this adapter, ready for translation.

Templates are filled with `str.format`; values are data and never parsed as templates. Answers
to commands are worded in engine/chat/answers/; names and descriptions of the commands are in
adapters/discord/commands.py, their translations in locales/.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import discord
from discord import Client, Interaction, Locale, app_commands

from engine.chat.answers.catalogue import HelpAnswer
from engine.values.language import ENGLISH, N_
from engine.words.translation import catalogue

THREAD = N_("Follow it in <#{thread}>.")
REMATCH = N_(
    "**Rematch** and **Swap sides**, below the result of a debate, hold it once more with the same "
    "models."
)
ASK_AGAIN = N_(
    "Discord dropped the private answer to your command, and it must not be shown publicly. Please "
    "ask again."
)
GIVEN_UP = N_(
    "Discord gave your command up before Rostrum could answer it, so nothing was started. Use it "
    "again."
)
TOO_LATE = N_("<@{user}>, the answer to your command:\n{answer}")
NOT_HERE = N_("Rostrum works only in servers; use the command in a channel or thread.")
NOT_A_MEMBER = N_(
    "Rostrum is not a member of this server. Ask an admin to add it, or use it in your direct "
    "messages with it."
)
LACKING = N_(
    "No debate was started: Rostrum lacks {permissions} in <#{place}>. Ask an admin of this server "
    "to grant that to Rostrum's role or in the channel's permissions."
)
NO_CHANNEL_ID = (
    "“{channel}” is not the id of a channel: in Discord, switch on the developer mode and choose "
    "Copy Channel ID."
)
NOT_A_TEXT_CHANNEL = "<#{place}> is no text channel; debates need one, as each opens a thread."
LACKS = (
    "Rostrum lacks {permissions} in <#{place}>; grant that to its role or in the channel's "
    "permissions."
)
NO_FILES = N_(
    "No debate was started: this format posts files, and Rostrum lacks Attach Files in <#{place}>. "
    "Ask an admin of this server to grant it, or choose another format."
)
NO_REMOVAL = N_(
    "No debate was started: a secret ballot needs Rostrum to remove reactions, and it lacks Manage "
    "Messages in <#{place}>. Ask an admin of this server to grant it, or choose ballot open or "
    "private."
)
NO_VOICE = N_(
    "No debate was started: the chat of a voice channel such as <#{place}> has no threads. Use the "
    "command in a text channel."
)
NO_FORUM = N_(
    "No debate was started: <#{place}> is a forum. Open a post there and use the command in it."
)
LOCKED_HERE = N_(
    "No debate was started: <#{place}> is locked. Ask a moderator to unlock it, or use the command "
    "in another channel."
)
NO_BROADCAST = N_(
    "Discord cannot also show a thread's messages in its channel. The announcement says when the "
    "models are named, and links to the thread."
)
MORE_IS_OPTIONS = N_("“more” takes only options, written as name=value; leave other words out.")
TOPIC_TITLE = N_("Start a debate")
TOPIC_FIELD = N_("Topic")
STANCE_FIELDS = {"for": N_("What 🔵 A argues"), "against": N_("What 🔴 B argues")}
STANCE_HINTS = {"for": N_("For the topic"), "against": N_("Against the topic")}
CONDITIONS_FIELD = N_("Conditions (optional)")
CONDITIONS_HINT = N_("What both sides accept")

ATTACHMENT_GONE = N_("An attached file is gone; attach it again and repeat the command.")
ATTACHMENT_AWAY = N_("Discord did not hand over an attached file; repeat the command in a minute.")

# --- errors ------------------------------------------------------------------------------

PERMISSIONS = {
    "post": N_("Send Messages, Send Messages in Threads, Embed Links and Attach Files"),
    "edit": N_("View Channel and Send Messages"),
    "read": N_("View Channel and Read Message History"),
    "thread": N_("Create Public Threads"),
    "react": N_("Add Reactions and Read Message History"),
    "unreact": N_("View Channel and Read Message History"),
    "remove": N_("Manage Messages"),
    "typing": N_("Send Messages in Threads"),
    "name": N_("Manage Webhooks"),
    "erase": N_("Manage Messages"),
    "erase_thread": N_("Manage Threads"),
}
DOING = {
    "post": N_("post in"),
    "edit": N_("edit a message in"),
    "read": N_("read"),
    "thread": N_("open a thread in"),
    "react": N_("react in"),
    "unreact": N_("remove its own reactions in"),
    "remove": N_("remove a reaction in"),
    "typing": N_("show typing in"),
    "name": N_("use webhooks in"),
    "erase": N_("delete a message in"),
    "erase_thread": N_("delete the thread"),
}
FORBIDDEN = N_("Rostrum may not {doing} <#{place}>; grant it {permissions} there.")
NO_ACCESS = N_(
    "Rostrum cannot see <#{place}> any more; grant it View Channel there, or invite it again."
)
CHANNEL_GONE = N_("<#{place}> was deleted; nothing can be posted there any more.")
MESSAGE_GONE = N_("A message in <#{place}> was deleted.")
LOCKED = N_("<#{place}> is locked; unlock it or grant Manage Threads, and the debate goes on.")
TOO_OLD = N_("Discord limits edits of old messages; the state is posted as a new message.")
THREADS_FULL = N_("This server has as many open threads as Discord allows; archive some first.")
TOKEN_REFUSED = N_("Discord refuses the bot's token; copy it again into ROSTRUM_DISCORD__TOKEN.")
AWAY = N_("Discord could not be reached; try again in a minute.")
UNANSWERED = N_("Discord did not answer; Rostrum checks the thread before it retries.")
SILENT = "No events from Discord for {seconds:.0f} s; Rostrum reconnects."
SUPER_STAYS = "Discord left a super reaction on a secret ballot; it counts, and people can see it."
FAILING = N_("Discord failed with status {status}; if this lasts, check discordstatus.com.")
SLOW_DOWN = N_("Discord's rate limit: Rostrum waits {seconds:.1f} s.")
REFUSED = N_("Discord refused that; the people who run Rostrum can see why in its log.")
GATEWAY_REFUSED = (
    "Discord closed the bot's connection for good ({why}); check the application's settings at "
    "discord.com/developers."
)


# Whose language is spoken, and the commands' names and descriptions from the tables in locales/.
#
# Each table maps an English text to its translation; texts missing in a table stay English. A
# person's Discord client picks the language.


# Commands as they are typed on Discord: `/debate forget confirm:True`, not `confirm=yes`.


_WRITTEN = re.compile(r"`/debate (\w+) ([^`\n]+)`")
_SWITCHES = {"yes": "True", "on": "True", "no": "False", "off": "False"}
# The options that answers give without a name, in their order; the last one takes the rest.
IN_ORDER = {
    "status": ("debate",),
    "delete": ("debate",),
    "review": ("debate", "vote"),
    "suggest": ("topic",),
    "schedule": ("when", "topic"),
}


def typed(text: str) -> str:
    """Return an answer whose commands are written as Discord takes them."""
    return _WRITTEN.sub(lambda found: f"`/debate {found[1]} {_options(found[1], found[2])}`", text)


def _options(command: str, written: str) -> str:
    names = list(IN_ORDER.get(command, ()))
    said: list[str] = []
    for word in re.findall(r'"[^"]*"|\S+', written):
        name, equals, value = word.partition("=")
        if equals and command == "settings":
            said.append(f"setting:{name} value:{value}")
        elif equals and name.isidentifier():
            said.append(f"{name}:{_SWITCHES.get(value, value)}")
        elif names:
            said.append(f"{names.pop(0)}:{word.strip(chr(34))}")
        elif said:
            said[-1] += f" {word}"
        else:
            said.append(word)
    return " ".join(said)


def with_options(answer: HelpAnswer, asked: object, *, hides: bool = True) -> HelpAnswer:
    """Return the help on one command with the options that Discord shows for it.

    `asked` is the command that was asked, beside which the others are. `hides`: votes can be
    secret here; else that choice is left out.
    """
    group = asked.parent if isinstance(asked, app_commands.Command) else None
    command = group.get_command(answer.command) if group and answer.command else None
    if not isinstance(command, app_commands.Command):
        return answer
    written = " ".join((command.name, *(_shown(one, hides) for one in command.parameters)))
    lines = tuple((written, about, note) for _, about, note in answer.commands)
    return answer.model_copy(update={"commands": lines})


def _shown(option: app_commands.Parameter, hides: bool) -> str:
    """Return an option with its choices, in brackets if it may be left out."""
    switch = option.type is discord.AppCommandOptionType.boolean
    choices = [choice.name for choice in option.choices if hides or choice.value != "secret"]
    values = ("True", "False") if switch else choices
    said = f"{option.display_name}:{'|'.join(map(str, values)) or '…'}"
    return said if option.required else f"[{said}]"


TABLES = {
    Locale.turkish: "tr",
    Locale.german: "de",
    Locale.spain_spanish: "es",
    Locale.latin_american_spanish: "es",
    Locale.chinese: "zh",
}


@cache
def table(language: str) -> Mapping[str, str]:
    """Return a language's table."""
    forms = catalogue(language, "adapters.discord")
    return {text: form for text, form in forms.items() if isinstance(form, str)}


def language_of(interaction: Interaction[Client]) -> str:
    """Return the language of the person's client."""
    return str(interaction.locale.value)


def language_around(interaction: Interaction[Client]) -> str:
    """Return the language of the server, for what everyone there reads."""
    locale = interaction.guild_locale
    return str(locale.value) if locale else ENGLISH


class Translator(app_commands.Translator):
    """Looks up the commands' texts in the tables."""

    async def translate(
        self,
        string: app_commands.locale_str,
        locale: Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        """Return a text's translation, None for a language without a table."""
        language = TABLES.get(locale)
        return None if language is None else table(language).get(string.message)
