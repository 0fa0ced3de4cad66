"""The parameters of the chat commands: one table, which every door of them is made from.

Discord's options, the usage of a command and its text are made of it. The options of a debate are
in the table of engine/values/options.py.
"""

from __future__ import annotations

from engine.values.language import N_
from engine.values.options import LONGEST_TOPIC, PARAMS, Param, in_order

_CONFIRM = "True to confirm; leave it out to read what it means"
_CHOSEN_FORMAT = PARAMS["format"].about


def _debate(
    about: str = "The debate's code; leave it out for the one in this channel or thread",
) -> Param:
    return Param("debate", about, complete="debate", leads=True)


IN_A_CHAT = tuple(name for name, param in PARAMS.items() if param.about or param.usage is not None)
"""The options of `start`; the rest is up to community and operator."""
_BESIDE = (
    Param("model_a", "Who argues for it (🔵 A)", complete="model", usage="[a=backend/model]"),
    Param(
        "model_b",
        "Who argues against it (🔴 B)",
        complete="model",
        usage="[b=backend/model|@somebody]",
    ),
    Param(
        "jurors",
        "Who judges, separated by commas",
        complete="juror",
        usage="[jurors=backend/model,…]",
    ),
    Param(
        "judges",
        "The format's own judges, separated by commas",
        complete="juror",
        usage="[judges=backend/model,…]",
    ),
    Param("source", "A text or Markdown file that every side reads", bytes, usage=""),
    Param("source_2", "Another one", bytes, usage=""),
    Param(
        "more",
        "More format options and models of single speakers: name=value name=value",
        usage="[format option=…]",
    ),
)
_OF_START = {name: PARAMS[name] for name in IN_A_CHAT} | {param.name: param for param in _BESIDE}
START = tuple(
    _OF_START[name]
    for name in in_order(
        "topic conditions format model_a model_b jurors … panel stance_a stance_b judges source "
        "source_2 more",
        _OF_START,
    )
)
DEBATE = (_debate(),)
REMATCH = (_debate(), Param("swap", kind=bool))
DELETE = (
    _debate(),
    Param("mirror", "Whether its mirror goes too", bool, usage="[mirror=on]"),
    Param("confirm", _CONFIRM, bool, usage="[confirm=yes]"),
)
FORGET = (Param("confirm", _CONFIRM, bool, usage="[confirm=yes]"),)
REVIEW = (
    _debate("The code of a revealed debate; leave it out to get suggestions"),
    Param(
        "vote",
        "Who debated better; “none” withdraws your answer",
        complete="vote",
        usage="[A|B|…|tie|weak|none]",
        leads=True,
    ),
)
ME = (Param("scoreboard", "Whether the leaderboard names you among those who guess models", bool),)
HELP = (Param("command", "The command to explain", complete="command", leads=True),)
SETTINGS = (
    Param(
        "setting",
        "The setting to change; leave it out to see all",
        complete="setting",
        usage="[name=value …]",
    ),
    Param("value", "Its new value; “default” resets it", usage=""),
)
SUGGEST = (
    Param(
        "topic",
        N_("A motion to argue for and against"),
        range=(1, LONGEST_TOPIC),
        usage='"topic"',
        required=True,
    ),
)
TOPICS = (
    Param(
        "action",
        "What to do with a topic; leave it out to see the list",
        ("upvote", "approve", "remove"),
        usage="[upvote|approve|remove number]",
    ),
    Param("number", "The topic's number", int, (1, 2**31 - 1), usage=""),
)
LEAGUE = (
    Param(
        "action",
        "What to do; leave it out to see the standing",
        ("standing", "start", "stop"),
        usage="start|standing|stop",
    ),
    Param("system", "Who meets whom", ("round_robin", "swiss", "knockout")),
    Param("every", "How often a match begins: 1d, 12h", usage="[every=1d]"),
    Param(
        "at",
        "When the first match of a day begins: 09:00 Europe/Berlin",
        usage='[at="09:00 Europe/Berlin"]',
    ),
    Param(
        "rounds",
        "How often each pair meets, or the rounds of a Swiss system",
        int,
        (1, 99),
        usage="[rounds=1]",
    ),
    Param("quorum", "How many votes decide a match", int, (0, 10_000), usage="[quorum=5]"),
    Param("decided", "Who decides a match", ("people_then_jury", "people", "jury")),
    Param("format", _CHOSEN_FORMAT, complete="format", usage="[format=classic]"),
)
SCHEDULE = (
    Param(
        "when",
        "every weekday 09:00 Europe/Berlin; “off” ends it; leave it out to see it",
        usage='["every weekday 09:00 Europe/Berlin" ["topic"|random] [name=value …]] | [off]',
    ),
    Param(
        "topic",
        "The same motion each time; without one the topic that people want most",
        complete="topic",
        usage="",
    ),
    Param("format", _CHOSEN_FORMAT, complete="format", usage=""),
    Param("more", "More options of start: name=value name=value", usage=""),
)
