"""Fits the model of jurors to past debates; imports NumPy, so import it only to fit.

_Leans first, then what a verdict adds to a margin, then all variances and skills at once: the
maximum of likelihood times prior (docs/statistics.md). Takes tens of milliseconds for a thousand
debates; call it in a worker thread.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.jury.ballot import CLIP
from engine.jury.history import HeardDebate
from engine.jury.likelihood import (
    SKILL_SD,
    JurorLikelihood,
    Matrix,
    SignalCovariance,
    Vector,
    gather,
    invert,
    minimise,
)
from engine.values.debate import SEES, Fit, JurorFit

WON, LOST = 1.5, 0.5  # what a stake of 1 becomes
FAINT = 1.0  # points; a pair whose sum and difference are both smaller says nothing

Flags = NDArray[np.bool_]

PSEUDO = 10  # ballots' worth of the usual spread
USUAL_SPREAD = 1.5
SMALLEST_SPREAD = 0.5
LEAN_SD = 0.4  # of jurors' leans about the mean one
LEAN_JURORS = 3  # jurors' worth of knowing that
VERDICT_WORTH, WORTH_BALLOTS = 0.35, 50
LABELS = 100  # debates that people decided from which they are a reader of the truth
ROUNDS, POLISH = 60, 25
ROUGH = 1e-2  # tolerance of a search whose result is fitted again
TOGETHER, MEMBER_COST = 0.4, 0.5  # part in the group from which a juror is of it; its cost then
SAMPLE = 2000  # debates that both starts are tried on
DRIFTED = 4.5  # standard errors
FEWEST = 25  # ballots on either side of a change
FEWEST_PAIRED = 10  # debates read in both orders, to say whether jurors agree in these
EFFECTS = np.geomspace(0.3, 1.5, 12)  # of an able juror's agreement, in errors a ballot
SHARES = np.linspace(0.05, 0.95, 19)  # of jurors that are able
ABLE_ROUNDS = 30
BLIND = 0.02  # the skill of a juror that sees nothing
MOST_ODDS = 4.0  # by which a juror's two orders speak for or against it; a logarithm
STEADY, STEADY_PAIRS = 0.6, 20  # of a juror's own error what stays in the other order; pairs' worth


class _Ballots(NamedTuple):
    """All ballots as columns: debate, juror, orientation, margin, verdict, whether an audit."""

    debate: NDArray[np.int64]
    juror: NDArray[np.int64]
    o: Vector
    m: Vector
    v: Vector
    audit: Flags

    def take(self, rows: Flags) -> _Ballots:
        """Return some of the ballots."""
        return _Ballots(
            self.debate[rows], self.juror[rows], self.o[rows], self.m[rows], self.v[rows],
            self.audit[rows],
        )  # fmt: skip


class _Leans(NamedTuple):
    """By juror: lean and its error, spread, lean of verdicts, ballots."""

    lean: Vector
    error: Vector
    spread: Vector
    named: Vector
    n: Vector


@dataclass(frozen=True, slots=True)
class _FittedModel:
    """A fitted model with what it was fitted to."""

    said: JurorLikelihood
    x: Vector
    signals: Matrix
    sees: Vector
    free: Matrix

    @property
    def model(self) -> SignalCovariance:
        """The covariance at the fitted parameters."""
        return SignalCovariance.of(self.x, self.said)


def fit_jurors(heard: Sequence[HeardDebate], before: Fit | None = None) -> Fit:
    """Return the model of every juror heard. `before` is an earlier fit to begin at.

    A juror whose newer ballots differ from its older ones is fitted to the newer ones alone.
    """
    families = {ballot.juror: ballot.family for one in heard for ballot in one.ballots}
    jurors = sorted(families)
    if not jurors:
        return Fit()
    at = {juror: at for at, juror in enumerate(jurors)}
    rows = [
        (number, at[one.juror], one.orientation, one.margin, one.named, one.audit)
        for number, debate in enumerate(heard)
        for one in debate.ballots
    ]
    table = np.array(rows, dtype=float).T
    whole = table[:2].astype(np.int64)
    ballots = _Ballots(whole[0], whole[1], table[2], table[3], table[4], table[5] > 0)
    human = np.array([math.nan if one.human is None else one.human for one in heard])
    bets = bet(heard)
    stakes = np.array([bets.get(juror, 0.0) for juror in jurors])
    kinship = np.array([[float(families[a] == families[b]) for b in jurors] for a in jurors])
    leans, worth, found = _fit(ballots, human, kinship, stakes, _begin(before, jurors))
    drift, cut = _find_changes(found, ballots, leans)
    kept = ballots.debate >= cut[ballots.juror]
    left = np.bincount(ballots.juror[~kept], minlength=len(jurors))
    if left.any():
        ballots = ballots.take(kept)
        leans, worth, found = _fit(ballots, human, kinship, stakes, None)
    shape = len(heard), len(jurors)
    order = _lay_out(ballots, ballots.o, shape, empty=0.0)
    return _describe(jurors, families, leans, worth, found, (drift, left), bets).model_copy(
        update={
            "evidence": _weigh_evidence(found.free, order),
            "steady": _fit_steady(found, ballots, leans, worth),
        }
    )


def _fit(
    ballots: _Ballots, human: Vector, kinship: Matrix, stakes: Vector, start: Vector | None
) -> tuple[_Leans, float, _FittedModel]:
    """Fit leans, then what a verdict adds, then the model."""
    debates, jurors = len(human), len(kinship)
    leans = _fit_leans(ballots, jurors)
    margins, verdicts = _unlean(ballots, leans)
    usual = _lay_out(ballots, margins + VERDICT_WORTH * verdicts, (debates, jurors))
    free = _free_of_order(usual, _lay_out(ballots, ballots.o, (debates, jurors), empty=0.0))
    sees = _tell_able(free, stakes)
    able = sees >= SEES
    if not able[ballots.juror].any():
        able[:] = True
    of_able = able[ballots.juror]
    worth = _fit_worth(ballots.take(of_able), margins[of_able], verdicts[of_able], debates)
    signals = _lay_out(ballots, margins + worth * verdicts, (debates, jurors))
    signals[:, ~able] = np.nan
    if not able.all():
        start = None
    said, x, whole = _fit_model(signals, human, kinship, start)
    return leans, worth, _FittedModel(said, x, whole, sees, free)


def _unlean(ballots: _Ballots, leans: _Leans) -> tuple[Vector, Vector]:
    """Return margins in spreads and verdicts, both freed of the juror's lean."""
    off = ballots.m - ballots.o * leans.lean[ballots.juror]
    margins = np.clip(off / leans.spread[ballots.juror], -CLIP, CLIP)
    return margins, ballots.v - ballots.o * leans.named[ballots.juror]


