"""Every message that people on Slack read from this adapter, ready for translation.

Templates are filled with `str.format`; values are data and never parsed as templates. Answers to
commands are worded in engine/chat/answers/, messages in engine/words/cards.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.values.debate import Status

ITS_THREAD = "its thread"
AT = "at {time}"
CONTINUED = "{title} · part {number}"
LINK = "[in its thread]({link})"
THREAD = "Follow it in [its thread]({link})."
NO_THREAD = (
    "The debate could not be announced in this channel. If Rostrum is not a member, write /invite "
    "with its name there and start the debate again."
)
FORMS = (
    "`/debate` without arguments opens a form to start a debate; `/debate settings` opens a form "
    "for the settings."
)
HANDED_OVER = "The file is in your direct messages with Rostrum."
NOT_HERE = "Rostrum works only in channels; use the command in a channel it is a member of."
LACKING = (
    "No debate was started: Rostrum lacks the scope {scopes}. Ask an admin of this workspace to "
    "add it to the app and reinstall the app."
)
WHICH_WORKSPACE = (
    "Rostrum serves several Slack workspaces, or none yet: write the workspace's id before the "
    "channel's, as in T0123:{channel}."
)
NOT_INSIDE = (
    "No debate was started: Rostrum is not a member of this channel. Write /invite with its name "
    "here and start the debate again."
)
ARCHIVED_HERE = "No debate was started: this channel is archived. Unarchive it, or use another one."
NO_THREADS_HERE = (
    "No debate was started: this channel does not allow Rostrum to post messages and reply in "
    "threads. Ask an admin to allow it, or use another channel."
)
BALLOT_IS = "The setting ballot must be open or private."
NOT_HIDDEN = (
    "Slack does not let bots remove other people's reactions, so ballots cannot be secret here. "
    "Choose ballot=private: people vote with buttons, and no one sees other people's choices."
)

# --- the form ----------------------------------------------------------------------------

FORM_TITLE = "Start a debate"
FORM_SEND = "Start"
FORM_CLOSE = "Cancel"
FIELDS = {
    "topic": "Topic",
    "for": "What 🔵 A argues",
    "against": "What 🔴 B argues",
    "conditions": "Conditions that both sides accept",
    "source": "A text that every side reads",
    "files": "Text or Markdown files that every side reads",
    "format": "Format",
    "a": "Model of 🔵 A, who argues for it",
    "b": "Model of 🔴 B, who argues against it",
    "person": "A person in place of a model: 🔴 B, or 🔵 A if a model is chosen for 🔴 B",
    "jurors": "Jurors",
    "language": "Language",
    "panel": "How many jurors read",
    "length": "Length",
    "ballot": "How people vote",
    "round_votes": "Ask after each round who is ahead",
    "confidence": "Ask with the vote how clear it was",
    "minutes": "Minutes to vote",
}
DRAWN = "Drawn at random"
NO_ONE = "No one"
NO_SIDE_LEFT = "Choose a model for one side only: the person argues the other."
FOR_IT, AGAINST_IT = "For the topic", "Against the topic"
FILE_AWAY = "Slack did not hand over an attached file; send the form again in a minute."
FILE_REFUSED = (
    "Slack does not let Rostrum read the attached file; paste its text instead, or ask an admin to "
    "add the scope files:read to the app and reinstall it."
)
SOURCE_HINT = "Paste it here; sides can quote from it"
LENGTHS = {"short": "short: read in five minutes", "normal": "normal", "long": "long"}
AS_USUAL = "Default"
MINUTES_HINT = "Default; or 30, 1h30m"
SWITCH = {"on": "yes", "off": "no"}
BALLOTS = {"open": "by reactions", "private": "by buttons; no one sees other people's choices"}

PUBLIC = {
    "debates": "debates, without names of people",
    "leaderboard": "how people and jury rate the models",
    "agreement": "how far jury and people agree",
    "leagues": "leagues and schedules",
    "dataset": "the dataset as a download",
}

PANELS = {
    "adaptive": "as many as it takes, 8 readings at most",
    "all": "every juror, in both orders",
    "one": "a single juror, in both orders",
    "strict": "3 to 6, each in both orders",
}

SETTINGS_TITLE = "Debate settings"
SETTINGS_SEND = "Save"
SETTINGS = {
    "models": "Models that can debate",
    "jurors": "Models that judge",
    "judges": "Default judges of formats that have their own",
    "seats": "Default models of single speakers, such as A2=online/x",
    "format": "Default format",
    "language": "Default language",
    "length": "Default length",
    "channels": "Channels where debates can start",
    "vote_minutes": "Default length of a vote, in minutes",
    "quorum": "Votes needed for a winner",
    "panel": "How many jurors read by default",
    "ballot": "How people vote by default",
    "broadcast": "Show reveals in the channel as well as in the thread",
    "again": "Ask again after the reveal who debated better",
    "round_votes": "Ask after each round who is ahead",
    "confidence": "Ask with the vote how clear it was",
    "why": "Have a juror say why the jury decided so",
    "reasons": "Let voters say privately why",
    "guess": "Let voters guess the models privately",
    "questions": "Minutes for questions from the audience before the sides close; 0 for none",
    "pace": "Words a minute at which turns are posted at most, such as 238; 0 for no limit",
    "turn_minutes": "Minutes for each turn of a person who argues a side",
    "debate_usd": "Maximum cost of a debate, in USD",
    "daily_usd": "Maximum cost per day, in USD",
    "user_daily_debates": "Maximum debates per person per day",
    "max_live": "Maximum debates at the same time",
    "license": "Licence of exports, such as CC-BY-4.0",
    "topic_approval": "A manager approves the topics that people suggest",
    "blocked_words": "Words that no topic may have, with commas between",
    "starters": "User groups that may start debates, such as S0123ABC",
    "public": "What everyone may see on the web",
}
EMPTY_IS = "Empty: {value}."
IDLE = "{why}."
EMPTY_UNDOES = "Clear it to reset."
USUAL = "the operator's default: {value}"
UNDO = "the operator's default"
NO_ROLES = (
    "Slack has no roles that Rostrum can see. Workspace admins are managers; the operator of "
    "Rostrum can add more."
)
NO_AGES = (
    "Slack does not say how old an account or a membership is, so no vote could count as "
    "independent. The settings account_days and member_days are for Discord only."
)

# --- the app's Home tab ------------------------------------------------------------------

HOME_DEBATES = "Live debates"
HOME_NONE = "No debate is running. Type /debate in a channel to start one."
HOME_MORE = "More debates are running; /debate list in a channel shows them."
HOME_STATES: Mapping[Status, str] = {
    Status.QUEUED: "Starts soon",
    Status.RUNNING: "Being debated",
    Status.VOTING: "The vote opens soon",
}
HOME_ASKED = "Waiting for the person who was asked to argue"
HOME_VOTE_LEFT = "Vote now: {minutes} left"
HOME_OPEN = "Open"
HOME_VOTING = "How to vote"
HOME_HOW_TO_VOTE = (
    "After a debate its thread asks who debated better. React to that message, or press its "
    "button; your last choice counts. Models are named when the vote closes."
)
HOME_OWN = "Your data"
HOME_IN = "Exports include your votes under a pseudonym. Answers and files arrive under Messages."
HOME_OUT = "Exports leave you out; your votes still count. Answers and files arrive under Messages."
HOME_FORGOTTEN = "You asked to be forgotten: nothing of yours is stored, so you cannot vote."
HOME_ME = "My votes"
HOME_MY_DATA = "My data as a file"
HOME_OPT_OUT = "Leave me out of exports"
HOME_OPT_IN = "Include me in exports"
HOME_BACK = "Take part again"
HOME_FORGET = "Forget me"
HOME_FORGET_WHAT = (
    "Your user id is deleted everywhere, at once and for good. Your votes still count, but no "
    "record links them to you, and nothing new is stored."
)
HOME_FORGET_YES = "Forget me for good"
HOME_MANAGERS = "For managers"
HOME_SETTINGS = "Settings"

# --- errors ------------------------------------------------------------------------------

CHANNEL_GONE = (
    "Rostrum cannot see the channel; unless it was deleted, write /invite with Rostrum's name "
    "there."
)
ARCHIVED = "The channel is archived; unarchive it to continue."
NOT_MEMBER = "Rostrum is no longer a member of the channel; write /invite with its name there."
THREAD_GONE = "The thread was deleted; nothing can be posted there any more."
RESTRICTED = (
    "The workspace does not allow Rostrum to post that in the channel; ask an admin to allow it "
    "there, or use another channel."
)
LOCKED = "An admin locked the thread; unlock it, and the debate goes on."
MESSAGE_GONE = "The message was deleted."
TOKEN_REFUSED = (
    "Slack refuses the bot's token: Rostrum was removed or the token revoked; install it "  # noqa: S105
    "again, or copy the new token into ROSTRUM_SLACK__BOT_TOKEN."
)
APP_REFUSED = (
    "Slack refuses the app token ({why}); create one with the scope connections:write and copy it "
    "into ROSTRUM_SLACK__APP_TOKEN."
)
NOT_INSTALLED = (
    "Rostrum is not installed in this Slack workspace any more; ask an admin to install it again."
)
OTHER_WORKSPACE = (
    "Rostrum serves another Slack workspace, so nothing was done here. Ask its operator to let "
    "this workspace install it too."
)
MESSAGES_TAB = (
    "Slack blocks direct messages from this app; turn on the Messages tab under App Home in its "
    "settings, then use the command again."
)
NOT_SERVED = "Rostrum no longer serves the workspace of this message; nothing was done."
STOOD_STILL = (
    "Rostrum was frozen for a moment and got that too late, so nothing was done; try again."
)
FORM_TOO_LATE = "Slack's three seconds for opening a form ran out; type the command again."
MISSING_SCOPE = (
    "Rostrum lacks the scope {needed} for that; add it to the app and reinstall it (rostrum invite "
    "--slack prints the manifest)."
)
NO_REMOVAL = "Slack does not let bots remove other people's reactions."
SOCKET_AWAY = "Slack's Socket Mode connection was lost; Rostrum opens a new one."
AWAY = "Slack could not be reached; try again in a minute."
UNANSWERED = "Slack did not answer; Rostrum checks the thread before it retries."
NOT_SLACK = (
    "The response did not come from Slack but from something in between, such as a proxy's sign-in "
    "page; check the network if this lasts."
)
FAILING = "Slack failed; if this lasts, check slack-status.com."
SLOW_DOWN = "Slack's rate limit: Rostrum waits {seconds:g} s."
NO_GROUP = "This workspace has no user group {group}; type @ and choose it, or write its ID."
REFUSED = "Slack refused that; the people who run Rostrum can see why in its log."
PORT_TAKEN = (
    "Rostrum cannot listen for Slack at {host}:{port}: {why}; set ROSTRUM_SLACK__PORT to a free "
    "port."
)

# --- the pages for installing ------------------------------------------------------------

INSTALLED = (
    "Rostrum is installed in {team}. In a channel there, write /invite with its name, then /debate."
)
NOT_INSTALLED_BECAUSE = {
    "access_denied": "Nothing was installed, as you asked.",
    "invalid_browser": (
        "The installation was started in a different browser; start again at /slack/install in "
        "this one, with cookies allowed."
    ),
    "invalid_state": (
        "This page was already used, or the installation took more than ten minutes; start again "
        "at /slack/install."
    ),
    "missing_code": "Slack sent no code; start again at /slack/install.",
}
NO_TOKEN = (
    "Slack returned no token for its code; start again at /slack/install, or later if Slack has "  # noqa: S105
    "problems."
)
UNREADABLE = "its response is unreadable"
SLACK_REFUSED = "Slack refused to install Rostrum; start again at /slack/install."
SLACK_AWAY = "Slack cannot be reached; start again at /slack/install in a minute."
NOT_STORED = "Rostrum could not store the installation; the operator can see the reason in its log."
WHOLE_ORGANISATION = (
    "Rostrum is installed per workspace, not for a whole organisation; remove it there and choose "
    "a workspace."
)
ROTATES = (
    "This app's tokens expire, which Rostrum does not support; ask its owner to create the app "
    "again from the manifest of rostrum invite --slack."
)
NO_BOT = "Slack returned no bot token; start again at /slack/install."
