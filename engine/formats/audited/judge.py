"""The judge layer of an `audited` debate: it scores each turn, keeps the register, presses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, Field

from engine.formats.audited.scores import (
    BESIDE,
    BROKEN,
    COMPONENTS,
    PLACES,
    PRESSURES,
    SCALES,
    SUSPECT,
    UNCALIBRATED,
    Archetypes,
    Outcome,
    Points,
    direct,
    find_bands,
    loser_of,
    move_traits,
    penalties_of,
    settle,
    total_points,
)
from engine.formats.judges import ask_judges
from engine.stage import Stage
from engine.stage.forms import WRONG, Between, ByKey, OneOf, Within, form
from engine.stage.shapes import AnswerPart, Shape, ShapedAnswer, kept
from engine.store import Post
from engine.values.debate import OTHER, Turn, Value
from engine.values.language import N_
from engine.values.messages import Report
from engine.values.overlap import is_quoted
from engine.values.text import marked
from engine.values.verdicts import Adjustment, Artifact, Score
from engine.words.translation import say

# What the judge of an `audited` debate answers: forms and rules.


RANGES: dict[str, float] = {
    **dict.fromkeys(COMPONENTS["logic"], 10.0),
    **dict.fromkeys(COMPONENTS["rhetoric"], 7.5),
    "tactics": SCALES["tactics"],
    **dict.fromkeys(BESIDE, 10.0),
}
PRESSURE_MOST = 3
OUTCOMES = ("previous", "latest", "draw")
NO_KIND = (WRONG, "there is no kind “{value}”")


class _Suspect(AnswerPart, strict=True):
    """A claim of the turn itself that is specific but hollow, or wrong."""

    claim: str
    kind: Annotated[str, OneOf(SUSPECT, NO_KIND)]


class _Exposed(AnswerPart, strict=True):
    """A claim of an earlier turn that this turn shows to be suspect."""

    turn: Annotated[int, Within(1, "before", (WRONG, "turn {value} is not before this one"))]
    claim: str
    kind: Annotated[str, OneOf(SUSPECT, NO_KIND)]


class _Premise(AnswerPart, strict=True):
    """A premise that the speaker relied on in an earlier turn, and now drops or contradicts."""

    turn: Annotated[
        int, OneOf("own", (WRONG, "turn {value} is not this speaker's own, and a premise is"))
    ]
    premise: str
    kind: Annotated[str, OneOf(BROKEN, (WRONG, "there is no kind “{value}” of premise"))]


class _Appeal(AnswerPart, strict=True):
    """Whether a turn answers what cost its side points, and why."""

    answered: bool
    why: str = ""


class _Absolute(AnswerPart, strict=True):
    """A turn's scores by component and why, and what it adds to the register or answers there."""

    reason: str = ""
    scores: Annotated[dict[str, float], ByKey(RANGES), Within(0, RANGES)]
    suspect: Annotated[list[_Suspect], Between(0, 3)] = Field(default_factory=list)
    exposed: Annotated[list[_Exposed], Between(0, 2)] = Field(default_factory=list)
    premises: Annotated[list[_Premise], Between(0, 2)] = Field(default_factory=list)
    appeals: Annotated[dict[str, _Appeal], ByKey("appeals")] = Field(default_factory=dict)


class _Pairwise(AnswerPart, strict=True):
    """Who was better in each dimension, and the pressure on the loser."""

    reason: str = ""
    outcomes: Annotated[dict[str, str], ByKey(SCALES), OneOf(OUTCOMES)]
    pressures: Annotated[
        dict[str, int | float], ByKey(PRESSURES), Within(-PRESSURE_MOST, PRESSURE_MOST)
    ]


def absolute_shape(turn: int, appeals: Iterable[int] = ()) -> Shape[_Absolute]:
    """Return the form of a turn's scores; `appeals` are the entries that it may answer.

    Only turns before it can be exposed, and only the speaker's own hold its premises.
    """
    own = tuple(range(2 - turn % 2, turn, 2))
    places = [str(place) for place in appeals]
    held = {"exposed": turn > 1, "premises": own, "appeals": places}
    without = [name for name, holds in held.items() if not holds]
    return form(_Absolute, without=without, own=own, before=turn - 1, appeals=places)


