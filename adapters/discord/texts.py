"""Every sentence that Discord's people read from this adapter, ready for translation.

Templates are filled with `str.format`; what is filled in is data and never read as one. Answers
to commands are worded in engine/answers/; names and descriptions of the commands are in
adapters/discord/commands.py, their translations in locales/.
"""

from __future__ import annotations

THREAD = "It is held in <#{thread}>."
ASK_AGAIN = (
    "Discord dropped the private answer to your command, and it may not be shown to everybody; "
    "please ask again."
)
TOO_LATE = "<@{user}>, the answer to your command:\n{answer}"
NOT_HERE = "Rostrum works in servers only, in a channel or a thread; use the command there."
LACKING = (
    "No debate was started: in <#{place}> Rostrum lacks {permissions}. An admin of this server "
    "grants that to Rostrum's role, or in the channel's own permissions."
)
NO_FILES = (
    "No debate was started: this format posts files, and in <#{place}> Rostrum lacks Attach Files. "
    "An admin of this server grants that, or choose another format."
)
NO_REMOVAL = (
    "No debate was started: in a secret ballot Rostrum takes each reaction away, and in <#{place}> "
    "it lacks Manage Messages. An admin of this server grants that, or choose ballot open or "
    "private."
)
NO_VOICE = (
    "No debate was started: the chat of a voice channel such as <#{place}> has no threads. Use the "
    "command in a text channel."
)
NO_FORUM = (
    "No debate was started: <#{place}> takes posts only. Open a post there, and use the command in "
    "it."
)
LOCKED_HERE = (
    "No debate was started: <#{place}> is locked. Have a moderator unlock it, or use the command "
    "in another channel."
)
NO_BROADCAST = (
    "Discord shows what is posted in a thread in that thread alone; the announcement says when the "
    "models are named, and links there."
)
MORE_IS_OPTIONS = "“more” takes options only, written as name=value; leave other words out."
TOPIC_TITLE = "Start a debate"
TOPIC_FIELD = "Topic"
CONDITIONS_FIELD = "Conditions (optional)"
CONDITIONS_HINT = "What both sides accept"

# --- errors ------------------------------------------------------------------------------

PERMISSIONS = {
    "post": "Send Messages, Send Messages in Threads, Embed Links and Attach Files",
    "edit": "View Channel and Send Messages",
    "read": "View Channel and Read Message History",
    "thread": "Create Public Threads",
    "react": "Add Reactions and Read Message History",
    "remove": "Manage Messages",
    "typing": "Send Messages in Threads",
}
DOING = {
    "post": "post in",
    "edit": "edit a message in",
    "read": "read",
    "thread": "open a thread in",
    "react": "react in",
    "remove": "remove a reaction in",
    "typing": "show typing in",
}
FORBIDDEN = "Rostrum may not {doing} <#{place}>; grant it {permissions} there."
NO_ACCESS = "Rostrum cannot see <#{place}> any more; give it View Channel there, or invite it anew."
CHANNEL_GONE = "<#{place}> was deleted; nothing can be posted there any more."
MESSAGE_GONE = "There is no message {message} in <#{place}> any more; it was deleted."
LOCKED = "<#{place}> is archived and locked; unlock the thread to go on."
TOO_OLD = "Discord does not let a message this old be edited so often; the state is posted anew."
THREADS_FULL = "This server has as many open threads as Discord allows; archive some first."
TOKEN_REFUSED = "Discord refuses the bot's token; copy it anew into ROSTRUM_DISCORD__TOKEN."  # noqa: S105
AWAY = "Discord could not be reached ({why}); check the network if this lasts."
UNANSWERED = "Discord did not answer ({why}); the request is looked for before it is repeated."
SILENT = "Nothing was heard from Discord for {seconds:.0f} s; Rostrum connects again."
FAILING = "Discord failed with status {status}; if this lasts, look at discordstatus.com."
SLOW_DOWN = "Discord asks to wait {seconds:.1f} s; Rostrum does."
REFUSED = "Discord refused to {doing} <#{place}>: {why}."
GATEWAY_REFUSED = (
    "Discord closed the bot's connection for good ({why}); check the application's settings at "
    "discord.com/developers."
)
