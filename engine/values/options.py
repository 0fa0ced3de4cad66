"""A debate's options: one table of them, one value, and how each is parsed from text.

Chats, the shell, settings and the dataset are made from the table. A request is
`built-in | operator | community | asked`; each layer sets only what it overrides.
Debaters and jurors are not options: they are chosen from the offered models, or drawn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar, get_args

from pydantic import BeforeValidator, JsonValue, ValidationInfo, field_validator

from engine.values.debate import (
    BallotKind,
    ConfidenceScale,
    Length,
    PanelMode,
    Request,
    Scores,
    TrialProtocol,
    TurnOrder,
    Value,
)
from engine.values.errors import UsageError
from engine.values.language import N_, Text
from engine.values.text import READING, clean, headline, is_visible, marked

E = TypeVar("E", bound=StrEnum)
Reader = Callable[[str, str], Any]
Kind: TypeAlias = type | tuple[str, ...]

_SPAN = re.compile(r"(\d+(?:\.\d+)?)(d|h|min|m|sec|s|)")
_MINUTES = {"d": 1440.0, "h": 60.0, "min": 1.0, "m": 1.0, "": 1.0, "sec": 1 / 60, "s": 1 / 60}
NONE = ("off", "no", "none")  # for a number that may be 0
SIMILAR = 0.7  # of 1; below it, `nope` would be taken for `openai`, and `foo` for `for`
ON = {"pace": str(READING)}  # the number that `on` stands for
_YES = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}


class Options(Value):
    """One layer of options; None leaves a value to the layers below.

    `options` are the format's own; `PARAMS` says what the others are.
    """

    topic: str | None = None
    conditions: str | None = None
    format: str | None = None
    language: str | None = None
    options: Mapping[str, JsonValue] = {}
    rounds: int | None = None
    turn_order: TurnOrder | None = None
    blind: bool | None = None
    scores: Scores | None = None
    ballot: BallotKind | None = None
    vote_minutes: float | None = None
    quorum: int | None = None
    extend: bool | None = None
    stance: bool | None = None
    stance_seconds: float | None = None
    again: bool | None = None
    again_minutes: float | None = None
    broadcast: bool | None = None
    mirror: bool | None = None
    panel: PanelMode | None = None
    stance_a: str | None = None
    stance_b: str | None = None
    length: Length | None = None
    round_votes: bool | None = None
    confidence: ConfidenceScale | None = None
    why: bool | None = None
    questions: float | None = None
    reasons: bool | None = None
    guess: bool | None = None
    pace: int | None = None
    turn_minutes: float | None = None
    protocol: TrialProtocol | None = None

    @field_validator("topic", "conditions", "stance_a", "stance_b")
    @classmethod
    def _clean(cls, text: str | None, info: ValidationInfo) -> str | None:
        return text and clean_text(info.field_name or "", text)

    @field_validator("topic", "format", "language")
    @classmethod
    def _skip_empty(cls, text: str | None) -> str | None:
        return text or None

    def given(self) -> dict[str, Any]:
        """Return the options that are set, by name."""
        fields, given = Options.model_fields, self.model_fields_set
        return {
            name: value
            for name, value in self.__dict__.items()
            if name in given and name in fields and value is not None and value != {}
        }

    def __or__(self, other: Options) -> Options:
        """Return these options, overridden by those that `other` sets.

        Stances belong to their topic: another topic drops them.
        """
        given = other.given()
        if other.topic:
            given = dict.fromkeys(STANCES.values()) | given
        return self.model_copy(update=given)  # each is valid on its own


STANCES = {"for": "stance_a", "against": "stance_b"}
"""The options of what the sides argue, by the names that people write."""


def clean_text(name: str, text: str) -> str:
    """Return the text of an option as safe data. Raises UsageError where no one could see it."""
    text = clean(text)
    if name == "conditions" or not text.strip() or is_visible(text):
        return text
    if name == "topic":
        raise UsageError(
            "All characters of this topic are invisible. Write one, for example "
            "“Remote work is better”."
        )
    raise UsageError(
        "All characters of side {side}'s stance are invisible; write a few.",
        side=marked(name[-1].upper()),
    )


# --- the table ---------------------------------------------------------------------------


class Param(NamedTuple):
    """A parameter of a command: the field of its arguments that it sets, and what it takes.

    `about` stands beside it in Discord's list; one without is given as text only. `kind` is a type
    or the words to choose from, `range` what a number, or the length of a text, lies between.
    `complete` names what is offered while somebody types. `usage` is how the usage has it, where
    that is not one of its words, or on or off; empty for one that is Discord's only. One that
    `leads` has no name in text and stands first.

    An option of a debate has what each other door says of it, and is offered by no other: `help` is
    that of `rostrum debate`, `setting` is above the operator's `variable`, `label` names what
    communities can set, `column` is in the dataset, for what holds no text by people. `default` is
    the built-in value, where it is not that of a request.
    """

    name: str = ""
    about: str = ""
    kind: Kind = str
    range: tuple[float, float] | None = None
    complete: str = ""
    usage: str | None = None
    leads: bool = False
    required: bool = False
    default: object = None
    help: str = ""
    metavar: str = ""
    setting: str = ""
    variable: str = ""
    label: str = ""
    column: str = ""
    unit: str = ""

    @property
    def said(self) -> str:
        """The name that people write."""
        return _SAID.get(self.name, self.name)


_SAID = {name: said for said, name in STANCES.items()}
LONGEST_TOPIC = 4000  # characters, in a field of Discord
_UNPREFIXED = (
    *("topic", "conditions", "stance_a", "stance_b", "blind", "turn_order", "scores"),
    *("stance_seconds", "again_minutes"),
)
_ROWS = {
    "topic": Param(range=(1, LONGEST_TOPIC), complete="topic",
        usage='"topic"|random [for="…" against="…"]',
        about="A motion to argue for and against; leave it out to open a form for longer ones",
        setting="Topic of `rostrum debate` without an argument."),
    "conditions": Param(usage='[conditions="…"]',
        about=N_("What both sides accept"),
        help="Conditions that both sides accept.",
        setting='Conditions that both sides accept, e.g. "consider only small companies".'),
    "format": Param(complete="format", usage="[format=classic]",
        about="How they debate",
        help="Debate format.",
        setting="Format of a debate.",
        label=N_("Default format"),
        column="the debate's format"),
    "language": Param(complete="language", usage="[language=en]",
        about="The language of the debate",
        help="Language code, e.g. en, tr, zh.",
        setting="Language of debaters and jurors, as a BCP-47 code.",
        label=N_("Default language"),
        column="BCP-47 code"),
    "length": Param(
        about="How long the debate is; short is read in five minutes",
        help="short, normal or long; short is read in five minutes.",
        setting="Length of a debate: short (about 120 words a turn, read in five minutes), "
                "normal or long.",
        label=N_("Default length"),
        column="`short`, `normal` or `long`"),
    "rounds": Param(usage="[rounds=1]", unit="rounds",
        about="Rounds of rebuttals",
        help="Number of rebuttals.",
        column="requested rebuttal rounds"),
    "vote_minutes": Param(range=(0.1, 10_080), usage="[vote=30m]",
        about="How long the vote is open",
        help="Minutes of the vote, or e.g. 1h.",
        setting="Length of the vote, in minutes; fractions allowed.",
        label=N_("Default length of a vote, in minutes"),
        column="planned length of the vote"),
    "ballot": Param(
        about=N_("How people vote"),
        label=N_("How people vote by default"),
        column="`open`, `secret` or `private`"),
    "scores": Param(
        about="When a format's own scores are shown",
        help="When a format's own scores show: after_vote or live.",
        setting="When the scores of a format's own judge are shown: after_vote or live.",
        column="`after_vote`, or `live`: a judge's scores showed before the vote"),
    "turn_order": Param(metavar="ORDER",
        about="Whether a side sees the other's speech of the same round",
        help="sequential or simultaneous turns.",
        setting="sequential: B answers A within a round. simultaneous: neither sees the other's "
                "turn of the round.",
        column="`sequential`, or `simultaneous`: no replies within a round"),
    "blind": Param(
        about="Whether the models' names are hidden from jurors",
        help="Hide model names from jurors.",
        setting="Whether model names are hidden from jurors. off is for study; it never counts "
                "as agreement.",
        column="whether model names were hidden from jurors"),
    "stance": Param(about="Whether to ask people for their opinion before and after"),
    "stance_seconds": Param(
        setting="How long a debate with stances waits for them before the first turn, in seconds."),
    "quorum": Param(metavar="VOTES", unit="votes",
        help="Votes needed for a human winner.",
        setting="Votes needed for a human winner.",
        label=N_("Votes needed for a winner"),
        column="gold votes needed for a human winner"),
    "extend": Param(
        setting="Whether a vote below the quorum is extended once, by the same length."),
    "broadcast": Param(label=N_("Show reveals in the channel as well as in the thread")),
    "again": Param(label=N_("Ask again after the reveal who debated better")),
    "again_minutes": Param(
        setting="How long the question below a reveal is open, in minutes, if the community asks "
                "it."),
    "round_votes": Param(
        about="Whether to ask people after each round who is ahead",
        help="Ask people after each round who is ahead.",
        setting="Whether people are asked after each round who is ahead.",
        label=N_("Ask after each round who is ahead"),
        column="whether people were asked after each round who is ahead"),
    "confidence": Param(
        about="Whether to ask with the vote how clear it was, or how sure in percent",
        help="on, off or percent: ask people with the vote how clear it was, or how sure they "
             "are.",
        setting="Whether people are asked with the vote how clear it was.",
        label=N_("Ask with the vote how clear it was")),
    "why": Param(usage="[why=on|off]", default=True,
        help="Have a juror say for the reveal why the jury decided so.",
        setting="Whether a juror is asked to say for the reveal why the jury decided so: one "
                "more call.",
        label=N_("Have a juror say why the jury decided so")),
    "reasons": Param(default=True,
        setting="Whether those who voted can say in private why, and how clear it was.",
        label=N_("Let voters say privately why"),
        column="whether voters could say in private what decided and how clear it was"),
    "guess": Param(default=True,
        setting="Whether those who voted can guess in private which models debated.",
        label=N_("Let voters guess the models privately"),
        column="whether voters could guess the models"),
    "questions": Param(usage="[questions=2m]",
        help="Let people ask both sides something before they close, for a time such as 2m.",
        setting="For how many minutes the audience may ask both sides something before they "
                "close; 0 for not at all.",
        label=N_("Minutes for questions from the audience before the sides close; 0 for none"),
        column="for how long the audience could ask both sides something; 0 for not at all"),
    "pace": Param(usage="[pace=on|off]", metavar="WORDS", unit="words a minute",
        help="Show turns no faster than this many words a minute; people read 238. 0 is no limit.",
        setting="At how many words a minute turns are posted at most, such as 238, which is how "
                "fast people read silently (Brysbaert 2019); 0 for no limit.",
        label=N_("Words a minute at which turns are posted at most, such as 238; 0 for no limit"),
        column="at how many words a minute turns were posted at most; 0 for no limit"),
    "turn_minutes": Param(usage="[turn_minutes=10m]", default=10.0,
        help="The time for each turn that you write with --a me or --b me, e.g. 30m (default: a "
             "day).",
        setting="How many minutes a person who argues a side has for each turn.",
        label=N_("Minutes for each turn of a person who argues a side")),
    "protocol": Param(usage="[protocol=direct|consultancy|debate|open|expert]",
        help="How the jury finds a known answer: direct, consultancy, debate, open or expert.",
        column="how the jury came to an answer that is known; null where none is"),
    "mirror": Param(
        about="Whether to hold a second debate with the sides swapped",
        help="Hold it a second time with sides swapped."),
    "panel": Param(kind=("adaptive", "all", "one", "strict"), default=PanelMode.ADAPTIVE,
        about="How many jurors read, and how often",
        help="How many jurors read: adaptive, all, one or strict.",
        label=N_("How many jurors read by default")),
    "stance_a": Param(usage="", metavar="STANCE",
        about="What 🔵 A argues in your own words, if not for the topic: tabs",
        help="What A argues, if not for the topic; with --against.",
        setting='What the sides argue about ROSTRUM_TOPIC, e.g. "tabs" and "spaces" (default: '
                "for and against it)."),
    "stance_b": Param(usage="", metavar="STANCE",
        about="What 🔴 B argues in your own words, if not against the topic: spaces",
        help="What B argues, if not against the topic.",
        setting="What side B argues."),
}  # fmt: skip
LIMITS: Mapping[str, tuple[float, float]] = {
    name: (field.metadata[0].ge, field.metadata[1].le)
    for name, field in Request.model_fields.items()
    if [hasattr(limit, "ge") for limit in field.metadata] == [True, False]
}


def kind_of(name: str) -> type:
    """Return the type of an option."""
    kind: type = get_args(Options.model_fields[name].annotation)[0]
    return kind


def _completed(name: str, row: Param) -> Param:
    """Return a row with what follows from the option's type, and from its limits."""
    kind = kind_of(name)
    words = tuple(one.value for one in kind) if issubclass(kind, StrEnum) else kind
    return row._replace(
        name=name,
        kind=row.kind if isinstance(row.kind, tuple) else words,
        range=row.range or LIMITS.get(name),
        variable=name if name in _UNPREFIXED else f"default_{name}",
        unit=row.unit or ("minutes" if kind is float else ""),
    )