# The result of one judge's answers on the turns: scores, register, adjustments; pure.
#
# A ledger depends only on the turns and the answers. It grows turn by turn: a turn never changes
# what earlier ones added. Final scores are computed at the end.


class _TurnJudgment(NamedTuple):
    """A judge's answers on a turn and on it beside the one before; empty where unreadable."""

    absolute: _Absolute | None
    outcomes: Mapping[str, Outcome]


class RegisterEntry(Value):
    """One line of the register: a suspect claim or a premise, whose, and where it came out.

    `turn` is the number of the turn that it stands in, `exposed_by` that of the turn that
    showed it: the same one for a claim that is suspect as it is said. `penalty` is what it takes
    from the logic of its turn: nothing where its text does not occur there (`found`). Its side's
    next turn may answer it; `appeal` says what became of that: `lifted`, `stands`, or empty.
    """

    turn: int
    side: str
    kind: str
    text: str
    exposed_by: int
    penalty: float = 0.0
    found: bool = True
    appeal: str = ""

    @property
    def docked(self) -> float:
        """The points that it takes in the end."""
        return 0.0 if self.appeal == "lifted" else self.penalty


class _Ledger:
    """Scores as given, the register, and later adjustments, by turn.

    `penalties` are what each kind of failure adds to its turn's logic: 0 or less.
    """

    def __init__(
        self,
        turns: Sequence[Turn],
        heard: Sequence[_TurnJudgment],
        penalties: Mapping[str, float],
    ) -> None:
        self._turns, self._heard, self._penalties = turns, heard, penalties
        self.points: dict[int, Points] = {}
        self.register: list[RegisterEntry] = []
        self.changes: dict[int, list[Adjustment]] = {}
        for number, said in enumerate(heard, 1):
            self.changes[number] = []
            if said.absolute is not None:
                self.points[number] = total_points(said.absolute.scores)
                self.changes[number] += self._hear_appeals(number, said.absolute)
                self.changes[number] += self._enter(number, said.absolute)

    def appeals(self, number: int) -> dict[int, RegisterEntry]:
        """Return the entries that a turn may answer, by their places in the register.

        They docked its side since its last turn, or by it.
        """
        side, since = "A" if number % 2 else "B", number - 2
        return {
            place: entry
            for place, entry in enumerate(self.register, 1)
            if entry.side == side and entry.penalty and since <= entry.exposed_by < number
        }

    def docked(self, number: int) -> float:
        """Return what the register took from a turn."""
        return sum(entry.docked for entry in self.register if entry.turn == number)

    def standing(self) -> dict[int, dict[str, float]]:
        """Return where each scored turn's dimensions stand after every adjustment."""
        stand = {number: self._after_docking(number) for number in self.points}
        # Runs of neighbouring turns that have scores.
        numbered = groupby(enumerate(sorted(self.points)), lambda pair: pair[1] - pair[0])
        runs = [[number for _, number in run] for _, run in numbered]
        for dimension, scale in SCALES.items():
            for run in runs:
                outcomes = [self._heard[at - 1].outcomes.get(dimension) for at in run[1:]]
                given = [stand[at][dimension] for at in run]
                settled = settle(given, find_bands(scale, outcomes))
                for at, was, now in zip(run, given, settled, strict=True):
                    if round(now - was, PLACES):
                        stand[at][dimension] = round(now, PLACES)
        return stand

    def calibrate(self) -> Iterator[Adjustment]:
        """Yield the adjustments that move all scores into their bands."""
        for number, stands in self.standing().items():
            turn, before = self._turns[number - 1], self._after_docking(number)
            for dimension, score in stands.items():
                if amount := round(score - before[dimension], PLACES):
                    yield Adjustment(
                        name=f"calibration/{number}/{dimension}",
                        subject=turn.step,
                        side=turn.side,
                        criterion=dimension,
                        amount=amount,
                        reason="moved to contradict no comparison with a neighbouring turn",
                    )

    def _after_docking(self, number: int) -> dict[str, float]:
        values = self.points[number].values
        return {name: values[name] for name in SCALES} | {
            "logic": values["logic"] + self.docked(number)
        }

    # --- one turn -----------------------------------------------------------------------

    def _enter(self, number: int, given: _Absolute) -> Iterator[Adjustment]:
        """Write what a turn shows into the register, once, and dock the turns it stands in."""
        found = (
            *(self._entry(number, number, item.kind, item.claim) for item in given.suspect),
            *(self._entry(number, item.turn, item.kind, item.claim) for item in given.exposed),
            *(self._entry(number, item.turn, item.kind, item.premise) for item in given.premises),
        )
        for place, entry in enumerate(found, 1):
            if any(
                (
                    entry.turn == other.turn
                    and (is_quoted(entry.text, other.text) or is_quoted(other.text, entry.text))
                )
                for other in self.register
            ):
                continue
            self.register.append(entry)
            if entry.penalty:
                name, reason = f"register/{number}/{place}", f"{entry.kind}: {entry.text}"
                yield self._dock(entry, name, entry.penalty, reason, by=number)

    def _entry(self, number: int, turn: int, kind: str, text: str) -> RegisterEntry:
        said = self._turns[turn - 1]
        found = is_quoted(text, said.text)
        return RegisterEntry(
            turn=turn,
            side=said.side,
            kind=kind,
            text=text,
            exposed_by=number,
            penalty=self._penalties[kind] if found else 0.0,
            found=found,
        )

    def _hear_appeals(self, number: int, given: _Absolute) -> Iterator[Adjustment]:
        """Return docked points where the side's next turn has answered the entry."""
        for place, entry in self.appeals(number).items():
            appeal = given.appeals[str(place)]
            self.register[place - 1] = entry.model_copy(
                update={"appeal": "lifted" if appeal.answered else "stands"}
            )
            if appeal.answered:
                name = f"appeal/{number}/{place}"
                yield self._dock(entry, name, -entry.penalty, f"answered: {appeal.why}", by=number)

    def _dock(
        self, entry: RegisterEntry, name: str, amount: float, reason: str, *, by: int
    ) -> Adjustment:
        return Adjustment(
            name=name,
            subject=self._turns[entry.turn - 1].step,
            side=entry.side,
            criterion="logic",
            amount=amount,
            reason=reason,
            by=self._turns[by - 1].step,
        )


