"""The parameters of the chat commands: one table, which every door of them is made from.

Discord's options, the usage of a command and its text are made of it. What an option of a debate
is like, its words, its range and its default, is read from engine/values/options.py.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, TypeAlias, get_args

from engine.values.debate import BallotKind
from engine.values.language import N_
from engine.values.options import LIMITS, STANCES, Options

Kind: TypeAlias = type | tuple[str, ...]
LONGEST_TOPIC = 4000  # characters, in a field of Discord
_DEBATE = "The debate's code; leave it out for the one in this channel or thread"
_CONFIRM = "True to confirm; leave it out to read what it means"
_CHOSEN_FORMAT = "How they debate"
_SAID = {name: said for said, name in STANCES.items()}


class Param(NamedTuple):
    """A parameter of a command: the field of its arguments that it sets, and what it takes.

    `about` stands beside it in Discord's list; one without is given as text only. `kind` is a type
    or the words to choose from, `range` what a number, or the length of a text, lies between.
    `complete` names what is offered while somebody types. `usage` is how the usage has it, where
    that is not one of its words, or on or off; empty for one that is Discord's only. One that
    `leads` has no name in text and stands first.
    """

    name: str
    about: str = ""
    kind: Kind = str
    range: tuple[float, float] | None = None
    complete: str = ""
    usage: str | None = None
    leads: bool = False
    required: bool = False

    @property
    def said(self) -> str:
        """The name that people write."""
        return _SAID.get(self.name, self.name)

    def written(self, *, hides: bool = True) -> str:
        """Return how the usage has it; `hides`: votes can be secret."""
        if self.usage is not None:
            return self.usage
        if self.leads:
            return f"[{self.name}]"
        words = self.kind if isinstance(self.kind, tuple) else ("on", "off")
        shown = [word for word in words if hides or word != BallotKind.SECRET]
        return f"[{self.said}={'|'.join(shown)}]"


def _option(
    name: str,
    about: str = "",
    usage: str | None = None,
    complete: str = "",
    range: tuple[float, float] | None = None,
) -> Param:
    """Return the parameter of a debate's option; its words and its range are the option's."""
    kind = get_args(Options.model_fields[name].annotation)[0]
    words = tuple(one.value for one in kind) if issubclass(kind, StrEnum) else kind
    return Param(name, about, words, range or LIMITS.get(name), complete, usage)


def _debate(about: str = _DEBATE) -> Param:
    return Param("debate", about, complete="debate", leads=True)


START = (
    _option(
        "topic",
        "A motion to argue for and against; leave it out to open a form for longer ones",
        '"topic"|random [for="…" against="…"]',
        "topic",
        (1, LONGEST_TOPIC),
    ),
    _option("conditions", N_("What both sides accept"), '[conditions="…"]'),
    _option("format", _CHOSEN_FORMAT, "[format=classic]", "format"),
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
    _option("language", "The language of the debate", "[language=en]", "language"),
    _option("length", "How long the debate is; short is read in five minutes"),
    _option("rounds", "Rounds of rebuttals", "[rounds=1]"),
    _option("vote_minutes", "How long the vote is open", "[vote=30m]", range=(0.1, 10_080)),
    _option("ballot", N_("How people vote")),
    _option("scores", "When a format's own scores are shown"),
    _option("turn_order", "Whether a side sees the other's speech of the same round"),
    _option("blind", "Whether the models' names are hidden from jurors"),
    _option("stance", "Whether to ask people for their opinion before and after"),
    _option("round_votes", "Whether to ask people after each round who is ahead"),
    _option("confidence", "Whether to ask with the vote how clear it was, or how sure in percent"),
    _option("why"),
    _option("questions", usage="[questions=2m]"),
    _option("pace", usage="[pace=on|off]"),
    _option("turn_minutes", usage="[turn_minutes=10m]"),
    _option("mirror", "Whether to hold a second debate with the sides swapped"),
    Param(
        "panel", "How many jurors read, and how often", kind=("adaptive", "all", "one", "strict")
    ),
    _option("stance_a", "What 🔵 A argues in your own words, if not for the topic: tabs", usage=""),
    _option(
        "stance_b", "What 🔴 B argues in your own words, if not against the topic: spaces", usage=""
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
IN_A_CHAT = tuple(param.name for param in START if param.name in Options.model_fields)
"""The options of the command; the rest is up to community and operator."""
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
