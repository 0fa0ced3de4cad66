"""Every message that people on Slack read from this adapter, ready for translation.

Templates are filled with `str.format`; values are data and never parsed as templates. Answers to
commands are worded in engine/chat/answers/, messages in engine/words/cards.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.values.debate import Status
from engine.values.language import N_
from engine.values.options import PARAMS, in_order

ITS_THREAD = N_("its thread")
AT = N_("at {time}")
CONTINUED = N_("{title} · part {number}")
LINK = N_("[in its thread]({link})")
THREAD = N_("Follow it in [its thread]({link}).")
NO_THREAD = N_(
    "The debate could not be announced in this channel. If Rostrum is not a member, write /invite "
    "with its name there and start the debate again."
)
FORMS = N_(
    "`/debate` without arguments opens a form to start a debate; `/debate settings` opens a form "
    "for the settings."
)
HANDED_OVER = N_("The file is in your direct messages with Rostrum.")
NOT_HERE = N_("Rostrum works only in channels; use the command in a channel it is a member of.")
LACKING = N_(
    "No debate was started: Rostrum lacks the scope {scopes}. Ask an admin of this workspace to "
    "add it to the app and reinstall the app."
)
WHICH_WORKSPACE = (
    "Rostrum serves several Slack workspaces, or none yet: write the workspace's id before the "
    "channel's, as in T0123:{channel}."
)
NOT_INSIDE = N_(
    "No debate was started: Rostrum is not a member of this channel. Write /invite with its name "
    "here and start the debate again."
)
ARCHIVED_HERE = N_(
    "No debate was started: this channel is archived. Unarchive it, or use another one."
)
NO_THREADS_HERE = N_(
    "No debate was started: this channel does not allow Rostrum to post messages and reply in "
    "threads. Ask an admin to allow it, or use another channel."
)
BALLOT_IS = N_("The setting ballot must be open or private.")
NOT_HIDDEN = N_(
    "Slack does not let bots remove other people's reactions, so ballots cannot be secret here. "
    "Choose ballot=private: people vote with buttons, and no one sees other people's choices."
)

# --- the form ----------------------------------------------------------------------------

FORM_TITLE = N_("Start a debate")
FORM_SEND = N_("Start")
FORM_CLOSE = N_("Cancel")
FIELDS = {
    "topic": N_("Topic"),
    "for": N_("What 🔵 A argues"),
    "against": N_("What 🔴 B argues"),
    "conditions": N_("Conditions that both sides accept"),
    "source": N_("A text that every side reads"),
    "files": N_("Text or Markdown files that every side reads"),
    "format": N_("Format"),
    "a": N_("Model of 🔵 A, who argues for it"),
    "b": N_("Model of 🔴 B, who argues against it"),
    "person": N_("A person in place of a model: 🔴 B, or 🔵 A if a model is chosen for 🔴 B"),
    "jurors": N_("Jurors"),
    "language": N_("Language"),
    "panel": N_("How many jurors read"),
    "length": N_("Length"),
    "ballot": N_("How people vote"),
    "round_votes": N_("Ask after each round who is ahead"),
    "confidence": N_("Ask with the vote how clear it was"),
    "minutes": N_("Minutes to vote"),
}
DRAWN = N_("Drawn at random")
NO_ONE = N_("No one")
NO_SIDE_LEFT = N_("Choose a model for one side only: the person argues the other.")
FOR_IT, AGAINST_IT = N_("For the topic"), N_("Against the topic")
FILE_AWAY = N_("Slack did not hand over an attached file; send the form again in a minute.")
FILE_REFUSED = N_(
    "Slack does not let Rostrum read the attached file; paste its text instead, or ask an admin to "
    "add the scope files:read to the app and reinstall it."
)
SOURCE_HINT = N_("Paste it here; sides can quote from it")
LENGTHS = {"short": N_("short: read in five minutes"), "normal": N_("normal"), "long": N_("long")}
AS_USUAL = N_("Default")
MINUTES_HINT = N_("Default; or 30, 1h30m")
SWITCH = {"on": N_("yes"), "off": N_("no")}
CONFIDENCES = {**SWITCH, "percent": N_("yes, in percent")}
BALLOTS = {
    "open": N_("by reactions"),
    "private": N_("by buttons; no one sees other people's choices"),
}

PUBLIC = {
    "debates": N_("debates, without names of people"),
    "leaderboard": N_("how people and jury rate the models"),
    "agreement": N_("how far jury and people agree"),
    "leagues": N_("leagues and schedules"),
    "dataset": N_("the dataset as a download"),
}

PANELS = {
    "adaptive": N_("as many as it takes, 8 readings at most"),
    "all": N_("every juror, in both orders"),
    "one": N_("a single juror, in both orders"),
    "strict": N_("3 to 6, each in both orders"),
}

SETTINGS_TITLE = N_("Debate settings")
SETTINGS_SEND = N_("Save")
_OWN_SETTINGS = {
    "models": N_("Models that can debate"),
    "jurors": N_("Models that judge"),
    "judges": N_("Default judges of formats that have their own"),
    "seats": N_("Default models of single speakers, such as A2=online/x"),
    "channels": N_("Channels where debates can start"),
    "debate_usd": N_("Maximum cost of a debate, in USD"),
    "daily_usd": N_("Maximum cost per day, in USD"),
    "user_daily_debates": N_("Maximum debates per person per day"),
    "max_live": N_("Maximum debates at the same time"),
    "license": N_("Licence of exports, such as CC-BY-4.0"),
    "topic_approval": N_("A manager approves the topics that people suggest"),
    "blocked_words": N_("Words that no topic may have, with commas between"),
    "starters": N_("User groups that may start debates, such as S0123ABC"),
    "public": N_("What everyone may see on the web"),
}
_LABELS = _OWN_SETTINGS | {name: param.label for name, param in PARAMS.items() if param.label}
SETTINGS = {
    name: _LABELS[name]
    for name in in_order(
        "models jurors judges seats format language length channels vote_minutes quorum panel "
        "ballot … debate_usd daily_usd user_daily_debates max_live license topic_approval "
        "blocked_words starters public",
        _LABELS,
    )
}
_WORDS = {
    "length": LENGTHS,
    "panel": PANELS,
    "ballot": BALLOTS,
    "confidence": CONFIDENCES,
    "topic_approval": SWITCH,
}


def words_of(name: str) -> Mapping[str, str]:
    """Return what an option or a setting can be, with what people read; empty for others."""
    switch = name in PARAMS and PARAMS[name].kind is bool
    return SWITCH if switch else _WORDS.get(name, {})


EMPTY_IS = N_("Empty: {value}.")
IDLE = N_("{why}.")
EMPTY_UNDOES = N_("Clear it to reset.")
USUAL = N_("the operator's default: {value}")
UNDO = N_("the operator's default")
NO_ROLES = N_(
    "Slack has no roles that Rostrum can see. Workspace admins are managers; the operator of "
    "Rostrum can add more."
)
NO_AGES = N_(
    "Slack does not say how old an account or a membership is, so no vote could count as "
    "independent. The settings account_days and member_days are for Discord only."
)

# --- the app's Home tab ------------------------------------------------------------------

HOME_DEBATES = N_("Live debates")
HOME_NONE = N_("No debate is running. Type /debate in a channel to start one.")
HOME_MORE = N_("More debates are running; /debate list in a channel shows them.")
HOME_STATES: Mapping[Status, str] = {
    Status.QUEUED: N_("Starts soon"),
    Status.RUNNING: N_("Being debated"),
    Status.VOTING: N_("The vote opens soon"),
}
HOME_ASKED = N_("Waiting for the person who was asked to argue")
HOME_VOTE_LEFT = N_("Vote now: {minutes} left")
HOME_OPEN = N_("Open")
HOME_VOTING = N_("How to vote")
HOME_HOW_TO_VOTE = N_(
    "After a debate its thread asks who debated better. React to that message, or press its "
    "button; your last choice counts. Models are named when the vote closes."
)
HOME_OWN = N_("Your data")
HOME_IN = N_(
    "Exports include your votes under a pseudonym. Answers and files arrive under Messages."
)
HOME_OUT = N_(
    "Exports leave you out; your votes still count. Answers and files arrive under Messages."
)
HOME_FORGOTTEN = N_("You asked to be forgotten: nothing of yours is stored, so you cannot vote.")
HOME_ME = N_("My votes")
HOME_MY_DATA = N_("My data as a file")
HOME_OPT_OUT = N_("Leave me out of exports")
HOME_OPT_IN = N_("Include me in exports")
HOME_BACK = N_("Take part again")
HOME_FORGET = N_("Forget me")
HOME_FORGET_WHAT = N_(
    "Your user id is deleted everywhere, at once and for good. Your votes still count, but no "
    "record links them to you, and nothing new is stored."
)
HOME_FORGET_YES = N_("Forget me for good")
HOME_MANAGERS = N_("For managers")
HOME_SETTINGS = N_("Settings")

# --- errors ------------------------------------------------------------------------------

CHANNEL_GONE = N_(
    "Rostrum cannot see the channel; unless it was deleted, write /invite with Rostrum's name "
    "there."
)
ARCHIVED = N_("The channel is archived; unarchive it to continue.")
NOT_MEMBER = N_("Rostrum is no longer a member of the channel; write /invite with its name there.")
THREAD_GONE = N_("The thread was deleted; nothing can be posted there any more.")
RESTRICTED = N_(
    "The workspace does not allow Rostrum to post that in the channel; ask an admin to allow it "
    "there, or use another channel."
)
LOCKED = N_("An admin locked the thread; unlock it, and the debate goes on.")
MESSAGE_GONE = N_("The message was deleted.")
TOKEN_REFUSED = N_(
    "Slack refuses the bot's token: Rostrum was removed or the token revoked; install it "
    "again, or copy the new token into ROSTRUM_SLACK__BOT_TOKEN."
)
APP_REFUSED = (
    "Slack refuses the app token ({why}); create one with the scope connections:write and copy it "
    "into ROSTRUM_SLACK__APP_TOKEN."
)
NOT_INSTALLED = (
    "Rostrum is not installed in this Slack workspace any more; ask an admin to install it again."
)
OTHER_WORKSPACE = N_(
    "Rostrum serves another Slack workspace, so nothing was done here. Ask its operator to let "
    "this workspace install it too."
)
MESSAGES_TAB = N_(
    "Slack blocks direct messages from this app; turn on the Messages tab under App Home in its "
    "settings, then use the command again."
)
NOT_SERVED = N_("Rostrum no longer serves the workspace of this message; nothing was done.")
STOOD_STILL = N_(
    "Rostrum froze for a moment and saw this too late, so nothing was done. Please try again."
)
FORM_TOO_LATE = N_("Slack's three seconds for opening a form ran out; type the command again.")
MISSING_SCOPE = N_(
    "Rostrum lacks the scope {needed} for that; add it to the app and reinstall it (rostrum invite "
    "--slack prints the manifest)."
)
SOCKET_AWAY = "Slack's Socket Mode connection was lost; Rostrum opens a new one."
AWAY = N_("Slack could not be reached; try again in a minute.")
UNANSWERED = N_("Slack did not answer; Rostrum checks the thread before it retries.")
NOT_SLACK = N_(
    "The response did not come from Slack but from something in between, such as a proxy's sign-in "
    "page; check the network if this lasts."
)
FAILING = N_("Slack failed; if this lasts, check slack-status.com.")
SLOW_DOWN = N_("Slack's rate limit: Rostrum waits {seconds:g} s.")
NO_GROUP = N_("This workspace has no user group {group}; type @ and choose it, or write its ID.")
REFUSED = N_("Slack refused that; the people who run Rostrum can see why in its log.")
PORT_TAKEN = (
    "Rostrum cannot listen for Slack at {host}:{port}: {why}; set ROSTRUM_SLACK__PORT to a free "
    "port."
)

# --- the pages for installing ------------------------------------------------------------

INSTALLED = N_(
    "Rostrum is installed in {team}. In a channel there, write /invite with its name, then /debate."
)
NOT_INSTALLED_BECAUSE = {
    "access_denied": N_("Nothing was installed, as you asked."),
    "invalid_browser": (
        N_(
            "The installation was started in a different browser; start again at /slack/install in "
            "this one, with cookies allowed."
        )
    ),
    "invalid_state": (
        N_(
            "This page was already used, or the installation took more than ten minutes; start "
            "again at /slack/install."
        )
    ),
    "missing_code": N_("Slack sent no code; start again at /slack/install."),
}
NO_TOKEN = N_(
    "Slack returned no token for its code; start again at /slack/install, or later if Slack has "
    "problems."
)
UNREADABLE = "its response is unreadable"
SLACK_REFUSED = N_("Slack refused to install Rostrum; start again at /slack/install.")
SLACK_AWAY = N_("Slack cannot be reached; start again at /slack/install in a minute.")
NOT_STORED = N_(
    "Rostrum could not store the installation; the operator can see the reason in its log."
)
WHOLE_ORGANISATION = N_(
    "Rostrum is installed per workspace, not for a whole organisation; remove it there and choose "
    "a workspace."
)
ROTATES = N_(
    "This app's tokens expire, which Rostrum does not support; ask its owner to create the app "
    "again from the manifest of rostrum invite --slack."
)
NO_BOT = N_("Slack returned no bot token; start again at /slack/install.")