PARAMS: Mapping[str, Param] = {name: _completed(name, row) for name, row in _ROWS.items()}
BUILT_IN = Options(
    **{
        name: field.default
        for name, field in Request.model_fields.items()
        if name in Options.model_fields and not field.is_required() and name != "rounds"
    }
    | {name: row.default for name, row in PARAMS.items() if row.default is not None}
)
"""The built-in defaults; the number of rounds is up to the format."""


def in_order(order: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return an order of names, with those at its `…` that it does not name."""
    first, _, last = (part.split() for part in order.partition("…"))
    return (*first, *(name for name in names if name not in (*first, *last)), *last)


# --- limits ------------------------------------------------------------------------------


def check_limits(options: Options) -> None:
    """Check the range of each number. Raises UsageError naming the option."""
    for name in LIMITS:
        if (value := getattr(options, name)) is not None:
            _check_limit(name, value, name, f"{value:.10g}")


def _check_limit(name: str, value: float, spelled: str, written: str) -> None:
    low, high = LIMITS[name]
    if low <= value <= high:
        return
    raise UsageError(
        OUTSIDE.get(name, OUT_OF_RANGE),
        spelled=spelled,
        text=_shorten(written),
        low=low,
        high=high,
    )


OUT_OF_RANGE = N_("{spelled} is {text}; it must be between {low:.10g} and {high:.10g}.")
OUTSIDE = {  # of what has a unit
    "pace": N_(
        "{spelled} is {text}; it must be between {low:.10g} and {high:.10g} words a minute."
    ),
    "questions": N_("{spelled} is “{text}”; choose at most an hour, or 0 for none."),
    "turn_minutes": N_("{spelled} is “{text}”; choose at most a day."),
    "vote_minutes": N_("{spelled} is “{text}”; choose more than 0 and at most a week."),
}


# --- from text ---------------------------------------------------------------------------


def read_options(
    given: Mapping[str, object], spell: Callable[[str], str] = lambda name: name
) -> Options:
    """Read options by name: text is parsed, other values are used unchanged.

    `spell` maps a name to its spelling for people. Raises UsageError naming the invalid option.
    """
    return Options(
        **{
            name: read_option(name, value, spell(name)) if isinstance(value, str) else value
            for name, value in given.items()
        }
    )


def read_option(name: str, text: str, spelled: str = "") -> Any:
    """Read one option, which people know as `spelled`. Raises UsageError."""
    word = text.strip().casefold()
    if name in ON and word in _YES:
        text = ON[name] if _YES[word] else "0"
    off = LIMITS.get(name, (None,))[0] == 0.0 and word in NONE
    said = "0" if off else text.casefold() if name == "format" else text
    kind = kind_of(name)
    reader = partial(parse_choice, kind) if issubclass(kind, StrEnum) else _BY_TYPE[kind]
    value = READERS.get(name, reader)(spelled or name, said)
    if name in LIMITS:
        _check_limit(name, value, spelled or name, text)
    return value


def parse_minutes(name: str, text: str) -> float:
    """Read a span such as `30m`, `1h30m`, `90s`, `2d` or plain minutes. Raises UsageError."""
    compact = "".join(text.casefold().split())
    spans = _SPAN.findall(compact)
    if not spans or "".join(number + unit for number, unit in spans) != compact:
        raise UsageError(
            "{name} is “{text}”; write a time such as 30m, 1h or 90s.",
            name=name,
            text=_shorten(text),
        )
    if len(spans) > 1 and any(not unit for _, unit in spans):
        raise UsageError(
            "{name} is “{text}”; give each number a unit, as in 1h30m.",
            name=name,
            text=_shorten(text),
        )
    return sum(float(number) * _MINUTES[unit] for number, unit in spans)


def parse_number(name: str, text: str) -> int:
    """Read a whole number. Raises UsageError."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(
            "{name} is “{text}”; write a whole number.",
            name=name,
            text=_shorten(text),
        )
    return int(text)


