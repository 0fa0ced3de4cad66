"""What every format declares: who takes part, in which rounds, and the script."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple, TypeVar

from pydantic import BeforeValidator, JsonValue, ValidationError

from engine.prompts import Prompts
from engine.stage import QUESTIONS, Stage
from engine.values.debate import Length, Request, Turn, TurnOrder, Value
from engine.values.errors import UsageError
from engine.values.language import N_, Text
from engine.values.options import OUT_OF_RANGE, Options
from engine.values.text import headline
from engine.values.verdicts import Verdict, Vote

_ITEM = re.compile(
    r"""\s*(?:"([^"]*)"|“([^”]*)”|„([^“”]*)[“”]|«([^»]*)»|'([^']*)'(?=\s*(?:,|$))|([^,]*))\s*(?:,|$)"""
)


def _split(value: object) -> object:
    if isinstance(value, str):
        items = (next(filter(None, found.groups()), "") for found in _ITEM.finditer(value))
        return [item.strip() for item in items if item.strip()]
    return value


Names = Annotated[tuple[str, ...], BeforeValidator(_split)]
"""Several names; as text they are joined by commas, in quotes where they hold one themselves."""


class _NoOptions(Value):
    """The options of a format that has none of its own."""


class Labels(Value):
    """The data file of labels: the words around structured answers, by language."""

    labels: dict[str, dict[str, str]]

    def of(self, language: str) -> dict[str, str]:
        """Return the labels of a language; what it lacks is English."""
        return self.labels["en"] | self.labels.get(language.split("-")[0].lower(), {})


class Roles(NamedTuple):
    """Who takes part: contenders, seats that may have a model of their own, own judges.

    `judges` is how many there are unless several are named; `fixed` says that there are as many in
    any case. `one_model` says that all contenders are the same model unless they were named.
    """

    contenders: tuple[str, ...]
    seats: tuple[str, ...] = ()
    judges: int = 0
    one_model: bool = False
    fixed: bool = False


class Sized(NamedTuple):
    """What a length changes in a format: limits, options and rounds that no one asked for.

    A short debate has these limits at most, a long one at least.
    """

    limits: Mapping[str, float] = {}
    options: Mapping[str, JsonValue] = {}
    rounds: int | None = None


class Decision(NamedTuple):
    """A format's own verdict that people's stances decide, and how the reveal says it."""

    verdict: Verdict
    title: str
    text: str


