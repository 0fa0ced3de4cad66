"""Every sentence that Slack's people read from this adapter, ready for translation.

Templates are filled with `str.format`; what is filled in is data and never read as one. Answers to
commands are worded in engine/answer_markdown.py, the reveal in engine/reveal_markdown.py.
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
ESTIMATE = "About {calls} model calls (at most {most}), {minutes}, {cost}"
SOON = "less than a minute"
MINUTES = "{n:.3g} minutes"
COST = "{usd:.2f} USD (at most {most:.2f})"
COST_UNKNOWN = "at a cost that nobody knows"

TURN = "{mark} {seat} · {round} · turn {number} of {total}"
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
    "secret": "React below.",
    "private": "Press a button; nobody else sees what you chose.",
}
WITHDRAW = "Take my vote back"
STANCE_BEFORE = "Before the debate"
STANCE_AFTER = "After the debate"
STANCE_ASKS = "**{topic}**\nWhat do you think? {options}"
STANCE_LASTS = ("The debate begins in {n} second.", "The debate begins in {n} seconds.")
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

THREAD = "It is held in [its thread]({link})."
NO_THREAD = (
    "It could not be announced in this channel. Is Rostrum a member of it? Write /invite with "
    "Rostrum's name there, and start the debate again."
)
HANDED_OVER = "The file is in your direct messages with Rostrum."
DEFECT = "Rostrum itself failed at this; its log says where. Please tell whoever runs it."
NOT_HERE = "Rostrum works in channels only; use the command in one that it is a member of."
NOT_HIDDEN = (
    "Slack does not let a bot take others' reactions away, so a ballot cannot be secret here; "
    "choose ballot=private, where people vote by buttons and nobody sees what others chose."
)
VOTED = "Your vote is recorded: {option}. Press it again, or another, to change it."
VOTE_WITHDRAWN = "Your vote is taken back."
VOTE_CLOSED = "This vote is closed; your press changed nothing."
VOTE_FORGOTTEN = (
    "You asked to be forgotten, so nothing is stored of you in this debate. With /debate optin you "
    "can vote on debates that begin from then on."
)
VOTE_UNKNOWN = "There is no vote at this message, or not yet; try again in a moment."

# --- the form ----------------------------------------------------------------------------

FORM_TITLE = "Start a debate"
FORM_SEND = "Start"
FORM_CLOSE = "Never mind"
FORM_STARTING = "Your debate is being started."
FIELDS = {
    "topic": "Topic",
    "conditions": "Conditions that both sides accept",
    "format": "Format",
    "a": "Model that argues for it",
    "b": "Model that argues against it",
    "jurors": "Jurors",
    "language": "Language",
    "ballot": "How people vote",
    "minutes": "Minutes to vote",
}
TOPIC_HINT = "A motion to argue for and against"
BALLOTS = {"open": "by reactions", "private": "by buttons, nobody sees what others chose"}

# --- errors ------------------------------------------------------------------------------

DOING = {
    "post": "post in",
    "edit": "edit a message in",
    "read": "read",
    "react": "react in",
    "ask": "ask Slack about",
    "open": "open a form in",
    "upload": "upload a file to",
}
CHANNEL_GONE = "Slack has no channel {place} that Rostrum may see; was it deleted?"
ARCHIVED = "The channel {place} is archived; unarchive it to go on."
NOT_MEMBER = "Rostrum is no member of {place} any more; write /invite with its name there."
THREAD_GONE = "The thread of {place} was deleted; nothing can be posted there any more."
MESSAGE_GONE = "There is no message {message} in {place} any more; it was deleted."
TOKEN_REFUSED = "Slack refuses the bot's token; copy it anew into ROSTRUM_SLACK__BOT_TOKEN."  # noqa: S105
APP_REFUSED = (
    "Slack refuses the app token ({why}); make one with the scope connections:write and copy it "
    "into ROSTRUM_SLACK__APP_TOKEN."
)
MISSING_SCOPE = (
    "Rostrum may not {doing} {place}: the scope {needed} is missing; add it to the app and "
    "install it anew (rostrum invite --slack prints the manifest)."
)
NO_REMOVAL = "Slack does not let a bot take away the reaction of somebody else."
AWAY = "Slack could not be reached ({why}); check the network if this lasts."
UNANSWERED = "Slack did not answer ({why}); the request is looked for before it is repeated."
FAILING = "Slack failed with {why}; if this lasts, look at slack-status.com."
SLOW_DOWN = "Slack asks to wait {seconds:g} s; Rostrum does."
REFUSED = "Slack refused to {doing} {place}: {why}."
PORT_TAKEN = (
    "Slack's requests cannot be taken at {host}:{port}: {why}; set ROSTRUM_SLACK__PORT to a free "
    "port."
)


def plural(forms: tuple[str, str], n: float, **more: object) -> str:
    """Fill in the singular or the plural form."""
    return forms[n != 1].format(n=f"{n:g}", **more)


def option_name(option: str) -> str:
    """Return how people read an option of a ballot."""
    return OPTIONS.get(option, option)
