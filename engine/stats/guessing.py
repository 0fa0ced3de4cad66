"""How blind people are, and what decides for them; pure.

Guesses are compared with chance: 1/k for a menu of k models. Wilson's interval of the share that is
right (engine/tally/tally.py) contains that, unless people know more than nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean
from typing import NamedTuple

from engine.stats.figure import Figure, estimate_share
from engine.store import DebateRecord
from engine.tally.questions import GROUNDS
from engine.values.debate import Value
from engine.values.judging import Question

CRITERION_OF = {"logic": "logic", "evidence": "evidence", "rebuttal": "responsiveness"}
"""What jurors score that is nearest to what voters may say decided."""


class Guessed(NamedTuple):
    """A blind guess: whether it was right, and how many models were on the menu."""

    right: bool
    options: int


class Guessing(Value):
    """The share of blind guesses that were right, beside `chance`; None without guesses.

    `above` says whether they beat chance: its interval lies above it.
    """

    share: Figure
    chance: float | None = None

    @property
    def above(self) -> bool:
        """Whether guesses beat chance."""
        low = self.share.low
        return low is not None and self.chance is not None and low > self.chance


class Ground(Value):
    """How often something decided: the share of voters' words, and of jurors' ballots.

    In a ballot that decided which is the criterion with the widest lead of its winner, a tie of
    several counting for each in part; in debates alone in which a voter said what decided.
    """

    name: str
    criterion: str = ""
    people: Figure
    jurors: float | None = None


def guesses_in(record: DebateRecord) -> Iterator[Guessed]:
    """Yield the blind guesses of a debate that could be right, with no model replaced in it."""
    setup = record.debate.setup
    for guess in record.asked(Question.GUESS) if not setup.replaced else ():
        model = setup.request.sides[guess.step].ref
        if guess.gold and model in setup.menu:
            yield Guessed(guess.option == model, len(setup.menu))


def leads_in(record: DebateRecord) -> dict[str, float]:
    """Count in how many ballots each criterion has the widest lead of the side that won."""
    widest: dict[str, float] = defaultdict(float)
    for ballot in record.ballots:
        sheet = ballot.scores or {}
        if not ballot.valid or ballot.audit or ballot.verdict not in sheet or len(sheet) < 2:
            continue
        own = sheet[ballot.verdict]
        others = [marks for side, marks in sheet.items() if side != ballot.verdict]
        leads = {name: mark - fmean(one[name] for one in others) for name, mark in own.items()}
        first = [name for name, lead in leads.items() if lead == max(leads.values())]
        for name in first:
            widest[name] += 1 / len(first)
    return dict(widest)


def measure_guesses(guesses: Iterable[Guessed]) -> Guessing:
    """Return the share of guesses that were right, and what chance would make it."""
    made = list(guesses)
    share = estimate_share(sum(one.right for one in made), len(made))
    return Guessing(share=share, chance=fmean(1 / one.options for one in made) if made else None)


def measure_grounds(said: Mapping[str, float], leads: Mapping[str, float]) -> tuple[Ground, ...]:
    """Return how often each thing decided, for voters and for jurors."""
    voters, ballots = round(sum(said.values())), sum(leads.values())
    return tuple(
        Ground(
            name=name,
            criterion=CRITERION_OF.get(name, ""),
            people=estimate_share(round(said.get(name, 0)), voters),
            jurors=leads.get(CRITERION_OF[name], 0.0) / ballots
            if ballots and name in CRITERION_OF
            else None,
        )
        for name in GROUNDS
    )
