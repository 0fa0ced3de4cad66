"""The manual of `team`, a data file: duties, tasks, ways of arguing, what breaks the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import model_validator

from engine.formats.team.rules import KINDS
from engine.values.debate import Value
from engine.values.errors import UsageError

NAME = "team"
SEATS = tuple(f"{side}{number}" for side in "AB" for number in range(1, 5))
POSITIONS = ("1", "2", "3", "4")
CLOSERS = ("B4", "A4")
TASKS = ("opening", "ask", "answer", "summary", "free", "closing")
DEFAULT_PERSONALITIES = ("logical", "data_driven", "aggressive", "diplomatic")  # by position


class Personality(Value):
    """One way of arguing: its name for prompts, its traits, and how it shows."""

    name: str
    traits: str
    manner: str


class Manual(Value):
    """Duties by position, what each kind of speech has to do, personalities, violations."""

    positions: dict[str, str]
    tasks: dict[str, str]
    personalities: dict[str, Personality]
    violations: dict[str, str]

    @model_validator(mode="after")
    def _is_complete(self) -> Manual:
        _expect("positions", self.positions, POSITIONS)
        _expect("tasks", self.tasks, TASKS)
        _expect("violations", self.violations, KINDS)
        missing = [name for name in DEFAULT_PERSONALITIES if name not in self.personalities]
        if missing:
            raise ValueError(f"personalities lacks {', '.join(missing)}")
        return self

    def deal(self, asked: Mapping[str, str]) -> dict[str, Personality]:
        """Return every seat's personality. Raises UsageError for one that does not exist."""
        names = {seat: asked.get(seat, DEFAULT_PERSONALITIES[int(seat[1:]) - 1]) for seat in SEATS}
        for name in names.values():
            if name not in self.personalities:
                known = tuple(self.personalities)
                raise UsageError(
                    "There is no personality “{name}”; choose from {known}.",
                    name=name,
                    known=known,
                )
        return {seat: self.personalities[name] for seat, name in names.items()}


def read_personalities(given: Sequence[str]) -> dict[str, str]:
    """Read `seat=personality` items. Raises UsageError for another form or a strange seat."""
    pairs = [item.partition("=") for item in given]
    for seat, equals, name in pairs:
        if not equals or not name.strip():
            raise UsageError(
                "“{seat}” gives no personality; write for example A1=logical.",
                seat=seat,
            )
    asked = {seat.strip().upper(): name.strip().lower() for seat, _, name in pairs}
    for seat in asked:
        if seat not in SEATS:
            raise UsageError(
                "There is no speaker “{seat}” in team; it has {seats}.",
                seat=seat,
                seats=tuple(SEATS),
            )
    return asked


def _expect(table: str, given: Mapping[str, str], names: Sequence[str]) -> None:
    if set(given) != set(names):
        raise ValueError(f"{table} has to hold {', '.join(names)}, and nothing else")
