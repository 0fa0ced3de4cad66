"""Every message that people on Discord read from this adapter, ready for translation.

Templates are filled with `str.format`; values are data and never parsed as templates. Answers
to commands are worded in engine/chat/answers/; names and descriptions of the commands are in
adapters/discord/commands.py, their translations in locales/.
"""

from __future__ import annotations

from engine.values.language import N_

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
