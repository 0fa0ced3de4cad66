"""The judge layer of an `audited` debate: it scores each turn, keeps the register, presses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel

from engine.findings import Adjustment, Artifact, Score
from engine.floor.floor import Floor
from engine.floor.shapes import Answer, Shape, kept
from engine.formats.audited.answers import (
    Absolute,
    Pairwise,
    absolute_shape,
    pairwise_shape,
)
from engine.formats.audited.scoring import (
    DROPPED,
    SCALES,
    UNCALIBRATED,
    Archetypes,
    Entry,
    Outcome,
    Points,
    band,
    direct,
    loser_of,
    move_traits,
    total_points,
)
from engine.formats.judges import ask_judges
from engine.messages import Report
from engine.store import Post

S = TypeVar("S", bound=BaseModel)

NAME = "audited"


async def ask_judge(
    floor: Floor, kind: str, shape: Shape[S], *, turn: int | None = None, **facts: Any
) -> Answer[S]:
    """Ask the layer's judges for one kind of answer, on a turn or on the debate as a whole."""
    step = f"judge/{kind}"
    if turn is not None:
        step, facts = f"{step}/{turn}", facts | {"number": turn}
    return await ask_judges(
        floor,
        step,
        system=f"{NAME}/judge",
        template=f"{NAME}/{kind}",
        shape=shape,
        facts=facts,
    )


class Audit:
    """What the judge layer knows so far; all of it follows from journaled steps."""

    def __init__(self, floor: Floor, archetypes: Mapping[str, str], elasticity: float) -> None:
        data = floor.prompts.data(f"{NAME}/archetypes", Archetypes)
        self._floor = floor
        self._pressures = data.pressures
        self._elasticity = elasticity
        self.archetypes = dict(archetypes)
        self.begun = {side: dict(data.archetypes[name]) for side, name in archetypes.items()}
        self.traits = {side: dict(traits) for side, traits in self.begun.items()}
        self._told = {side: dict(traits) for side, traits in self.begun.items()}
        self.points: dict[int, Points] = {}
        self.given: list[Score] = []
        self.opinions: dict[int, tuple[float | None, ...]] = {}
        self.register: list[Entry] = []
        self.adjustments: list[Adjustment] = []

    def describe(self, side: str) -> str:
        """Return a side's archetype and the traits that it began with, for its first message."""
        told = ", ".join(
            f"{trait.replace('_', ' ')} {value:g}" for trait, value in self.begun[side].items()
        )
        return f"{self.archetypes[side]} ({told}; each of 10)"

    async def direct(self, side: str, number: int) -> str:
        """Return the hidden directive of a side's next message, and keep it; empty for none."""
        directive = direct(self._told[side], self.traits[side])
        self._told[side] = dict(self.traits[side])
        if directive:
            body = {"side": side, "turn": number, "directive": directive}
            name = f"directive/{number}"
            await self._floor.keep(artifacts=[Artifact(name=name, kind="directive", body=body)])
        return directive

    async def score(self, number: int, side: str) -> None:
        """Score a turn on its own and against the one before, at the same time."""
        floor = self._floor
        pairwise: Answer[Pairwise] | None = None
        if number == 1:
            absolute = await self._ask_absolute(number)
        else:
            absolute, pairwise = await floor.both(
                self._ask_absolute(number), self._ask_pairwise(number)
            )
        given = absolute.value if absolute.valid else None
        outcomes = _outcomes(pairwise)
        if given is not None:
            self.points[number] = total_points(given.scores)
        self.opinions[number] = tuple(
            None if one is None else _given("total", one) for one in absolute.opinions
        )
        changed = [*self._harmonise(number, outcomes), *self._enter(number, side, given)]
        self.adjustments += changed
        drift = self._press(number, side, outcomes, pairwise)
        scores = list(self._scores(number, side, absolute))
        self.given += scores[-1:]
        await floor.keep(
            *self._line(number, side),
            artifacts=[*_answers(number, absolute, pairwise), *drift],
            scores=scores,
            adjustments=changed,
        )

    def total(self, number: int) -> float | None:
        """Return a turn's total as it stands after every adjustment; None for one unscored."""
        if number not in self.points:
            return None
        return self.points[number].total + self.docked(number)

    def docked(self, number: int) -> float:
        """Return what the register took from a turn."""
        return sum(entry.penalty for entry in self.register if entry.turn == number)

    # --- one turn -----------------------------------------------------------------------

    async def _ask_absolute(self, number: int) -> Answer[Absolute]:
        return await ask_judge(
            self._floor,
            "absolute",
            absolute_shape(number),
            turn=number,
            transcript=self._floor.numbered(),
            register=[f"turn {entry.turn}, {entry.kind}: {entry.text}" for entry in self.register],
        )

    async def _ask_pairwise(self, number: int) -> Answer[Pairwise]:
        both = self._floor.numbered(number - 1, number)
        return await ask_judge(
            self._floor, "pairwise", pairwise_shape(), turn=number, transcript=both
        )

    def _harmonise(self, number: int, outcomes: Mapping[str, Outcome]) -> Iterator[Adjustment]:
        """Move both turns' scores into their bands; the earlier one's move is an adjustment."""
        if number not in self.points or number - 1 not in self.points:
            return
        for dimension, outcome in outcomes.items():
            before, now = self.points[number - 1], self.points[number]
            was, said = before.values[dimension], now.values[dimension]
            banded = band(dimension, was, said, outcome)
            if banded.latest != said:
                self.points[number] = now.moved(dimension, banded.latest)
            if banded.previous != was:
                self.points[number - 1] = before.moved(dimension, banded.previous)
                turn = self._floor.turns[number - 2]
                yield Adjustment(
                    name=f"calibration/{number}/{dimension}",
                    subject=turn.step,
                    side=turn.side,
                    criterion=dimension,
                    amount=banded.previous - was,
                    reason=f"outside the band that the comparison with turn {number} sets",
                    by=self._floor.turns[number - 1].step,
                )

    def _enter(self, number: int, side: str, given: Absolute | None) -> Iterator[Adjustment]:
        """Write what a turn shows into the register, once, and dock the turns it stands in."""
        if given is None:
            return
        found = self._found(number, side, given)
        known = {(entry.turn, entry.text) for entry in self.register}
        for place, entry in enumerate(found, 1):
            if (entry.turn, entry.text) in known:
                continue
            known.add((entry.turn, entry.text))
            self.register.append(entry)
            if entry.penalty:
                yield Adjustment(
                    name=f"register/{number}/{place}",
                    subject=self._floor.turns[entry.turn - 1].step,
                    side=entry.side,
                    criterion="logic",
                    amount=entry.penalty,
                    reason=f"{entry.kind}: {entry.text}",
                    by=self._floor.turns[number - 1].step,
                )

    def _found(self, number: int, side: str, given: Absolute) -> list[Entry]:
        def entry(turn: int, of: str, kind: str, text: str) -> Entry:
            return Entry(turn=turn, side=of, kind=kind, text=text, exposed_by=number)

        sides = {at: turn.side for at, turn in enumerate(self._floor.turns, 1)}
        return [
            *(entry(number, side, item.kind, item.claim) for item in given.suspect),
            *(entry(item.turn, sides[item.turn], item.kind, item.claim) for item in given.exposed),
            *(entry(item.turn, side, item.kind, item.premise) for item in given.premises),
        ]

    def _press(
        self,
        number: int,
        side: str,
        outcomes: Mapping[str, Outcome],
        pairwise: Answer[Pairwise] | None,
    ) -> list[Artifact]:
        """Let the side that lost a comparison feel it: its traits move."""
        lost = loser_of(outcomes)
        if lost is None or pairwise is None or pairwise.value is None:
            return []
        loser = side if lost == "latest" else _other(side)
        signals = pairwise.value.pressures
        before = self.traits[loser]
        self.traits[loser] = move_traits(before, signals, self._pressures, self._elasticity)
        body = {"side": loser, "turn": number, "signals": signals}
        body |= {"before": before, "after": self.traits[loser]}
        return [Artifact.of(f"drift/{number}", "drift", body)]

    def _scores(self, number: int, side: str, answer: Answer[Absolute]) -> Iterator[Score]:
        if number not in self.points:
            return
        points, step = self.points[number], self._floor.turns[number - 1].step
        for name, value in {**points.values, "total": points.total}.items():
            yield Score(
                subject=step,
                side=side,
                criterion=name,
                value=value,
                original=points.originals.get(name),
                spread=answer.spread(partial(_given, name)),
            )

    def _line(self, number: int, side: str) -> list[Post]:
        """Return the turn's score line, for those who read along."""
        if not self._floor.live:
            return []
        if number not in self.points:
            text = "The judge gave no answer that could be read; this turn has no score."
        else:
            values = self.points[number].values
            text = ", ".join(f"{name} {values[name]:.1f}/{most:g}" for name, most in SCALES.items())
            text = f"{self.points[number].total:.1f} of 100: {text}."
            if number <= UNCALIBRATED:
                text += " Early turns are less calibrated."
        entries = [entry for entry in self.register if entry.exposed_by == number]
        notices = "\n".join(tell_entry(entry) for entry in entries)
        report = Report(title=f"Turn {number}", text=f"{text}\n\n{notices}".strip(), side="judge")
        return [Post(key=f"score/{number}", message=report)]