def parse_signed(name: str, text: str) -> int:
    """Read a whole number that may have a minus, so that its range is what is named."""
    below = text.startswith("-") and text[1:].isdigit()
    return -parse_number(name, text[1:]) if below else parse_number(name, text)


def parse_pace(name: str, text: str) -> int:
    """Read words a minute; `on` and `off` are numbers by now. Raises UsageError."""
    try:
        return parse_signed(name, text)
    except UsageError:
        raise UsageError(
            "{name} is “{text}”; write on, off, or a number of words a minute up to {most}.",
            name=name,
            text=_shorten(text),
            most=int(LIMITS["pace"][1]),
        ) from None


def parse_switch(name: str, text: str) -> bool:
    """Read `on` or `off`. Raises UsageError."""
    if text.strip().casefold() not in _YES:
        raise UsageError(
            "{name} is “{text}”; write on or off.",
            name=name,
            text=_shorten(text),
        )
    return _YES[text.strip().casefold()]


def split_models(text: str) -> list[str]:
    """Split a comma-separated list of models, whose settings have commas too."""
    found: list[str] = []
    for item in map(str.strip, text.split(",")):
        if found and "@" in found[-1] and re.match(r"[a-z_]+=[^/]*$", item):
            found[-1] += f",{item}"
        else:
            found.append(item)
    return found


