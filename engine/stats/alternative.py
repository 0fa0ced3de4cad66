"""May this jury replace people? The alternative annotator test, and how many debates decide it.

Each person in turn is set against the judge: whichever of them is nearer to the other people, in
each debate. The judge wins a person if it is not shown to be worse by ε or more, which is what
people cost more than it does. Pure. Source of every formula: N. Calderon, R. Reichart, R. Dror,
The Alternative Annotator Test for LLM-as-a-Judge (ACL 2025), section 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from statistics import fmean, stdev
from typing import Literal, TypeAlias

from engine.stats.figure import ShownTable
from engine.stats.row import FIRST, Row, names_of, read_by
from engine.tally import FEWEST
from engine.values.debate import Value
from engine.words.stored import percent

EPSILONS = (0.1, 0.15, 0.2)
"""What its authors advise where people are a crowd, skilled, or experts."""
FALSE_DISCOVERIES = 0.05
POWER = 0.8
VOTERS = (3, 5, 10)
SIZES = (30, 40, 50, 60, 80, 100, 150, 200, 300, 500)
SIMULATIONS = 400
SEED = 2501

Crowd: TypeAlias = Literal["chat", "web", "both"]
CROWDS: Mapping[Crowd, str] = {"chat": "chat", "web": "pages", "both": "chat and pages"}
Choices: TypeAlias = Mapping[int, Mapping[int, str]]
"""What people chose: the debate, then the person."""


class _AltTest(Value):
    """A judge against the people of a crowd; `judge` is a juror, or "panel" for all of them.

    `people` judged 30 `debates` or more with others and are tested; `too_few` did not. `rho` is
    the average advantage probability: how often the judge is as near to the others as a person is,
    or nearer. `omega` is the winning rate at each ε: the share of people whom it may replace.
    """

    crowd: Crowd
    judge: str
    people: int
    too_few: int
    debates: int
    rho: float | None = None
    omega: tuple[float, ...] = ()

    def passes(self, place: int) -> bool:
        """Return whether the judge wins half of the people at that ε."""
        return bool(self.omega) and self.omega[place] >= 0.5


class NeededDebates(Value):
    """How many debates decide the test at each ε, with so many voters each; None: over 500."""

    voters: int
    debates: tuple[int | None, ...]


class ReplacementTest(Value):
    """The test of the panel and of each juror, beside what would decide it.

    `alike` is how often two people chose the same, on which `needed` rests: a judge that is as good
    as a person then passes in 80 % of experiments.
    """

    epsilons: tuple[float, ...] = EPSILONS
    tests: tuple[_AltTest, ...]
    alike: float
    needed: tuple[NeededDebates, ...]


USUAL = 0.75  # how often two people choose the same, where nobody has been asked yet


def measure_replacement(rows: Sequence[Row]) -> ReplacementTest:
    """Test every judge, and return what would decide it with people like these.

    Rows have their people.
    """
    pairs = []  # by row, the share of pairs of people who chose the same
    for row in rows:
        chosen = list(_people(row, "both").values())
        if len(chosen) > 1:
            same = sum(chosen.count(one) - 1 for one in chosen)
            pairs.append(same / (len(chosen) * (len(chosen) - 1)))
    alike = round(fmean(pairs), 2) if len(pairs) >= FEWEST else USUAL
    return ReplacementTest(
        tests=tuple(compare_judges(rows)),
        alike=alike,
        needed=tuple(NeededDebates(voters=n, debates=needed_debates(alike, n)) for n in VOTERS),
    )


def compare_judges(rows: Sequence[Row]) -> Iterator[_AltTest]:
    """Yield the test of each panel and juror against people in chats, on pages, and both."""
    verdicts: list[dict[str, str]] = [{} for _ in rows]
    panels = {name: "panel" if name == FIRST else f"panel {name}" for name in names_of(rows)}
    for name, panel in panels.items():
        for said, row in zip(verdicts, read_by(rows, name), strict=True):
            if row.jury is not None:
                said[panel] = row.jury
            said |= row.verdicts() | said  # a juror of two juries judges as in the first one
    jurors = sorted({judge for said in verdicts for judge in said} - {*panels.values()})
    for crowd in CROWDS:
        people = [_people(row, crowd) for row in rows]
        choices = {place: one for place, one in enumerate(people) if one}
        for judge in (*panels.values(), *jurors) if choices else ():
            found = {place: verdicts[place][judge] for place in choices if judge in verdicts[place]}
            yield _test(crowd, judge, choices, found)


def _people(row: Row, crowd: Crowd) -> dict[int, str]:
    asked = ("web", "chat") if crowd == "both" else (crowd,)
    return {person: choice for one in asked for person, choice in row.choices.get(one, ())}


def _test(crowd: Crowd, judge: str, choices: Choices, said: Mapping[int, str]) -> _AltTest:
    """Leave each person out in turn, on debates that others judged too."""
    together = {place: choices[place] for place in said if len(choices[place]) > 1}
    leads: dict[int, list[int]] = {}
    for place, people in together.items():
        chosen = list(people.values())
        its = chosen.count(said[place])
        for person, own in people.items():
            theirs = chosen.count(own) - 1
            others = its - (own == said[place])
            leads.setdefault(person, []).append((theirs > others) - (others > theirs))
    tested = [ahead for ahead in leads.values() if len(ahead) >= FEWEST]
    known = _AltTest(
        crowd=crowd,
        judge=judge,
        people=len(tested),
        too_few=len({person for people in choices.values() for person in people}) - len(tested),
        debates=len(together),
    )
    if len(tested) < 2:
        return known
    # A person ahead is +1: the judge is as near or nearer wherever it is not.
    rho = fmean(fmean(lead <= 0 for lead in ahead) for ahead in tested)
    rates = tuple(won([_p_value(ahead, one) for ahead in tested]) / len(tested) for one in EPSILONS)
    return known.model_copy(update={"rho": rho, "omega": rates})


def _p_value(leads: Sequence[int], epsilon: float) -> float:
    """Return the p-value of: people are nearer than the judge by ε or more; one-sided t-test."""
    ahead, spread = fmean(leads) - epsilon, stdev(leads)
    if not spread:
        return float(ahead >= 0)
    return student(ahead / (spread / math.sqrt(len(leads))), len(leads) - 1)


def won(p_values: Sequence[float]) -> int:
    """Return how many hypotheses are rejected at a false discovery rate of 5 %.

    Source: Y. Benjamini, D. Yekutieli, The Annals of Statistics 29 (2001), theorem 1.3.
    """
    limits = _limits(len(p_values))
    ranked = zip(sorted(p_values), limits, strict=True)
    return max((rank for rank, (p, limit) in enumerate(ranked, start=1) if p <= limit), default=0)


def _limits(people: int) -> list[float]:
    harmonic = sum(1 / rank for rank in range(1, people + 1))
    return [FALSE_DISCOVERIES * rank / (people * harmonic) for rank in range(1, people + 1)]


def student(t: float, freedom: int) -> float:
    """Return how probable it is that Student's t is at most `t`.

    Source: M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions (1964), 26.7.3 and
    26.7.4, exact for whole degrees of freedom.
    """
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term, total = math.cos(angle) if odd else 1.0, 0.0
    for step in range(freedom // 2):
        total += term
        factor = 2 * step + 1 + odd
        term *= math.cos(angle) ** 2 * factor / (factor + 1)
    within = math.sin(angle) * total
    if odd:
        within = 2 / math.pi * (angle + within)
    return (1 + within) / 2


# --- how many debates decide it ----------------------------------------------------------


@cache
def needed_debates(alike: float, voters: int) -> tuple[int | None, ...]:
    """Return the fewest debates at each ε for a judge as good as a person to pass in 80 %.

    Simulated: everyone finds the better of two sides with one probability, by which two of them
    choose the same so often; with a fixed seed, so that a plan says the same twice.
    """
    right = (1 + math.sqrt(max(0.0, 2 * alike - 1))) / 2
    needed: dict[float, int] = {}
    for size in SIZES:
        for epsilon, power in zip(EPSILONS, passing(right, right, size, voters), strict=True):
            if power >= POWER:
                needed.setdefault(epsilon, size)
        if len(needed) == len(EPSILONS):
            break
    return tuple(map(needed.get, EPSILONS))


def passing(person: float, judge: float, debates: int, voters: int) -> tuple[float, ...]:
    """Return the share of simulated experiments in which a judge passes at each ε.

    `person` and `judge` are how probably each of them is right.
    """
    import numpy as np  # which a debate does not load

    random = np.random.default_rng(SEED)
    people = random.random((SIMULATIONS, debates, voters)) < person
    verdict = random.random((SIMULATIONS, debates, 1)) < judge
    right = people.sum(axis=2, keepdims=True) - people  # of the others
    theirs, its = (np.where(one, right, voters - 1 - right) for one in (people, verdict))
    lead = np.sign(theirs - its)
    error = np.maximum(lead.std(axis=1, ddof=1), 1e-12) / math.sqrt(debates)
    mean = lead.mean(axis=1)
    highest = np.array([_quantile(limit, debates - 1) for limit in _limits(voters)])
    shares = []  # how often at least half of the people are won
    for epsilon in EPSILONS:
        rejected = np.sort((mean - epsilon) / error, axis=1) <= highest
        won = np.where(rejected.any(axis=1), voters - np.argmax(rejected[:, ::-1], axis=1), 0)
        shares.append(float((2 * won >= voters).mean()))
    return tuple(shares)


def _quantile(p: float, freedom: int) -> float:
    """Return the t, below zero, that Student's is at most with probability `p`."""
    low, high = -100.0, 0.0
    for _ in range(48):
        middle = (low + high) / 2
        low, high = (middle, high) if student(middle, freedom) < p else (low, middle)
    return high