def _free_of_order(signals: Matrix, order: Matrix) -> Matrix:
    """Return signals without all that goes with the order, of mean square 1 by juror; 0 if none."""
    x = np.nan_to_num(signals)
    x = x - order * (order * x).sum(0) / np.maximum((order**2).sum(0), 1)
    heard = ~np.isnan(signals)
    size = np.sqrt((x * x * heard).sum(0) / np.maximum(heard.sum(0), 1) + 1e-12)
    free: Matrix = np.where(heard & (size > 1e-5), np.clip(x / size, -CLIP, CLIP), 0.0)
    return free


def _tell_able(free: Matrix, stakes: Vector) -> Vector:
    """Return the chance of each juror that it sees something of what the others see.

    With signals x freed of order, s = Σa/√Σa² of a = x·Σ q·x over the others of its debates, q
    being their chances. Without skill s is N(0, 1), however few or many others are; with it
    N(e√n, 1 + 0.15·e²n). The effect e and the share of the able are the likeliest of a grid. What
    became of a stake on it (engine/jury/roster.py) is a ratio of likelihoods too. Who reports the
    opposite of what the others see is no abler than who sees nothing.
    """
    # From those who agree most, as among many who see nothing the others are hardly heard; and from
    # all, as those may be a few who share a taste. Without skill s is N(0, 1) from any start.
    agreed = free.T @ free / np.sqrt((free**2).T @ free**2 + 1e-9)
    np.fill_diagonal(agreed, 0)
    most = np.linalg.eigh(agreed)[1][:, -1]
    most *= np.sign(most.sum()) or 1
    odds = np.exp(np.clip(stakes, -MOST_ODDS, MOST_ODDS))
    few = _iterate(free, odds, np.clip(most / max(most.max(), 1e-9), 0, 1))
    return _iterate(free, odds, np.maximum(few, _iterate(free, odds, np.ones(len(odds)))))


