"""Every sentence that Slack's people read from this adapter, ready for translation.

Templates are filled with `str.format`; what is filled in is data and never read as one. Answers to
commands are worded in engine/answer_markdown.py, the reveal in engine/reveal_markdown.py.
"""

from __future__ import annotations

HOW_TO_VOTE = {
    "open": "React below; of several reactions the last one counts.",
    "secret": "React below.",
    "private": "Press a button; nobody else sees what you chose.",
}

THREAD = "It is held in [its thread]({link})."
NO_THREAD = (
    "It could not be announced in this channel. Is Rostrum a member of it? Write /invite with "
    "Rostrum's name there, and start the debate again."
)
HANDED_OVER = "The file is in your direct messages with Rostrum."
NOT_HERE = "Rostrum works in channels only; use the command in one that it is a member of."
NOT_HIDDEN = (
    "Slack does not let a bot take others' reactions away, so a ballot cannot be secret here; "
    "choose ballot=private, where people vote by buttons and nobody sees what others chose."
)

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
