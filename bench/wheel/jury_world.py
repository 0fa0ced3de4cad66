"""Simulated debates with a known winner, and the jurors that misjudge them.

A debate's true margin d is drawn from N(0, 1). A juror's impression is d plus an error shared by
all jurors, one shared by a herd, and its own; position, brand and the juror's scale then distort it
into scores. Everything is in units of d unless marked as points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from engine.jury.ballot import JurorReading
from engine.jury.rubric import DEBATE, HIGHEST, LOWEST
from engine.values.debate import Fit, JurorFit, Model
from engine.values.verdicts import TIE, Ballot

JURORS, FAMILIES, HERD = 12, 6, 5
DEBATING_FAMILIES = 12  # half of them have no juror
SKILL_SD = 0.35  # of the logarithm
ERROR = 1.0  # sd: a juror of skill 1 is right 73 % of the time
SHARED = 0.277  # of the error's variance: nine jurors are worth 9 / (1 + 8 · 0.277) = 2.8
STEADY = 0.6  # of the own error's variance: what stays when the other order is read
POSITION_SD = 0.3  # log-odds
LOG_ODDS = 0.92  # units of d in one of log-odds
SCALE, SCALE_SD = 1.2, 0.25  # points per unit of d; sd of the logarithm
MIDDLE = 6.0  # points that an average juror gives an average side
GRAIN = 0.3  # points, sd of a criterion about the side's score
# The variance, in points, of a margin from that and from rounding; a criterion weighs w.
ROUNDED = 2 * (GRAIN**2 + 1 / 12) * math.fsum(one.weight**2 for one in DEBATE.criteria)
TIE_BELOW = 0.25  # points of margin that a juror calls a tie
INVALID = 0.03
BROKEN_MARGIN = (2.5, 1.0)  # points by which a juror that sees nothing prefers a side: mean, sd
BRAND = 0.08  # sd of what a model's visible name adds
OWN_BRAND = 0.1  # what a model of the juror's own family gets on top
ORACLE_JURORS = 6  # as many as a panel asks at most
HUMAN_ERROR = 0.4  # the majority of people is right 88 % of the time
SIDES = ("A", "B")
STANDARD = NormalDist()


class Broken(NamedTuple):
    """A juror that sees nothing: the chance that it prefers the side shown first."""

    first: float


FIRST, SECOND, COIN, LEANING_COIN = Broken(1.0), Broken(0.0), Broken(0.5), Broken(0.7)


class World(NamedTuple):
    """The jurors' biases: mean position shift, sd of leniency in points, the herd's error.

    The others are what the model of jurors does not expect: the variance of the shared error, a
    factor of own errors, errors with heavy tails, by how much the first juror's error grows,
    whether another model takes the second one's name halfway, invalid ballots of each
    `invalid_every`th juror, a taste for length, the share of ballots with any scores at all, by how
    much leans change (sd), how many families report the opposite of what they see, and what each
    juror that sees nothing goes by, None for one that sees: `broken` is repeated over the roster.

    With `as_spoken` speeches stand in the order of speaking, where A is always first, and the
    orders of ballots differ in names and scores alone.
    """

    name: str
    position: float = 0.3
    leniency: float = 0.6
    herd: float = 0.0
    shared: float = SHARED
    own: float = 1.0
    heavy: bool = False
    drift: float = 0.0
    replaced: bool = False
    invalid: float = INVALID
    invalid_every: int = 3
    length: float = 0.0
    wild: float = 0.0
    wander: float = 0.0
    adversaries: int = 0
    broken: tuple[Broken | None, ...] = (None,)
    jurors: int = JURORS
    as_spoken: bool = False


WORLDS = (
    World("default"),
    World("mild", position=0.15),
    World("harsh", position=1.0, leniency=1.2),
    World("herd", herd=0.8),
)
MISSPECIFIED = (
    World("shared doubled", shared=2 * SHARED),
    World("shared halved", shared=SHARED / 2),
    World("own halved", own=0.5),
    World("heavy tails", heavy=True),
    World("drifting", drift=3.0),
    World("replaced", replaced=True),
    World("invalid", invalid=0.3),
    World("length", length=0.5),
)
HALF = (None,) * (JURORS // 2)
BROKEN = (
    World("half first", broken=(FIRST, None)),
    World("half second", broken=(SECOND, None)),
    World("mixed by turns", broken=(FIRST, None, SECOND, None)),
    World("mixed by block", broken=(*HALF, FIRST, FIRST, FIRST, SECOND, SECOND, SECOND)),
    World("half coins", broken=(COIN, None)),
    World("coins that lean", broken=(LEANING_COIN, None)),
    World("30 % invalid", invalid=0.3, invalid_every=1),
    World("wild ballots", wild=0.1),
    World("drifting leans", wander=1.0),
    World("one adversarial family", adversaries=1),
    World("two adversarial families", adversaries=2),
    World("three jurors", jurors=3),
)
BLIND = (
    World("first and second by turns", broken=(FIRST, SECOND)),
    World("first and second by block", broken=(FIRST,) * 6 + (SECOND,) * 6),
    World("only coins", broken=(COIN,)),
    World("only coins that lean", broken=(LEANING_COIN,)),
    World("three coins", broken=(COIN,), jurors=3),
)
SHOWING = tuple(
    world._replace(name=f"{world.name}, {how}", as_spoken=as_spoken)
    for world in (WORLDS[0], WORLDS[2], BROKEN[0])
    for how, as_spoken in (("in both orders", False), ("as spoken", True))
)


class Simulated(NamedTuple):
    """A juror: `position` is the bonus for being shown first, `leniency` is in points."""

    model: Model
    error: float
    position: float
    leniency: float
    scale: float
    in_herd: bool
    invalid: float = INVALID
    length: float = 0.0
    wander: float = 0.0
    broken: Broken | None = None
    adversary: bool = False

    @property
    def sees(self) -> bool:
        """Whether its ballots are for the better side more often than not."""
        return self.broken is None and not self.adversary


@dataclass(frozen=True, slots=True)
class Court:
    """The jurors of one installation, in its owner's order of preference."""

    world: World
    jurors: tuple[Simulated, ...]
    replaced: Simulated | None = None

    def at(self, progress: float) -> tuple[Simulated, ...]:
        """Return the jurors as they are then, from 0 at the first debate to 1 at the last."""
        first, second, *others = (
            one._replace(position=one.position + one.wander * progress) for one in self.jurors
        )
        first = first._replace(error=first.error * (1 + self.world.drift * progress))
        if self.replaced is not None and progress >= 0.5:
            second = self.replaced
        return (first, second, *others)

    @property
    def roster(self) -> tuple[Model, ...]:
        """The models that a panel is seated from."""
        return tuple(juror.model for juror in self.jurors)