def _iterate(free: Matrix, odds: Vector, chances: Vector) -> Vector:
    """Return the chances that follow from these, from those again, and so on until they stay."""
    for _ in range(ABLE_ROUNDS):
        products = free * (free @ chances)[:, None] - free**2 * chances
        n = (products != 0).sum(0)
        s = np.maximum(products.sum(0) / np.sqrt((products**2).sum(0) + 1e-9), 0)
        centre = EFFECTS[:, None] ** 2 * n
        blind = np.exp(-0.5 * s**2)
        able = odds * np.exp(-0.5 * (s - np.sqrt(centre)) ** 2 / (1 + 0.15 * centre))
        able /= np.sqrt(1 + 0.15 * centre)
        parts = SHARES[:, None, None] * able
        whole = parts + (1 - SHARES[:, None, None]) * blind
        likely = np.log(whole + 1e-300).sum(2)
        best = np.unravel_index(likely.argmax(), likely.shape)
        now = (parts / (whole + 1e-300))[best]
        done = np.abs(now - chances).max() < 0.01
        chances = now
        if done:
            break
    return chances


def _sum(jurors: int, ballots: _Ballots, values: Vector) -> Vector:
    return np.bincount(ballots.juror, values, jurors).astype(np.float64)


def _fit_leans(ballots: _Ballots, jurors: int) -> _Leans:
    """Return each juror's lean, drawn toward the mean one as far as its own error asks for it.

    The variance of leans over jurors is fitted too (empirical Bayes; Efron and Morris 1975).
    """
    n = _sum(jurors, ballots, np.ones(len(ballots.m)))
    raw = _sum(jurors, ballots, ballots.o * ballots.m) / np.maximum(n, 1)
    squares = _sum(jurors, ballots, (ballots.m - ballots.o * raw[ballots.juror]) ** 2)
    usual = (squares.sum() + PSEUDO * USUAL_SPREAD**2) / (n.sum() + PSEUDO)
    own = (squares + PSEUDO * usual) / (n + PSEUDO) / np.maximum(n, 1e-9)
    mean, between, heard = 0.0, LEAN_SD**2, n > 0
    for _ in range(30):
        trust = heard / (between + own)
        mean = float((trust * raw).sum() / (trust.sum() + 1))
        # The median of squares, so that a few jurors that prefer a place do not stand for all.
        usual_off = 2.198 * float(np.median((raw - mean)[heard] ** 2))
        spread = max(0.0, usual_off - float(np.median(own[heard])))
        between = (heard.sum() * spread + LEAN_JURORS * LEAN_SD**2) / (heard.sum() + LEAN_JURORS)
    share = between / (between + own)
    lean = mean + share * (raw - mean)
    off = _sum(jurors, ballots, (ballots.m - ballots.o * lean[ballots.juror]) ** 2)
    usual = (off.sum() + PSEUDO * USUAL_SPREAD**2) / (n.sum() + PSEUDO)
    spread = np.sqrt((off + PSEUDO * usual) / (n + PSEUDO))
    named = _sum(jurors, ballots, ballots.o * ballots.v) / (n + PSEUDO)
    return _Leans(
        lean, np.sqrt(between * (1 - share)), np.maximum(spread, SMALLEST_SPREAD), named, n
    )


