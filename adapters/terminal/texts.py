"""Every sentence that the terminal shows to people, ready for translation.

Templates are filled with `str.format`; what is filled in is data and never read as one.
"""

from __future__ import annotations

DEBATE = "Debate {code}"
TOPIC = "Topic: {topic}"
CONDITIONS = "Conditions: {conditions}"
SETTING = "Format {format} · language {language} · rounds: {rounds}"
SIDES = {"A": "A argues for it", "B": "B argues against it"}
SIDE = "{side} takes part"
JURY = ("{n} juror reads it blind", "{n} jurors read it blind")
JURY_SEEING = ("{n} juror reads it with names", "{n} jurors read it with names")
VOTE_LASTS = ("the vote lasts {n} minute", "the vote lasts {n} minutes")
ESTIMATE = "It takes about {calls} model calls (at most {most}), {minutes}, {cost}"
SOON = "less than a minute"
MINUTES = "{n:.3g} minutes"
COST = "{usd:.2f} USD (at most {most:.2f})"
COST_UNKNOWN = "at a cost that nobody knows"

WORDS = "{words} words"
TIME = "{used} of {given}"
DRAFT = "{seat} · {round}"
FILE = "File: {name}"
WORDS_OF = "{words} of {limit} words"
VIOLATION = "Against the rules: {rule}"

INVITE = "Vote"
INVITE_ASKS = "Who debated better? {options}"
INVITE_TERMS = "{lasts}; {quorum} make it count"
QUORUM = ("{n} vote", "{n} votes")
STANCE = "Before the debate"
STANCE_AFTER = "And now?"
AGAIN = "And now that you know?"
STANCE_ASKS = "Where do you stand? {options}"
STANCE_WAITS = "The debate begins in {seconds:g} seconds"
STANCES = {"up": "for it", "down": "against it", "unsure": "unsure"}
MOVED = "{moved} of {people} people were moved: {counts}"
CLOSED = "The vote is closed"
CLOSED_EARLY = "The vote was closed early"
CLOSED_WITH = ("{n} vote was cast", "{n} votes were cast")
OPTIONS = {"tie": "tie", "weak": "both weak", **STANCES}

REVEAL = "Reveal"
MODEL = "{side} was {model}"
DRAWN = "{side} was {model}, drawn at random"
OWN_JUDGES = "Judged beside the jury by {judges}"
PEOPLE = "People: {counts}"
SHARE = "{side}'s share {share:.0f} % ({low:.0f}–{high:.0f} %)"
GOLD = "Independent votes: {counts}"
PEOPLE_CHOSE = "People chose {winner}"
PEOPLE_TIED = "People call it a tie"
NO_QUORUM = "Too few votes for a human winner"
NO_VOTES = "Nobody voted"
JURY_CHOSE = "Jury: {winner} ({detail})"
JURY_TIED = "Jury: a tie ({detail})"
JURY_NOTHING = "Jury: no verdict, {problem} ({detail})"
CHANCE = "p({side}) {p:.2f}"
VALID = ("{n} valid ballot", "{n} valid ballots")
INVALID = "{n} invalid"
EFFECTIVE = "worth {n:.1f} independent votes"
ORDER_ALONE = "nobody led in every order of reading"
NOT_BLIND = "jurors saw the models' names"
JUROR = "{juror}: {verdict} (read {order})"
JUROR_INVALID = "{juror}: invalid, {problem} (read {order})"
CONTRADICTORY = "against its own scores"
AGREE = "People and jury agree"
DISAGREE = "People and jury disagree"
NOT_COMPARED = "People and jury cannot be compared: not both decided"
SPENT = ("{n} model call, {cost}", "{n} model calls, {cost}")
SPENT_USD = "{usd:.4f} USD"

LEVELS = {"info": "Note", "warning": "Warning", "error": "Error"}
THINKS = "{seats} is thinking…"
THINK = "{seats} are thinking…"
EDITED = "{reference} was edited"
EARLIER = "Earlier in this debate:"
CAST = "{user} votes: {option}"
STOOD = "{user} is {option}"
WITHDRAWN = "{user} takes back: {option}"

NOTHING_HIDDEN = "A vote in a terminal cannot be secret; start the debate with an open ballot."
NO_VOTE_OPEN = "No vote is open in this terminal; vote after the invitation is posted."
NO_SUCH_OPTION = "“{option}” is not on this ballot; choose from {options}."
NO_SUCH_MESSAGE = "There is no message {message} in this terminal; its record may be another's."
BODY_UNREADABLE = (
    "A message of another version of Rostrum cannot be shown; use the one that wrote it."
)
RECORD_UNREADABLE = "The transcript {path} cannot be read: {why}. Move it away or repair it."
RECORD_UNWRITABLE = "The transcript {path} cannot be written: {why}. Free space or permit it."
FILES_UNWRITABLE = "Files cannot be written to {folder}: {why}. Free space or permit it."
VOTES_EMPTY = "{given} names no vote; write it as {example}."
VOTES_FORM = "“{entry}” in {given} is not OPTION=NUMBER; write it as {example}."
VOTES_OPTION = "“{option}” in {given} is not on this ballot; choose from {options}."
VOTES_TWICE = "“{option}” is in {given} twice; give each option once."
VOTES_NUMBER = "“{number}” in {given} is not a number from 0 to {most}."
NO_KEYBOARD = "Keys cannot be read here; give the votes with --votes."
KEYS = "Keys: {options} · u = take the last vote back · Enter = close the vote"
STANCE_KEYS = "Keys: {options} · u = take the last one back · Enter = go on"
KEY = "{key} = {option}"


def plural(forms: tuple[str, str], n: float, **more: object) -> str:
    """Fill in the singular or the plural form."""
    return forms[n != 1].format(n=f"{n:g}", **more)


def option_name(option: str) -> str:
    """Return how people read an option of a ballot."""
    return OPTIONS.get(option, option)


def hand_text(user: str, option: str, *, raised: bool) -> str:
    """Return what is said of a hand: a vote, a stance, or one that is taken back."""
    template = (STOOD if option in STANCES else CAST) if raised else WITHDRAWN
    return template.format(user=user, option=option_name(option))
