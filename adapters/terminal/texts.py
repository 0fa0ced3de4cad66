"""Every sentence that the terminal alone shows to people, ready for translation.

Templates are filled with `str.format`; what is filled in is data and never read as one. What
messages say in any chat is worded in engine/words/cards.py.
"""

from __future__ import annotations

from engine.votes.questions import STANCES
from engine.words.phrases import option_name

TOPIC = "Topic: {topic}"
DRAFT = "{seat} · {round}"
FILE = "File: {name}"
THINKS = "{seats} is thinking…"
THINK = "{seats} are thinking…"
EDITED = "{reference} was edited"
EARLIER = "Earlier in this debate:"
CAST = "{user} votes: {option}"
STOOD = "{user} is {option}"
WITHDRAWN = "{user} takes back: {option}"

NOTHING_PRIVATE = "Nothing in a terminal is for one person alone; read the transcript."
NOTHING_HIDDEN = "A vote in a terminal cannot be secret; start the debate with an open ballot."
NO_VOTE_OPEN = "No vote is open in this terminal; vote after the invitation is posted."
NO_SUCH_OPTION = "“{option}” is not on this ballot; choose from {options}."
NO_SUCH_MESSAGE = "There is no message {message} in this terminal; its record may be another's."
BODY_UNREADABLE = (
    "A message of another version of Rostrum cannot be shown; use the one that wrote it."
)
RECORD_UNREADABLE = "The transcript {path} cannot be read: {why}. Move it away or repair it."
RECORD_UNWRITABLE = "The transcript {path} cannot be written: {why}. Free space or permit it."
RECORDS_STAY = "The transcripts in {folder} cannot be deleted: {why}. Delete that folder yourself."
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


def hand_text(user: str, option: str, *, raised: bool) -> str:
    """Return what is said of a hand: a vote, a stance, or one that is taken back."""
    template = (STOOD if option in STANCES else CAST) if raised else WITHDRAWN
    return template.format(user=user, option=option_name(option))
