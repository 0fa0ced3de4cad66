"""A league among a community's models, as it is stored with its series."""

from __future__ import annotations

from enum import StrEnum

from engine.values.debate import Model, Value

FEWEST_MODELS = 3


class System(StrEnum):
    """How a league is played."""

    ROUND_ROBIN = "round_robin"
    SWISS = "swiss"
    KNOCKOUT = "knockout"


class Decided(StrEnum):
    """Whose word decides a match."""

    PEOPLE = "people"
    JURY = "jury"
    PEOPLE_THEN_JURY = "people_then_jury"


class Match(Value):
    """A match that was drawn: `a` and `b` are the models on either side."""

    round: int
    a: Model
    b: Model

    @property
    def pair(self) -> frozenset[str]:
        """Both models, whatever their sides."""
        return frozenset((self.a.ref, self.b.ref))


class Bye(Value):
    """A model that went on without a match, as their number was odd."""

    round: int
    model: Model


class League(Value):
    """A league among a community's models; `drawn` are its matches so far, in order.

    `rounds` is how often each pair meets, or how many rounds a Swiss system has.
    """

    system: System
    decided: Decided = Decided.PEOPLE_THEN_JURY
    rounds: int = 1
    seed: int
    models: tuple[Model, ...]
    drawn: tuple[Match, ...] = ()
    byes: tuple[Bye, ...] = ()

    @property
    def total(self) -> int:
        """How many matches it has, without those that a tie repeats."""
        count = len(self.models)
        match self.system:
            case System.ROUND_ROBIN:
                return self.rounds * count * (count - 1) // 2
            case System.SWISS:
                return self.rounds * (count // 2)
            case System.KNOCKOUT:
                return count - 1