def _fit_worth(ballots: _Ballots, margins: Vector, verdicts: Vector, debates: int) -> float:
    """Return what naming a side adds to a margin, as the other jurors of its debates bear it out.

    A regression of the others' mean signal on both, drawn toward the usual worth.
    """
    whole = margins + VERDICT_WORTH * verdicts
    n = np.bincount(ballots.debate, minlength=debates)[ballots.debate]
    others = np.bincount(ballots.debate, whole, debates)[ballots.debate] - whole
    use = n > 1
    x, v, y = whole[use], verdicts[use], (others[use] / (n[use] - 1))
    table = np.array([[x @ x + 1e-9, x @ v], [x @ v, v @ v + WORTH_BALLOTS]])
    along, extra = np.linalg.solve(table, np.array([x @ y, v @ y]))
    if along <= 0.05:
        return VERDICT_WORTH
    return float(np.clip(VERDICT_WORTH + extra / along, 0.0, 1.0))


def _lay_out(
    ballots: _Ballots, values: Vector, shape: tuple[int, int], empty: float = math.nan
) -> Matrix:
    """Return values by debate and juror, without audits; the mean of several, `empty` for none."""
    rows = ~ballots.audit
    cells = ballots.debate[rows] * shape[1] + ballots.juror[rows]
    n = np.bincount(cells, minlength=shape[0] * shape[1])
    sums = np.bincount(cells, values[rows], shape[0] * shape[1])
    return np.where(n > 0, sums / np.maximum(n, 1), empty).reshape(shape)


def _fit_model(
    signals: Matrix, human: Vector, kinship: Matrix, start: Vector | None
) -> tuple[JurorLikelihood, Vector, Matrix]:
    """Fit the model to ballots, then to people's majorities too where there are enough of them.

    Who errs together is learnt from ballots alone: so few majorities hardly tell one juror from
    another, and a group that may follow them takes their noise for an error of some jurors.
    """
    said, x = _fit_ballots(signals, kinship, start)
    if (~np.isnan(human)).sum() < LABELS:
        return said, x, signals
    whole = np.column_stack([signals, human])
    parts = np.split(x, [said.readers * at for at in (1, 2, 3)])
    said = _say(whole, np.pad(kinship, (0, 1)), people=True)
    first = said.start()
    ends = [first[said.readers - 1 : said.readers], np.zeros(1), said.scale[-1:], np.zeros(0)]
    begun = np.concatenate([one for pair in zip(parts, ends, strict=True) for one in pair])
    return *_settle(said, begun), whole


def _fit_ballots(
    signals: Matrix, kinship: Matrix, start: Vector | None
) -> tuple[JurorLikelihood, Vector]:
    said = _say(signals, kinship)
    few = replace(said, sums=gather(signals[-SAMPLE:])) if len(signals) > SAMPLE else said
    plain = minimise(few, said.start() if start is None else start, ROUNDS, ROUGH)
    # From there with a group along the leading eigenvector of what it leaves.
    x = plain[0]
    model, whole = SignalCovariance.of(x, few), few.readers
    sums, counts = np.zeros(whole * whole), np.zeros(whole * whole)
    for jurors, debates, products in few.sums:
        cells = (jurors[:, :, None] * whole + jurors[:, None, :]).ravel()
        sums += np.bincount(cells, products.transpose(2, 0, 1).ravel(), whole * whole)
        counts += np.bincount(cells, np.repeat(debates, jurors.shape[1] ** 2), whole * whole)
    seen, n = sums.reshape(whole, whole), counts.reshape(whole, whole)
    alone = model.raw - np.outer(model.group, model.group)
    rest = seen / np.maximum(n, 1) / np.outer(model.unit, model.unit) - alone
    rest *= n / (n + 15)
    np.fill_diagonal(rest, 0)
    rest *= np.outer(few.jurors, few.jurors)
    values, vectors = np.linalg.eigh(rest)
    started = x.copy()
    started[whole : 2 * whole] = vectors[:, -1] * math.sqrt(max(values[-1], 0.05))
    herded = minimise(few, started, ROUNDS, ROUGH)
    found = min(plain, herded, key=lambda found: found[1])[0].copy()
    group = found[said.readers : 2 * said.readers]
    together = np.abs(group) > TOGETHER
    able = (~np.isnan(signals)).any(0).sum()
    # Half of the jurors against the other half: nothing says which of them errs.
    group *= together if 1 < together.sum() < able / 2 else 0
    return _settle(said, found)