S = TypeVar("S", bound=BaseModel)

NAME = "audited"
EARLY = N_("Early turns are less calibrated.")
DIMENSIONS = {"logic": N_("logic"), "rhetoric": N_("rhetoric"), "tactics": N_("tactics")}
DOCKED = {
    "": N_("{entry} ({points:g} logic)"),
    "lifted": N_("{entry} ({points:g} logic, given back: answered since)"),
    "stands": N_("{entry} ({points:g} logic; not answered)"),
}
FAILURES = {
    "hollow": N_("hollow"),
    "fabricated": N_("fabricated"),
    "inverted_fact": N_("inverted fact"),
    "reversed_causality": N_("reversed causality"),
    "dropped": N_("dropped"),
    "contradicted": N_("contradicted"),
}


async def ask_judge(
    stage: Stage, kind: str, shape: Shape[S], *, turn: int | None = None, **facts: Any
) -> ShapedAnswer[S]:
    """Ask the layer's judges for one kind of answer, on a turn or on the debate as a whole."""
    step = f"judge/{kind}"
    if turn is not None:
        step, facts = f"{step}/{turn}", facts | {"number": turn}
    return await ask_judges(
        stage,
        step,
        system=f"{NAME}/judge",
        template=f"{NAME}/{kind}",
        shape=shape,
        facts=facts,
    )


