"""Who won against whom, and which models can be compared; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Matchup(NamedTuple):
    """The results between two models: wins of each, and ties.

    `edges` are covariates of the first one's lead, such as +1 if it spoke for side A, −1 if against
    (see engine/stats/ratings.py).
    """

    first: str
    second: str
    won: int
    lost: int
    tied: int
    edges: tuple[float, ...] = ()


@dataclass(slots=True)
class Contests:
    """Wins by (winner, loser), ties by the two names in order."""

    wins: Counter[tuple[str, str]] = field(default_factory=Counter)
    ties: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add_win(self, winner: str, loser: str) -> None:
        """Count a win."""
        self.wins[winner, loser] += 1

    def add_tie(self, one: str, other: str) -> None:
        """Count a tie."""
        self.ties[min(one, other), max(one, other)] += 1

    @property
    def models(self) -> tuple[str, ...]:
        """All models, by name."""
        return tuple(sorted({model for pair in (*self.wins, *self.ties) for model in pair}))

    def pairs(self) -> Iterator[Matchup]:
        """Yield every pair that met, once."""
        met = {(min(pair), max(pair)) for pair in (*self.wins, *self.ties)}
        for first, second in sorted(met):
            won, lost = self.wins[first, second], self.wins[second, first]
            yield Matchup(first, second, won, lost, self.ties[first, second])

    def among(self, models: Iterable[str]) -> Contests:
        """Return the contests between some models only."""
        kept = set(models)
        return Contests(
            Counter({pair: n for pair, n in self.wins.items() if kept.issuperset(pair)}),
            Counter({pair: n for pair, n in self.ties.items() if kept.issuperset(pair)}),
        )

    def beaten(self) -> dict[str, set[str]]:
        """Return the models that each one won or tied against."""
        found: dict[str, set[str]] = {model: set() for model in self.models}
        for winner, loser in self.wins:
            found[winner].add(loser)
        for one, other in self.ties:
            found[one].add(other)
            found[other].add(one)
        return found


def reach(links: Mapping[T, set[T]], start: T) -> set[T]:
    """Return the models reachable along links, including the start."""
    found, todo = {start}, [start]
    while todo:
        for model in links[todo.pop()] - found:
            found.add(model)
            todo.append(model)
    return found


def comparable_groups(contests: Contests) -> list[tuple[str, ...]]:
    """Return the models that can be rated together, the largest group first.

    Within a group, chains of wins and ties lead from each model to each other one; without them
    the most likely difference in strength is infinite. Source: L. R. Ford, American Mathematical
    Monthly 64 (1957).
    """
    reached = {model: reach(contests.beaten(), model) for model in contests.models}
    groups = {
        tuple(sorted(other for other in there if model in reached[other]))
        for model, there in reached.items()
    }
    return sorted(groups, key=lambda group: (-len(group), group))


def ties_leave_a_difference(contests: Contests) -> bool:
    """Return whether differences within a group can be measured despite its ties.

    With ties, the likelihood has a finite maximum only if some cycle of models has more wins than
    ties; otherwise scaling up all differences, and η with them, never lowers it. Found as a cycle
    of negative length, where a win is −1 and a tie +1 (Bellman and Ford).
    """
    if not contests.ties:
        return True
    steps = [(winner, loser, -1) for winner, loser in contests.wins]
    for one, other in contests.ties:
        steps += [(one, other, 1), (other, one, 1)]
    far = dict.fromkeys(contests.models, 0)
    # Without a negative cycle no shortest path has more steps than models.
    return all(_relax(far, steps) for _ in range(len(far) + 1))


def _relax(far: dict[str, int], steps: Sequence[tuple[str, str, int]]) -> bool:
    """Relax every distance once; return whether any became shorter."""
    shortened = False
    for start, end, length in steps:
        if far[start] + length < far[end]:
            far[end] = far[start] + length
            shortened = True
    return shortened