class _Impression(NamedTuple):
    """A juror's ballot in one order: points by contender, None if invalid."""

    points: dict[str, dict[str, int]] | None
    verdict: str | None


@dataclass(slots=True)
class Case:
    """One debate: its true margin for A, and each juror's impression.

    `chance` is that A won, given what all jurors share. `felt` is an impression before any
    distortion. Ballots are made on first use, and cached; a juror's ballot in one order is the same
    no matter who asks, and what was asked before (`seed`). `mirrored`: the sides are exchanged.
    """

    court: Court
    jurors: tuple[Simulated, ...]
    debaters: tuple[Model, Model]
    chance: float
    truth: float
    human: str
    felt: tuple[float, ...]
    brands: float
    seed: int
    mirrored: bool = False
    made: dict[tuple[int, tuple[str, ...], bool], _Impression] = field(default_factory=dict)
    cast: dict[tuple[int, tuple[str, ...], bool], Ballot] = field(default_factory=dict)

    @property
    def winner(self) -> str:
        """The side that truly won."""
        return "A" if self.truth > 0 else "B"

    def mirror(self) -> Case:
        """Return the same debate with its sides exchanged, and so all errors but those of order."""
        return replace(
            self,
            debaters=(self.debaters[1], self.debaters[0]),
            chance=1 - self.chance,
            truth=-self.truth,
            human=SIDES[self.human == SIDES[0]],
            felt=tuple(-one for one in self.felt),
            brands=-self.brands,
            mirrored=not self.mirrored,
            made={},
            cast={},
        )

    def ask(self, at: int, order: tuple[str, ...], *, blind: bool) -> _Impression:
        """Return a juror's ballot in an order."""
        key = (at, order, blind)
        if key not in self.made:
            self.made[key] = self._judge(at, order, blind)
        return self.made[key]

    def read(self, reading: JurorReading, at: int) -> Ballot:
        """Return the ballot that the product's panel would record of a blind reading."""
        key = (at, reading.order, reading.audit)
        if key not in self.cast:
            self.cast[key] = self._cast(reading, at)
        return self.cast[key]

    def _cast(self, reading: JurorReading, at: int) -> Ballot:
        said = self.ask(at, reading.order, blind=True)
        return Ballot(
            juror=reading.juror.ref,
            family=reading.juror.family,
            order=reading.order,
            names={},
            audit=reading.audit,
            valid=said.points is not None,
            scores=said.points,
            verdict=said.verdict,
        )

    def _judge(self, at: int, order: tuple[str, ...], blind: bool) -> _Impression:
        juror, place = self.jurors[at], 1 if order == SIDES else -1
        draw = Random(self.seed + 2 * at + (place > 0))
        place = 1 if self.court.world.as_spoken else place
        if draw.random() < juror.invalid:
            return _Impression(None, None)
        side = -1 if self.mirrored else 1
        world = self.court.world
        if world.wild and draw.random() < world.wild:
            return _score(juror, side * draw.uniform(-9, 9), draw, SIDES[::side])
        if juror.broken is not None:
            towards = place if draw.random() < juror.broken.first else -place
            if juror.broken is COIN:  # the same side whichever is shown first
                towards *= place * side
            return _score(juror, towards * abs(draw.gauss(*BROKEN_MARGIN)), draw, SIDES[::side])
        margin = (-1 if juror.adversary else 1) * self.felt[at] + place * juror.position
        margin += side * _err(world, juror.error * math.sqrt(1 - STEADY), draw)
        if not blind:
            margin += self.brands + self._prefer_own(juror)
        return _score(juror, juror.scale * margin, draw, SIDES[::side])

    def _prefer_own(self, juror: Simulated) -> float:
        own = [model.family == juror.model.family for model in self.debaters]
        return OWN_BRAND * (own[0] - own[1])