def _say(signals: Matrix, kinship: Matrix, *, people: bool = False) -> JurorLikelihood:
    n, squares = (~np.isnan(signals)).sum(0), np.nansum(signals**2, axis=0)
    usual = squares.sum() / max(1, n.sum())
    scale = 0.5 * np.log((squares + PSEUDO * usual + 1e-6) / (n + PSEUDO))
    return JurorLikelihood(gather(signals), kinship, scale, people)


def _settle(said: JurorLikelihood, x: Vector) -> tuple[JurorLikelihood, Vector]:
    """Fit again with the group that was found, at a small cost (Meinshausen's relaxed lasso).

    The cost that keeps others out of the group also draws its members' parts toward 0.
    """
    grouped = (x[said.readers : 2 * said.readers] != 0).astype(float)
    kept = replace(said, cost=MEMBER_COST, grouped=grouped)
    return kept, minimise(kept, x, POLISH)[0]


def _begin(before: Fit | None, jurors: Sequence[str]) -> Vector | None:
    """Return an earlier fit as parameters, where it knows the same jurors."""
    if before is None or set(before.jurors) != set(jurors):
        return None
    if any(one.left for one in before.jurors.values()):
        return None
    known = [before.jurors[juror] for juror in jurors]
    skill = [math.log(one.skill) for one in known]
    return np.array([
        *skill, *(one.group or 0.01 for one in known), *(math.log(one.scale) for one in known),
        math.log(before.shared), math.log(before.kin), sum(skill) / (len(skill) + 1),
    ])  # fmt: skip


def _find_changes(
    found: _FittedModel, ballots: _Ballots, leans: _Leans
) -> tuple[Vector, NDArray[np.int64]]:
    """Return by how many errors each juror's newer ballots differ, and the debate they begin at.

    What is compared is the part of a signal that the others of its debate do not predict: its
    square, its product with the order of showing, and with what they predict. 0 where none differ.
    """
    residual, predicted = _compare(found)
    jurors = residual.shape[1] - found.said.people
    order = np.zeros(residual.shape)
    order[ballots.debate, ballots.juror] = ballots.o
    drift, cut = np.zeros(jurors), np.zeros(jurors, dtype=np.int64)
    for juror in range(jurors):
        rows = np.nonzero(~np.isnan(residual[:, juror]))[0]
        r = residual[rows, juror]
        for series in (r**2, r * order[rows, juror], r * predicted[rows, juror]):
            size, at = _change(series)
            if size > drift[juror]:
                drift[juror], cut[juror] = size, rows[at]
    return drift, np.where(drift > DRIFTED, cut, 0)


def _change(series: Vector) -> tuple[float, int]:
    """Return the largest difference of means before and after a point, in errors, and the point."""
    n = len(series)
    if n < 2 * FEWEST:
        return 0.0, 0
    at = np.arange(FEWEST, n - FEWEST + 1)
    sums, squares = np.cumsum(series), np.cumsum(series**2)
    first, second = sums[at - 1] / at, (sums[-1] - sums[at - 1]) / (n - at)
    spread = np.sqrt(
        np.maximum(squares[at - 1] / at - first**2, 1e-9) / at
        + np.maximum((squares[-1] - squares[at - 1]) / (n - at) - second**2, 1e-9) / (n - at)
    )
    size = np.abs(first - second) / np.maximum(
        spread, math.sqrt(max(float(series.var()), 1e-9)) * np.sqrt(1 / at + 1 / (n - at))
    )
    best = int(size.argmax())
    return float(size[best]), int(at[best])


