"""The result of one judge's answers on the turns: scores, register, adjustments; pure.

A ledger depends only on the turns and the answers. It grows turn by turn: a turn never changes
what earlier ones added. Final scores are computed at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from engine.formats.audited.answers import Absolute
from engine.formats.audited.bands import PLACES, Outcome, find_bands, settle
from engine.formats.audited.scoring import SCALES, Points, total_points
from engine.values.debate import Turn, Value
from engine.values.judging import Adjustment
from engine.values.overlap import is_quoted


class TurnJudgment(NamedTuple):
    """A judge's answers on a turn and on it beside the one before; empty where unreadable."""

    absolute: Absolute | None
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


class Ledger:
    """Scores as given, the register, and later adjustments, by turn.

    `penalties` are what each kind of failure adds to its turn's logic: 0 or less.
    """

    def __init__(
        self,
        turns: Sequence[Turn],
        heard: Sequence[TurnJudgment],
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
        for dimension, scale in SCALES.items():
            for run in self._runs():
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

    def _runs(self) -> Iterator[list[int]]:
        """Yield runs of neighbouring turns that have scores."""
        for _, run in groupby(enumerate(sorted(self.points)), lambda pair: pair[1] - pair[0]):
            yield [number for _, number in run]

    def _after_docking(self, number: int) -> dict[str, float]:
        values = self.points[number].values
        return {name: values[name] for name in SCALES} | {
            "logic": values["logic"] + self.docked(number)
        }

    # --- one turn -----------------------------------------------------------------------

    def _enter(self, number: int, given: Absolute) -> Iterator[Adjustment]:
        """Write what a turn shows into the register, once, and dock the turns it stands in."""
        for place, entry in enumerate(self._found(number, given), 1):
            if any(self._is_same(entry, other) for other in self.register):
                continue
            self.register.append(entry)
            if entry.penalty:
                name, reason = f"register/{number}/{place}", f"{entry.kind}: {entry.text}"
                yield self._dock(entry, name, entry.penalty, reason, by=number)

    def _found(self, number: int, given: Absolute) -> list[RegisterEntry]:
        return [
            *(self._entry(number, number, item.kind, item.claim) for item in given.suspect),
            *(self._entry(number, item.turn, item.kind, item.claim) for item in given.exposed),
            *(self._entry(number, item.turn, item.kind, item.premise) for item in given.premises),
        ]

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

    def _is_same(self, entry: RegisterEntry, other: RegisterEntry) -> bool:
        """Return whether two entries are of one claim, even if quoted at different length."""
        return entry.turn == other.turn and (
            is_quoted(entry.text, other.text) or is_quoted(other.text, entry.text)
        )

    def _hear_appeals(self, number: int, given: Absolute) -> Iterator[Adjustment]:
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