def make_court(world: World, rng: Random) -> Court:
    """Draw the jurors of an installation: two of each family, five of them a herd."""
    herd = set(rng.sample(range(JURORS), HERD)) if world.herd else set()
    jurors = tuple(_make_juror(world, at, at in herd, rng) for at in range(world.jurors))
    other = _make_juror(world, 1, 1 in herd, rng) if world.replaced else None
    if world.length:
        jurors = tuple(
            juror._replace(length=world.length * math.exp(rng.gauss(0, 0.5))) for juror in jurors
        )
    if world.wander:
        jurors = tuple(juror._replace(wander=rng.gauss(0, world.wander)) for juror in jurors)
    return Court(world, jurors, other)


def _make_juror(world: World, at: int, in_herd: bool, rng: Random) -> Simulated:
    own = ERROR * math.sqrt(1 - SHARED) * world.own
    return Simulated(
        model=_model(at % FAMILIES, f"juror-{at}"),
        error=own / math.exp(rng.gauss(0, SKILL_SD)),
        position=LOG_ODDS * rng.gauss(world.position, POSITION_SD),
        leniency=rng.gauss(0, world.leniency),
        scale=SCALE * math.exp(rng.gauss(0, SCALE_SD)),
        in_herd=in_herd,
        invalid=world.invalid if at % world.invalid_every == 0 else INVALID,
        broken=world.broken[at % len(world.broken)],
        adversary=at % FAMILIES < world.adversaries,
    )