def _given(name: str, said: Absolute) -> float:
    """Return what a judge gave a turn in a dimension, or in all."""
    points = total_points(said.scores)
    return points.total if name == "total" else points.values[name]


def tell_entry(entry: Entry) -> str:
    """Return a line of the register as people read it."""
    told = f"- Turn {entry.turn}, {entry.side}: {entry.kind.replace('_', ' ')}, “{entry.text}”"
    if entry.exposed_by != entry.turn:
        told += f", {'in' if entry.kind in DROPPED else 'shown by'} turn {entry.exposed_by}"
    return f"{told} ({entry.penalty:g} logic)" if entry.penalty else told


def _outcomes(pairwise: Answer[Pairwise] | None) -> dict[str, Outcome]:
    if pairwise is None or pairwise.value is None or not pairwise.valid:
        return {}
    outcomes: dict[str, Outcome] = {}
    for name in SCALES:
        match pairwise.value.outcomes[name]:
            case "previous":
                outcomes[name] = "previous"
            case "latest":
                outcomes[name] = "latest"
            case _:
                outcomes[name] = "draw"
    return outcomes


def _answers(
    number: int, absolute: Answer[Absolute], pairwise: Answer[Pairwise] | None
) -> Iterator[Artifact]:
    yield kept(absolute, f"absolute/{number}", "absolute")
    if pairwise is not None:
        yield kept(pairwise, f"pairwise/{number}", "pairwise")


def _other(side: str) -> str:
    return "B" if side == "A" else "A"