class Audit:
    """The judge layer's state; all of it follows from journaled steps."""

    def __init__(
        self, stage: Stage, archetypes: Mapping[str, str], elasticity: Mapping[str, float]
    ) -> None:
        data = stage.prompts.data(f"{NAME}/archetypes", Archetypes)
        self._stage = stage
        self._data = data
        self._elasticity = elasticity
        self._heard: list[_TurnJudgment] = []
        self.given: list[Score] = []
        self.opinions: dict[int, tuple[float | None, ...]] = {}
        self._penalties = penalties_of(stage.limits)
        self.ledger = self._write_ledger()
        self.archetypes = dict(archetypes)
        self.begun = {side: dict(data.archetypes[name]) for side, name in archetypes.items()}
        self.traits = {side: dict(traits) for side, traits in self.begun.items()}
        self._told = {side: dict(traits) for side, traits in self.begun.items()}

    def describe(self, side: str) -> str:
        """Return a side's archetype and initial traits, for its first message."""
        told = ", ".join(
            f"{trait.replace('_', ' ')} {value:g}" for trait, value in self.begun[side].items()
        )
        return f"{self.archetypes[side]} ({told}; each of 10)"

    async def direct(self, side: str, number: int) -> Mapping[str, str]:
        """Return the private part of a side's next message, and keep it.

        `directive` says how it has changed, `doubts` which of its claims were docked and may be
        answered now; both may be empty.
        """
        directive = direct(self._told[side], self.traits[side], self._data.conduct)
        self._told[side] = dict(self.traits[side])
        doubts = "\n".join(
            f"- turn {entry.turn}, {spaced(entry.kind)}: “{entry.text}”"
            for entry in self.ledger.appeals(number).values()
        )
        told = {"directive": directive, "doubts": doubts}
        if any(told.values()):
            body = {"side": side, "turn": number, "directive": directive}
            body |= {"doubts": doubts} if doubts else {}
            name = f"directive/{number}"
            await self._stage.keep(artifacts=[Artifact(name=name, kind="directive", body=body)])
        return told

    async def score(self, number: int, side: str) -> None:
        """Score a turn on its own and against the one before, at the same time."""
        stage = self._stage
        pairwise: ShapedAnswer[_Pairwise] | None = None
        if number == 1:
            absolute = await self._ask_absolute(number)
        else:
            both = stage.numbered(number - 1, number)
            absolute, pairwise = await stage.both(
                self._ask_absolute(number),
                ask_judge(stage, "pairwise", form(_Pairwise), turn=number, transcript=both),
            )
        given = absolute.value if absolute.valid else None
        outcomes: dict[str, Outcome] = {}
        if pairwise is not None and pairwise.value is not None and pairwise.valid:
            for name in SCALES:
                match pairwise.value.outcomes[name]:
                    case "previous":
                        outcomes[name] = "previous"
                    case "latest":
                        outcomes[name] = "latest"
                    case _:
                        outcomes[name] = "draw"
        self._heard.append(_TurnJudgment(given, outcomes))
        self.ledger = self._write_ledger()
        self.opinions[number] = tuple(
            None if one is None else _given("total", one) for one in absolute.opinions
        )
        drift = self._press(number, side, outcomes, pairwise)
        scores = list(self._scores(number, side, absolute))
        self.given += scores[-1:]
        answers = [kept(absolute, f"absolute/{number}", "absolute")]
        if pairwise is not None:
            answers.append(kept(pairwise, f"pairwise/{number}", "pairwise"))
        await stage.keep(
            *self._line(number),
            artifacts=[*answers, *drift],
            scores=scores,
            adjustments=self.ledger.changes[number],
        )

    # --- one turn -----------------------------------------------------------------------

    def _write_ledger(self) -> _Ledger:
        return _Ledger(self._stage.turns, self._heard, self._penalties)

    async def _ask_absolute(self, number: int) -> ShapedAnswer[_Absolute]:
        return await ask_judge(
            self._stage,
            "absolute",
            absolute_shape(number, self.ledger.appeals(number)),
            turn=number,
            transcript=self._stage.numbered(),
            register=[_told(entry) for entry in self.ledger.register],
            appeals={place: _told(entry) for place, entry in self.ledger.appeals(number).items()},
        )

    def _press(
        self,
        number: int,
        side: str,
        outcomes: Mapping[str, Outcome],
        pairwise: ShapedAnswer[_Pairwise] | None,
    ) -> list[Artifact]:
        """Move the traits of the side that lost a comparison."""
        lost = loser_of(outcomes)
        if lost is None or pairwise is None or pairwise.value is None:
            return []
        loser = side if lost == "latest" else OTHER[side]
        signals = pairwise.value.pressures
        before = self.traits[loser]
        self.traits[loser] = move_traits(
            before, signals, self._data.pressures, self._elasticity[loser]
        )
        body = {"side": loser, "turn": number, "signals": signals}
        body |= {"before": before, "after": self.traits[loser]}
        return [Artifact.of(f"drift/{number}", "drift", body)]

    def _scores(self, number: int, side: str, answer: ShapedAnswer[_Absolute]) -> Iterator[Score]:
        """Yield a turn's scores as given."""
        if number not in self.ledger.points:
            return
        points, step = self.ledger.points[number], self._stage.turns[number - 1].step
        for name, value in {**points.values, "total": points.total}.items():
            yield Score(
                subject=step,
                side=side,
                criterion=name,
                value=value,
                original=points.originals.get(name),
                spread=answer.spread(partial(_given, name)),
            )

    def _line(self, number: int) -> list[Post]:
        """Return the turn's score line for the thread."""
        if not self._stage.live:
            return []
        stands = self.ledger.standing().get(number)
        if stands is None:
            text = say("The judge gave no answer that could be read; this turn has no score.")
        else:
            scores = (
                say(
                    "{name} {score:.1f}/{most:g}",
                    name=say(DIMENSIONS[name]),
                    score=stands[name],
                    most=SCALES[name],
                )
                for name in SCALES
            )
            text = say(
                "{total:.1f} of 100: {parts}.",
                total=sum(stands.values()),
                parts=say(", ").join(scores),
            )
            if number <= UNCALIBRATED:
                text += f" {say(EARLY)}"
        entries = [
            entry
            for place, entry in enumerate(self.ledger.register, 1)
            if entry.exposed_by == number or place in self.ledger.appeals(number)
        ]
        notices = "\n".join(tell_entry(entry) for entry in entries)
        report = Report(
            title=say("Turn {number}", number=number),
            text=f"{text}\n\n{notices}".strip(),
            side="judge",
        )
        return [Post(key=f"score/{number}", message=report)]


def _given(name: str, said: _Absolute) -> float:
    """Return what a judge gave a turn in a dimension, or in all."""
    points = total_points(said.scores)
    return points.total if name == "total" else points.values[name]


def tell_entry(entry: RegisterEntry) -> str:
    """Return a line of the register as people read it."""
    kind = say(FAILURES[entry.kind])
    told = say(
        "- Turn {turn}, {side}: {kind}, “{text}”",
        turn=entry.turn,
        side=marked(entry.side),
        kind=kind,
        text=entry.text,
    )
    if entry.exposed_by != entry.turn:
        shown = (
            N_("{entry}, in turn {turn}")
            if entry.kind in BROKEN
            else N_("{entry}, shown by turn {turn}")
        )
        told = say(shown, entry=told, turn=entry.exposed_by)
    if not entry.found:
        return say("{entry} (not found in that turn, so nothing is docked)", entry=told)
    if entry.appeal or entry.penalty:
        return say(DOCKED[entry.appeal], entry=told, points=entry.penalty)
    return told


def spaced(name: str) -> str:
    """Return a name as people read it."""
    return name.replace("_", " ")


def _told(entry: RegisterEntry) -> str:
    return f"turn {entry.turn}, {entry.kind}: {entry.text}"