class Format(ABC):
    """A format: who contends, how many turns there are, and the script.

    `about` says in a few words what it is like, for people who choose. `contenders` are those
    of a debate without options; `turn_order` is the only one that the format knows, None where
    people may choose; `default_rounds` applies where no one asked for a number of rounds, and
    `takes_rounds` says that people may ask for one; `stance` says that people are asked for
    theirs in any case; `clocked` that a clock decides how many turns there are; `files` that it
    posts files; `summarised` that a juror writes a summary for the reveal; `ends_early` that
    what is said may end it before its last round; `question` that its topic is a question, on
    which no one takes a side; `takes_questions` that the audience may ask both sides something
    before they close, `takes_person` that a person may argue a side.
    `rubric` is what jurors score by unless the operator has chosen another. `limits` are the
    format's limits with their defaults, and `short` and `long` what such debates change.
    """

    name: str
    version: int
    about: str = ""
    contenders: tuple[str, ...] = ("A", "B")
    options: type[Value] = _NoOptions
    turn_order: TurnOrder | None = None
    default_rounds: int = 1
    takes_rounds: bool = False
    stance: bool = False
    clocked: bool = False
    files: bool = False
    rubric: str = "debate"
    summarised: bool = False
    ends_early: bool = False
    question: bool = False
    takes_questions: bool = False
    takes_person: bool = False
    limits: type[Value] = _NoOptions
    short: Sized = Sized()
    long: Sized = Sized()

    def sized(self, length: Length) -> Sized:
        """Return what a length changes; a normal one changes nothing."""
        return {Length.SHORT: self.short, Length.LONG: self.long}.get(length, Sized())

    def limits_of(self, length: Length, given: Mapping[str, float]) -> dict[str, float]:
        """Return the limits of a debate of some length; `given` are the operator's."""
        sized = self.sized(length).limits
        usual = self.limits.model_validate(given).model_dump() if sized else {}
        pick = min if length is Length.SHORT else max
        return {**given, **{name: pick(usual[name], value) for name, value in sized.items()}}

    def complete(self, options: Options) -> dict[str, JsonValue]:
        """Return the format's own options with the defaults of the length. Raises UsageError."""
        sized = self.sized(options.length or Length.NORMAL)
        given = {**sized.options, **options.options}
        return read_own(self.name, self.options, given).model_dump(mode="json")

    def roles(self, options: Mapping[str, object]) -> Roles:
        """Return who takes part, given complete options."""
        return Roles(self.contenders)

    @abstractmethod
    def rounds(self, request: Request) -> tuple[str, ...]:
        """Return the names of the rounds, in order."""

    def round_of(self, name: str) -> str:
        """Return which of the rounds a turn belongs to, given the name that the turn has.

        People are asked who is ahead after each round but the last, which the vote follows.
        """
        return name

    @abstractmethod
    def turns(self, request: Request) -> int:
        """Return the number of turns: at most, or usually."""

    def length(self, request: Request) -> int:
        """Return the least number of turns; 0 where a clock decides."""
        return 0 if self.clocked else self.turns(request)

    @abstractmethod
    def waves(self, request: Request) -> int:
        """Return the number of calls in sequence, before the panel's reading.

        What its own judge is asked after the last turn counts as far as it outlasts that reading.
        """

    async def hold(self, stage: Stage) -> None:
        """Let the sides look things up, where an operator has set that, then run the script."""
        if stage.retrieval is not None:
            from engine.stage.research import research  # few installations have an endpoint

            await research(stage, stage.retrieval)
        await self.run(stage)

    @abstractmethod
    async def run(self, stage: Stage) -> None:
        """Hold the debate; `stage.adjourn` after the last turn lets the panel begin."""

    def with_questions(self, request: Request, rounds: Sequence[str]) -> tuple[str, ...]:
        """Return the rounds, with that of the audience's questions before the last if wanted."""
        asked = (QUESTIONS,) if request.questions and self.takes_questions else ()
        return (*rounds[:-1], *asked, rounds[-1])

    def call(self, request: Request, prompts: Prompts, drawn: Mapping[str, str]) -> dict[str, str]:
        """Return the names of contenders that have more than a letter.

        `drawn` are neutral names, for those without one of their own.
        """
        return {}

    def judged(self, turns: Sequence[Turn]) -> tuple[Turn, ...]:
        """Return what the panel reads of a debate: all that was said."""
        return tuple(turns)

    def decide(self, request: Request, stances: Sequence[Vote], panel: Verdict) -> Decision | None:
        """Return what people's stances before and after decide; None where they decide nothing."""
        return None


MISTAKES = {  # by how pydantic's types of errors begin
    "bool": N_("{name} is “{text}”; write on or off."),
    "float": N_("{name} is “{text}”; write a number."),
    "greater_than_equal": OUT_OF_RANGE,
    "int": N_("{name} is “{text}”; write a whole number."),
    "less_than_equal": OUT_OF_RANGE,
    "literal": N_("{name} is “{text}”; it must be {known:or}."),
}
O = TypeVar("O", bound=Value)  # noqa: E741 - O for options


def read_own(name: str, shape: type[O], given: Mapping[str, object]) -> O:
    """Read a format's options, complete with defaults. Raises UsageError naming the wrong one."""
    unknown = sorted(set(given) - set(shape.model_fields))
    if unknown:
        known = tuple(shape.model_fields) or Text("none")
        raise UsageError(
            "The format {name} has no option “{unknown}”; it has: {known}.",
            name=name,
            unknown=unknown[0],
            known=known,
        )
    try:
        return shape.model_validate(dict(given))
    except ValidationError as error:
        from engine.values.configuration import limits_at  # few are wrong

        mistake = error.errors(include_url=False)[0]
        limits, wrong = limits_at(shape, mistake["loc"]), str(next(iter(mistake["loc"]), name))
        kind = next((kind for kind in MISTAKES if mistake["type"].startswith(kind)), "")
        template = MISTAKES.get(kind, N_("{name} is “{text}”, which cannot be used."))
        raise UsageError(
            template,
            name=wrong,
            spelled=wrong,
            low=limits.get("ge"),
            high=limits.get("le"),
            text=headline(str(mistake["input"]), 40),
            known=tuple(re.findall(r"'([^']+)'", mistake.get("ctx", {}).get("expected", ""))),
        ) from None