# --- words -------------------------------------------------------------------------------


WHAT = (
    "The alternative annotator test leaves each person out in turn and asks who is nearer to the "
    "others: that person or the judge. ω is the share of people whom the judge may replace (it "
    "passes from 50 %), ρ how often it is as near to the others as a person is, or nearer. ε is by "
    "how much it may fall behind for being cheaper and quicker: 0.1 where people are a crowd, 0.15 "
    "where they are skilled, 0.2 where they are experts."
)
RESTS = (
    f"It rests on people who judge apart from one another, each {FEWEST} debates or more that "
    "others judged too; on debates like these, in their formats and languages; and on people being "
    "right together: a judge that errs with all of them passes. Every judge is tested by itself, "
    "so of twenty that are no good one may pass."
)
UNTESTED = (
    "{crowd}: fewer than two people judged {fewest} debates that others judged too, so nothing is "
    "tested. See rostrum label, which asks people for that."
)


def tell_replacement(found: ReplacementTest) -> tuple[list[str], list[ShownTable]]:
    """Return what is said of the test, and its tables."""
    lines = [WHAT, RESTS]
    rows = []
    for one in found.tests:
        if one.rho is None:
            if one.judge == "panel":
                lines.append(UNTESTED.format(crowd=CROWDS[one.crowd].capitalize(), fewest=FEWEST))
            continue
        rates = (
            percent(rate) + (" passes" if one.passes(place) else "")
            for place, rate in enumerate(one.omega)
        )
        name = f"{one.judge}, {CROWDS[one.crowd]}"
        rows.append((name, percent(one.rho), *rates, one.people, one.too_few, one.debates))
    if not found.tests:
        lines.append("Nobody judged a debate blind, so nothing is tested.")
    limits = [f"ω at ε {epsilon}" for epsilon in found.epsilons]
    needed = [
        (f"{one.voters} people", *(f"over {SIZES[-1]}" if n is None else n for n in one.debates))
        for one in found.needed
    ]
    title = (
        "Debates that decide it, each judged by so many people "
        f"(two of them choose the same in {percent(found.alike)})"
    )
    return lines, [
        (
            "May the jury replace people?",
            ("", "ρ", *limits, "people", "with too few debates", "debates"),
            rows,
        ),
        (title, ("", *(f"at ε {epsilon}" for epsilon in found.epsilons)), needed),
    ]