def _compare(found: _FittedModel) -> tuple[Matrix, Matrix]:
    """Return each signal's surprise given the others of its debate, and what they predicted."""
    model, signals = found.model, found.signals
    residual, predicted = np.full(signals.shape, np.nan), np.zeros(signals.shape)
    heard = ~np.isnan(signals)
    counts = heard.sum(1)
    for k in np.unique(counts[counts > 1]):
        rows = np.nonzero(counts == k)[0]
        jurors = np.nonzero(heard[rows])[1].reshape(-1, k)
        x = signals[rows[:, None], jurors]
        covariance = model.covariance[jurors[:, :, None], jurors[:, None, :]]
        inverse, _ = invert(covariance.transpose(1, 2, 0))
        own = np.einsum("iig->gi", inverse)
        pull = np.einsum("ijg,gj->gi", inverse, x)
        size = np.sqrt(np.diag(model.covariance))[jurors]
        residual[rows[:, None], jurors] = pull / np.sqrt(own)
        predicted[rows[:, None], jurors] = (x - pull / own) / size
    return residual, predicted


def _describe(
    jurors: Sequence[str],
    families: dict[str, str],
    leans: _Leans,
    worth: float,
    found: _FittedModel,
    changes: tuple[Vector, NDArray[np.int64]],
    stakes: dict[str, float],
) -> Fit:
    """Return the fitted model as a value."""
    model, (drift, left) = found.model, changes
    count = len(jurors)
    errors = _judge_errors(found, count)
    able = found.sees >= SEES
    tracking = model.skill * model.unit / np.sqrt(np.diag(model.covariance))
    correlations = model.raw / np.sqrt(np.outer(np.diag(model.raw), np.diag(model.raw)))
    weight = np.maximum(np.linalg.solve(correlations[:count, :count], tracking[:count]), 0)
    weight[~able] = 0
    weight /= max(weight.mean(), 1e-9)
    scale = np.sqrt(np.diag(model.covariance))
    people = found.said.people
    return Fit(
        debates=len(found.signals),
        ballots=int(leans.n.sum()),
        labels=int((~np.isnan(found.signals[:, -1])).sum()) if people else 0,
        shared=model.shared,
        kin=model.kin,
        people=float(tracking[-1]) if people else 0.74,
        worth=worth,
        jurors={
            juror: JurorFit(
                family=families[juror],
                ballots=int(leans.n[at]),
                lean=float(leans.lean[at]),
                lean_error=float(leans.error[at]),
                named=float(leans.named[at]),
                spread=float(leans.spread[at]),
                scale=float(scale[at]),
                skill=float(model.skill[at]) if able[at] else BLIND,
                skill_error=float(errors[at]),
                group=float(model.group[at]) if able[at] else 0.0,
                weight=float(weight[at]),
                drift=float(drift[at]),
                left=int(left[at]),
                sees=float(found.sees[at]),
                stake=stakes.get(juror, 0.0),
            )
            for at, juror in enumerate(jurors)
        },
    )


def _fit_steady(found: _FittedModel, ballots: _Ballots, leans: _Leans, worth: float) -> float:
    """Return the share of a juror's own error that stays when it reads in the other order.

    From the differences of able jurors' signals in the two orders of a debate, audits included,
    beside the usual share.
    """
    margins, verdicts = _unlean(ballots, leans)
    x = margins + worth * verdicts
    model, jurors = found.model, len(found.sees)
    own = (model.unit**2)[:jurors]
    cells = ballots.debate * jurors + ballots.juror
    n = np.bincount(cells, minlength=1)
    difference = np.bincount(cells, ballots.o * x)
    pairs = np.nonzero(n == 2)[0]
    pairs = pairs[found.sees[pairs % jurors] >= SEES]
    changed = 0.5 * float((difference[pairs] ** 2).sum())
    whole = float(own[pairs % jurors].sum())
    usual = STEADY_PAIRS * float(own.mean())
    return 1 - min(0.95, max(0.05, (changed + (1 - STEADY) * usual) / (whole + usual)))


