"""Every sentence that Discord's people read from this adapter, ready for translation.

Templates are filled with `str.format`; what is filled in is data and never read as one. Answers
to commands are worded in engine/answer_markdown.py; names and descriptions of the commands are in
adapters/discord/commands.py, their translations in locales/.
"""

from __future__ import annotations

DEBATE = "Debate {code}"
CONDITIONS = "**Conditions:** {conditions}"
SETTING = "Format {format} · language {language} · rounds: {rounds}"
SIDES = {"A": "**A** argues for it", "B": "**B** argues against it"}
SIDE = "**{side}** takes part"
JURY = ("{n} juror reads it blind", "{n} jurors read it blind")
JURY_SEEING = ("{n} juror reads it with names", "{n} jurors read it with names")
VOTE_LASTS = ("the vote lasts {n} minute", "the vote lasts {n} minutes")
ESTIMATE = "-# It takes about {calls} model calls (at most {most}), {minutes}, {cost}"
SOON = "less than a minute"
MINUTES = "{n:.3g} minutes"
COST = "{usd:.2f} USD (at most {most:.2f})"
COST_UNKNOWN = "at a cost that nobody knows"

TURN = "{seat} · {round} · turn {number} of {total}"
WORDS = "{words} words"
WORDS_OF = "{words} of {limit} words"
SECONDS = "{seconds} s"
SECONDS_OF = "{seconds} of {limit} s"
VIOLATION = "⚠️ **Against the rules:** {rule}"
VIOLATIONS = {
    "too_many_words": "{measured:g} words where {limit:g} are allowed",
    "too_many_arguments": "{measured:g} arguments where {limit:g} are allowed",
    "long_synthesis": "a synthesis of {measured:g} characters where {limit:g} are allowed",
    "long_decision": "a decision of {measured:g} words where {limit:g} are allowed",
    "missing_synthesis": "no synthesis",
}
OTHER_VIOLATION = "{kind} ({measured:g}, at most {limit:g})"

INVITE = "Vote"
INVITE_ASKS = "**Who debated better?**"
OPTION = "{emoji} {name}"
INVITE_TERMS = "{lasts}; {quorum} make it count."
QUORUM = ("{n} vote", "{n} votes")
HOW_TO_VOTE = {
    "open": "React below; of several reactions the last one counts.",
    "secret": "React below: your vote is recorded and its reaction taken away at once.",
    "private": "Press a button; nobody else sees what you chose.",
}
WITHDRAW = "Take my vote back"
STANCE_BEFORE = "Before the debate"
STANCE_AFTER = "After the debate"
STANCE_ASKS = "**{topic}**\nWhat do you think? {options}"
STANCE_LASTS = ("-# The debate begins in {n} second.", "-# The debate begins in {n} seconds.")
CLOSED = "The vote is closed"
CLOSED_EARLY = "The vote was closed early"
CLOSED_WITH = ("{n} vote was cast.", "{n} votes were cast.")
OPTIONS = {
    "tie": "a tie",
    "weak": "both were weak",
    "up": "for",
    "down": "against",
    "unsure": "unsure",
}

REVEAL = "Reveal"
LEVELS = {"info": "Note", "warning": "Warning", "error": "Error"}

STOP = "Stop"
STATUS = "Status"
STATE = "State"
STATES = {
    "queued": "⏳ waits for its turn",
    "running": "🗣️ {turns} of {total} turns held, in <#{thread}>",
    "judging": "⚖️ all {total} turns held, the jury reads, in <#{thread}>",
    "voting": "🗳️ the vote is open in <#{thread}> until <t:{until}:t>",
    "closed": "✅ over, the models are named in <#{thread}>",
    "partial": "🟠 stopped at its cap before its end",
    "cancelled": "⏹️ stopped",
    "failed": "❌ it could not go on",
    "gone": "❌ ended: its thread is gone, or Rostrum may not post there. {reason}",
}

THREAD = "It is held in <#{thread}>."
ASK_AGAIN = (
    "Discord dropped the private answer to your command, and it may not be shown to everybody; "
    "please ask again."
)
TOO_LATE = "<@{user}>, the answer to your command:\n{answer}"
DEFECT = "Rostrum itself failed at this; its log says where. Please tell whoever runs it."
NOT_HERE = "Rostrum works in servers only, in a channel or a thread; use the command there."
MORE_IS_OPTIONS = "“more” takes options only, written as name=value; leave other words out."
TOPIC_TITLE = "Start a debate"
TOPIC_FIELD = "Topic"
TOPIC_HINT = "A motion to argue for and against"
CONDITIONS_FIELD = "Conditions (optional)"
CONDITIONS_HINT = "What both sides accept"

VOTED = "Your vote is recorded: {option}. Press it again, or another, to change it."
VOTE_WITHDRAWN = "Your vote is taken back."
VOTE_CLOSED = "This vote is closed; your press changed nothing."
VOTE_FORGOTTEN = (
    "You asked to be forgotten, so nothing is stored of you in this debate. With /debate optin you "
    "can vote on debates that begin from then on."
)
VOTE_UNKNOWN = "There is no vote at this message, or not yet; try again in a moment."

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
FAILING = "Discord failed with status {status}; if this lasts, look at discordstatus.com."
SLOW_DOWN = "Discord asks to wait {seconds:.1f} s; Rostrum does."
BUSY = "Many messages wait for <#{place}>; they are posted one a second."
REFUSED = "Discord refused to {doing} <#{place}>: {why}."
GATEWAY_REFUSED = (
    "Discord closed the bot's connection for good ({why}); check the application's settings at "
    "discord.com/developers."
)


def plural(forms: tuple[str, str], n: float, **more: object) -> str:
    """Fill in the singular or the plural form."""
    return forms[n != 1].format(n=f"{n:g}", **more)


def option_name(option: str) -> str:
    """Return how people read an option of a ballot."""
    return OPTIONS.get(option, option)