def parse_confidence(name: str, text: str) -> ConfidenceScale:
    """Read a switch, or `percent`. Raises UsageError."""
    switched = _YES.get(text.strip().casefold())
    return (
        parse_choice(ConfidenceScale, name, text)
        if switched is None
        else ConfidenceScale("on" if switched else "off")
    )


def fold(value: Any) -> Any:
    """Return a text in small letters, without the space around it; other values as they are."""
    return value.strip().lower() if isinstance(value, str) else value


Folded = BeforeValidator(fold)


def parse_choice(kinds: type[E], name: str, text: str) -> E:
    """Read one of some words. Raises UsageError naming them."""
    word = text.strip().casefold().replace("-", "_")
    known = [kind.value for kind in kinds]
    if word not in known:
        raise UsageError(
            N_("{name} is “{text}”; {near} it must be {known:or}.")
            if nearest(word, known)
            else N_("{name} is “{text}”; it must be {known:or}."),
            name=name,
            text=_shorten(text),
            near=hint(word, known),
            known=tuple(known),
        )
    return kinds(word)


_BY_TYPE: Mapping[type, Reader] = {
    str: lambda _, text: text,
    int: parse_signed,
    float: parse_minutes,
    bool: parse_switch,
}
READERS: Mapping[str, Reader] = {"pace": parse_pace, "confidence": parse_confidence}
"""Options that are read otherwise than by their type."""


# --- what was meant ----------------------------------------------------------------------


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the closest known word to a mistyped one, if any is close."""
    words = {one.casefold(): one for one in known}
    close = get_close_matches(word.casefold(), words, n=1, cutoff=SIMILAR)
    return words[close[0]] if close else None


def hint(word: str, known: Iterable[str]) -> Text:
    """Return “did you mean …?” with the closest known word, or nothing."""
    close = nearest(word, known)
    template = N_("did you mean {close}?") if close else ""
    return Text(template, close=close)


def _shorten(text: str) -> str:
    return headline(text, 40)