def _judge_errors(found: _FittedModel, jurors: int) -> Vector:
    """Return the error of each juror's log skill: that of a regression on what the others see.

    With the correlation r between a juror's signal and the others' posterior, the error of a
    loading a is √((1 − a²)/Σr²); the prior's precision is added.
    """
    model = found.model
    signals = found.signals[:, :jurors]
    said = JurorLikelihood(gather(signals), found.said.kinship[:jurors, :jurors], np.zeros(jurors))
    size = np.sqrt(np.diag(model.raw))[:jurors]
    common = model.skill[:jurors] * math.sqrt(1 + model.shared) / size
    known = np.zeros(jurors)
    for panel, n, _ in said.sums:
        precise = common[panel] ** 2 / (1 - common[panel] ** 2)
        others = precise.sum(1, keepdims=True) - precise
        known += np.bincount(panel.ravel(), (n[:, None] * others / (1 + others)).ravel(), jurors)
    slope = common * (1 - common**2)
    return 1 / np.sqrt(1 / SKILL_SD**2 + known * slope**2 / (1 - common**2))


def _weigh_evidence(free: Matrix, order: Matrix) -> float:
    """Return by how many standard errors jurors who read in opposite orders agree.

    Only they count: those who merely prefer a place agree in one order, and disagree in two. The
    correlation of the two orders' means over debates, by Fisher's transformation. Jurors without
    skill are left out, as the other half of the debates tells them: chance chooses none.
    """
    found = []
    for half in (0, 1):
        able = _tell_able(free[1 - half :: 2], np.zeros(free.shape[1])) >= SEES
        if able.any():
            found.append(_agree(free[half::2, able], order[half::2, able]))
    return sum(found) / math.sqrt(2)


def _agree(x: Matrix, order: Matrix) -> float:
    # Over roots of counts, so that debates with more readers have no wider sums.
    halves = [np.where(order * side > 0, x, 0).sum(1) for side in (1, -1)]
    counts = [(order * side > 0).sum(1) for side in (1, -1)]
    both = (counts[0] > 0) & (counts[1] > 0)
    debates = int(both.sum())
    if debates < FEWEST_PAIRED:
        return 0.0
    one, other = (
        half[both] / np.sqrt(count[both]) for half, count in zip(halves, counts, strict=True)
    )
    r = one @ other / math.sqrt((one @ one) * (other @ other) + 1e-12)
    return math.atanh(min(0.999, max(-0.999, float(r)))) * math.sqrt(debates - 3)


def bet(heard: Iterable[HeardDebate]) -> dict[str, float]:
    """Return what became of a stake of 1 on each juror that read in both orders: its logarithm."""
    stakes: dict[str, float] = {}
    usual: dict[str, tuple[int, float, float]] = defaultdict(lambda: (0, 0.0, 0.0))
    for debate in heard:
        margins: dict[str, dict[int, float]] = defaultdict(dict)
        for one in debate.ballots:
            margins[one.juror][one.orientation] = one.margin
        for juror, by_order in margins.items():
            if len(by_order) == 2:
                total, difference = by_order[1] + by_order[-1], by_order[1] - by_order[-1]
                n, totals, differences = usual[juror]
                usual[juror] = n + 1, totals + total, differences + difference
                total, difference = (
                    abs(total - totals / max(n, 1)),
                    abs(difference - differences / max(n, 1)),
                )
                if max(total, difference) >= FAINT:
                    won = math.log(WON if total > difference else LOST)
                    stakes[juror] = stakes.get(juror, 0.0) + won
    return stakes
