"""Every sentence that Slack's people read from this adapter, ready for translation.

Templates are filled with `str.format`; what is filled in is data and never read as one. Answers to
commands are worded in engine/answers/, messages in engine/words/cards.py.
"""

from __future__ import annotations

ITS_THREAD = "its thread"
CONTINUED = "{title} · part {number}"
LINK = "[in its thread]({link})"
THREAD = "It is held in [its thread]({link})."
NO_THREAD = (
    "It could not be announced in this channel. Is Rostrum a member of it? Write /invite with "
    "Rostrum's name there, and start the debate again."
)
FORMS = (
    "`/debate` alone opens a form to start a debate, and `/debate settings` alone one for the "
    "settings."
)
HANDED_OVER = "The file is in your direct messages with Rostrum."
NOT_HERE = "Rostrum works in channels only; use the command in one that it is a member of."
LACKING = (
    "No debate was started: Rostrum lacks the scope {scopes}. An admin of this workspace adds it "
    "to the app and installs it again."
)
NOT_INSIDE = (
    "No debate was started: Rostrum is not a member of this channel. Write /invite with its name "
    "here, and start the debate again."
)
ARCHIVED_HERE = "No debate was started: this channel is archived. Unarchive it, or use another one."
NO_THREADS_HERE = (
    "No debate was started: this channel does not let Rostrum post a message and answer in its "
    "thread. Have an admin allow it, or use another channel."
)
BALLOT_IS = "The setting ballot is open or private."
NOT_HIDDEN = (
    "Slack does not let a bot take others' reactions away, so a ballot cannot be secret here; "
    "choose ballot=private, where people vote by buttons and nobody sees what others chose."
)

# --- the form ----------------------------------------------------------------------------

FORM_TITLE = "Start a debate"
FORM_SEND = "Start"
FORM_CLOSE = "Never mind"
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
DRAWN = "Drawn at random"
AS_USUAL = "As usual here"
MINUTES_HINT = "As usual here; 30, 1h30m"
BALLOTS = {"open": "by reactions", "private": "by buttons, nobody sees what others chose"}

SETTINGS_TITLE = "Settings of debates here"
SETTINGS_SEND = "Save"
SETTINGS = {
    "models": "Models that may debate",
    "jurors": "Models that judge",
    "format": "Usual format",
    "language": "Usual language",
    "channels": "Channels in which debates may start",
    "vote_minutes": "Usual length of a vote, in minutes",
    "quorum": "Votes that make a result count",
    "ballot": "How people usually vote",
    "broadcast": "Show reveals in the channel as well as in the thread",
    "again": "Ask again after the reveal who debated better",
    "debate_usd": "Most that a debate may cost, in USD",
    "daily_usd": "Most that a day's debates may cost, in USD",
    "user_daily_debates": "Most debates that one person may start in a day",
    "max_live": "Most debates at the same time",
}
EMPTY_IS = "Empty: {value}."
EMPTY_UNDOES = "Empty it to undo what is set here."
USUAL = "as Rostrum is set up: {value}"
UNDO = "as Rostrum is set up"
NO_ROLES = (
    "Slack has no roles that Rostrum could see; admins of the workspace are managers, and whoever "
    "runs Rostrum can name more of them."
)

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
CHANNEL_GONE = (
    "Slack has no channel {place} that Rostrum may see; unless it was deleted, write /invite with "
    "its name there."
)
ARCHIVED = "The channel {place} is archived; unarchive it to go on."
NOT_MEMBER = "Rostrum is no member of {place} any more; write /invite with its name there."
THREAD_GONE = "The thread of {place} was deleted; nothing can be posted there any more."
RESTRICTED = (
    "The workspace lets Rostrum post nothing like that in {place}; have an admin allow it there, "
    "or use another channel."
)
MESSAGE_GONE = "There is no message {message} in {place} any more; it was deleted."
TOKEN_REFUSED = (
    "Slack refuses the bot's token, as Rostrum was removed or the token revoked; have it "  # noqa: S105
    "installed again, or copy the new token into ROSTRUM_SLACK__BOT_TOKEN."
)
APP_REFUSED = (
    "Slack refuses the app token ({why}); make one with the scope connections:write and copy it "
    "into ROSTRUM_SLACK__APP_TOKEN."
)
NOT_INSTALLED = (
    "Rostrum is not installed in this Slack workspace any more; have an admin install it again."
)
OTHER_WORKSPACE = (
    "Rostrum serves another Slack workspace, so nothing was done here. Ask the people who run it "
    "to let this workspace install it too."
)
MESSAGES_TAB = (
    "Slack lets this app send no direct messages; turn on the Messages tab under App Home in its "
    "settings, and use the command again."
)
NOT_SERVED = "Rostrum does not serve the workspace of this message any more; nothing was done."
FORM_TOO_LATE = "Slack waits three seconds for a form, and it took longer; type the command again."
MISSING_SCOPE = (
    "Rostrum may not {doing} {place}: the scope {needed} is missing; add it to the app and "
    "install it anew (rostrum invite --slack prints the manifest)."
)
NO_REMOVAL = "Slack does not let a bot take away the reaction of somebody else."
SOCKET_AWAY = "Slack's Socket Mode connection stayed away; it is opened anew."
AWAY = "Slack could not be reached ({why}); check the network if this lasts."
UNANSWERED = "Slack did not answer ({why}); the request is looked for before it is repeated."
NOT_SLACK = (
    "What answered in Slack's place is not Slack, such as a proxy's sign-in page; check the "
    "network if this lasts."
)
FAILING = "Slack failed with {why}; if this lasts, look at slack-status.com."
SLOW_DOWN = "Slack asks to wait {seconds:g} s; Rostrum does."
REFUSED = "Slack refused to {doing} {place}: {why}."
PORT_TAKEN = (
    "Slack's requests cannot be taken at {host}:{port}: {why}; set ROSTRUM_SLACK__PORT to a free "
    "port."
)

# --- the pages for installing ------------------------------------------------------------

INSTALLED = (
    "Rostrum is installed in {team}. Write /invite with its name in a channel there, and then "
    "/debate."
)
NOT_INSTALLED_BECAUSE = {
    "access_denied": "Nothing was installed, as you asked.",
    "invalid_browser": (
        "This page was opened in another browser than the one where installing began; begin again "
        "at /slack/install in this one, with cookies allowed."
    ),
    "invalid_state": (
        "This page was used before, or more than ten minutes after installing began; begin again "
        "at /slack/install."
    ),
    "missing_code": "Slack sent no code along; begin again at /slack/install.",
}
NO_TOKEN = (
    "Slack gave no token for the code that it sent along; begin again at /slack/install, and in a "  # noqa: S105
    "while if Slack fails."
)
NOT_EXCHANGED = "Slack gave no token for an installation's code: {why}."
UNREADABLE = "its answer cannot be read"
SLACK_REFUSED = "Slack refused to install Rostrum; begin again at /slack/install."
SLACK_AWAY = "Slack cannot be reached now; begin again at /slack/install in a minute."
NOT_STORED = "Rostrum could not store what Slack gave; whoever runs it finds the reason in its log."
WHOLE_ORGANISATION = (
    "Rostrum is installed in one workspace after the other, and not in a whole organisation at "
    "once; remove it there, and choose a workspace."
)
ROTATES = (
    "This app's tokens expire, which Rostrum does not follow; whoever made the app makes it anew "
    "from the manifest of rostrum invite --slack, where they do not."
)
NO_BOT = "Slack gave no token of a bot; begin again at /slack/install."
