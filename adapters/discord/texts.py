"""Every message that people on Discord read from this adapter, ready for translation.

Templates are filled with `str.format`; values are data and never parsed as templates. Answers
to commands are worded in engine/chat/answers/; names and descriptions of the commands are in
adapters/discord/commands.py, their translations in locales/.
"""

from __future__ import annotations

THREAD = "Follow it in <#{thread}>."
REMATCH = (
    "**Rematch** and **Swap sides**, below the result of a debate, hold it once more with the same "
    "models."
)
ASK_AGAIN = (
    "Discord dropped the private answer to your command, and it must not be shown publicly. Please "
    "ask again."
)
GIVEN_UP = (
    "Discord gave your command up before Rostrum could answer it, so nothing was started. Use it "
    "again."
)
TOO_LATE = "<@{user}>, the answer to your command:\n{answer}"
NOT_HERE = "Rostrum works only in servers; use the command in a channel or thread."
NOT_A_MEMBER = (
    "Rostrum is not a member of this server. Ask an admin to add it, or use it in your direct "
    "messages with it."
)
LACKING = (
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
NO_FILES = (
    "No debate was started: this format posts files, and Rostrum lacks Attach Files in <#{place}>. "
    "Ask an admin of this server to grant it, or choose another format."
)
NO_REMOVAL = (
    "No debate was started: a secret ballot needs Rostrum to remove reactions, and it lacks Manage "
    "Messages in <#{place}>. Ask an admin of this server to grant it, or choose ballot open or "
    "private."
)
NO_VOICE = (
    "No debate was started: the chat of a voice channel such as <#{place}> has no threads. Use the "
    "command in a text channel."
)
NO_FORUM = (
    "No debate was started: <#{place}> is a forum. Open a post there and use the command in it."
)
LOCKED_HERE = (
    "No debate was started: <#{place}> is locked. Ask a moderator to unlock it, or use the command "
    "in another channel."
)
NO_BROADCAST = (
    "Discord cannot also show a thread's messages in its channel. The announcement says when the "
    "models are named, and links to the thread."
)
MORE_IS_OPTIONS = "“more” takes only options, written as name=value; leave other words out."
TOPIC_TITLE = "Start a debate"
TOPIC_FIELD = "Topic"
STANCE_FIELDS = {"for": "What 🔵 A argues", "against": "What 🔴 B argues"}
STANCE_HINTS = {"for": "For the topic", "against": "Against the topic"}
CONDITIONS_FIELD = "Conditions (optional)"
CONDITIONS_HINT = "What both sides accept"

ATTACHMENT_GONE = "An attached file is gone; attach it again and repeat the command."
ATTACHMENT_AWAY = "Discord did not hand over an attached file; repeat the command in a minute."

# --- errors ------------------------------------------------------------------------------

PERMISSIONS = {
    "post": "Send Messages, Send Messages in Threads, Embed Links and Attach Files",
    "edit": "View Channel and Send Messages",
    "read": "View Channel and Read Message History",
    "thread": "Create Public Threads",
    "react": "Add Reactions and Read Message History",
    "unreact": "View Channel and Read Message History",
    "remove": "Manage Messages",
    "typing": "Send Messages in Threads",
    "name": "Manage Webhooks",
    "erase": "Manage Messages",
    "erase_thread": "Manage Threads",
}
DOING = {
    "post": "post in",
    "edit": "edit a message in",
    "read": "read",
    "thread": "open a thread in",
    "react": "react in",
    "unreact": "remove its own reactions in",
    "remove": "remove a reaction in",
    "typing": "show typing in",
    "name": "use webhooks in",
    "erase": "delete a message in",
    "erase_thread": "delete the thread",
}
FORBIDDEN = "Rostrum may not {doing} <#{place}>; grant it {permissions} there."
NO_ACCESS = (
    "Rostrum cannot see <#{place}> any more; grant it View Channel there, or invite it again."
)
CHANNEL_GONE = "<#{place}> was deleted; nothing can be posted there any more."
MESSAGE_GONE = "A message in <#{place}> was deleted."
LOCKED = "<#{place}> is locked; unlock it or grant Manage Threads, and the debate goes on."
TOO_OLD = "Discord limits edits of old messages; the state is posted as a new message."
THREADS_FULL = "This server has as many open threads as Discord allows; archive some first."
TOKEN_REFUSED = "Discord refuses the bot's token; copy it again into ROSTRUM_DISCORD__TOKEN."  # noqa: S105
AWAY = "Discord could not be reached; try again in a minute."
UNANSWERED = "Discord did not answer; Rostrum checks the thread before it retries."
SILENT = "No events from Discord for {seconds:.0f} s; Rostrum reconnects."
SUPER_STAYS = "Discord left a super reaction on a secret ballot; it counts, and people can see it."
FAILING = "Discord failed with status {status}; if this lasts, check discordstatus.com."
SLOW_DOWN = "Discord's rate limit: Rostrum waits {seconds:.1f} s."
REFUSED = "Discord refused that; the people who run Rostrum can see why in its log."
GATEWAY_REFUSED = (
    "Discord closed the bot's connection for good ({why}); check the application's settings at "
    "discord.com/developers."
)