def make_case(court: Court, rng: Random, progress: float = 0.0) -> Case:
    """Draw a debate between models of two families."""
    world, jurors = court.world, court.at(progress)
    truth = rng.gauss(0, 1)
    common = truth + rng.gauss(0, ERROR * math.sqrt(world.shared))
    herd = rng.gauss(0, world.herd)
    longer = rng.gauss(0, 1) if world.length else 0.0
    first, second = rng.sample(range(DEBATING_FAMILIES), 2)
    return Case(
        court=court,
        jurors=jurors,
        debaters=(_model(first, "debater"), _model(second, "debater")),
        chance=STANDARD.cdf(common / (ERROR * math.sqrt(world.shared * (1 + world.shared)))),
        truth=truth,
        human="A" if truth + rng.gauss(0, HUMAN_ERROR) > 0 else "B",
        felt=tuple(
            common
            + _err(world, juror.error * math.sqrt(STEADY), rng)
            + (herd if juror.in_herd else 0.0)
            + longer * juror.length
            for juror in jurors
        ),
        brands=rng.gauss(0, BRAND),
        seed=rng.getrandbits(48) << 8,
    )


def _err(world: World, sd: float, rng: Random) -> float:
    """Draw an error: normal, or with heavy tails (Student's t with 4 degrees of freedom)."""
    drawn = rng.gauss(0, sd)
    if not world.heavy:
        return drawn
    return drawn / math.sqrt(rng.gammavariate(2.0, 1.0))


def _model(family: int, name: str) -> Model:
    return Model(backend="bench", name=name, family=f"family-{family}")


def _score(juror: Simulated, margin: float, draw: Random, sides: tuple[str, ...]) -> _Impression:
    """Turn a margin in points into scores on both sides, and the verdict that fits them."""
    middle = MIDDLE + juror.leniency
    means = {"A": middle + margin / 2, "B": middle - margin / 2}
    sheets = {
        side: {
            criterion.name: max(LOWEST, min(HIGHEST, round(means[side] + draw.gauss(0, GRAIN))))
            for criterion in DEBATE.criteria
        }
        for side in sides
    }
    gap = DEBATE.score(sheets["A"]) - DEBATE.score(sheets["B"])
    verdict = TIE if abs(gap) < TIE_BELOW else "A" if gap > 0 else "B"
    return _Impression(sheets, verdict)


def weigh_perfectly(
    court: Court, free: Sequence[int] | None = None, *, read: bool = False
) -> dict[int, float]:
    """Return the weights, by number, of the six of these jurors that are most precise together.

    They are chosen greedily, each the one that adds most precision, among those that see something.
    `read`: of their ballots, not of their impressions.
    """
    everyone = range(len(court.jurors)) if free is None else free
    free = [at for at in everyone if court.jurors[at].sees]
    chosen: dict[int, float] = {}
    while len(chosen) < min(ORACLE_JURORS, len(free)):
        more = (weigh_exactly(court, (*chosen, at), read=read) for at in free if at not in chosen)
        chosen = max(more, key=lambda weights: math.fsum(weights.values()))
    return chosen


def weigh_exactly(court: Court, numbers: Sequence[int], *, read: bool = False) -> dict[int, float]:
    """Solve C·w = 1, C being the covariance of these jurors' errors; Σw is their precision."""
    shared, herd = ERROR**2 * court.world.shared, court.world.herd**2
    jurors = [court.jurors[at] for at in numbers]
    rows = [[shared + herd * (one.in_herd and other.in_herd) for other in jurors] for one in jurors]
    for at, juror in enumerate(jurors):
        own = juror.error**2 * (1.0 if read else STEADY)
        rows[at][at] += own + (ROUNDED / juror.scale**2 if read else 0.0)
    weights = np.linalg.solve(rows, np.ones(len(rows))).tolist()
    return dict(zip(numbers, weights, strict=True))


def know_exactly(court: Court) -> Fit:
    """Return the model of jurors with the figures that are true of these.

    A signal is an impression in units of the juror's own error, which ballots add to.
    """
    world, known = court.world, {}
    for juror in court.jurors:
        own = math.sqrt(juror.error**2 + ROUNDED / juror.scale**2)
        herd = world.herd * juror.in_herd
        known[juror.model.ref] = JurorFit(
            family=juror.model.family,
            skill=1 / own,
            group=herd / own,
            scale=math.sqrt(1 + world.shared + herd**2 + own**2) / own,
        )
    return Fit(version=0, shared=world.shared, kin=0, people=1, evidence=math.inf, jurors=known)


def make_rng(world: str, seed: int) -> Random:
    """Return the draws of one installation in one world."""
    return Random(f"jury/{world}/{seed}")
