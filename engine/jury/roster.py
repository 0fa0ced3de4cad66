"""Chooses a debate's jurors, and the sequence in which they are asked; pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from random import Random
from statistics import fmean

from engine.jury.ballot import MOST_JURORS, ROTATE_EVERY
from engine.jury.rubric import DEBATE, Rubric, own_criteria
from engine.values.debate import Fit, JurorHistory, Model, PanelMode, PanelSetup, Value

TRACKED_AFTER = 30  # ballots, from which on a juror's measured weight decides its place
AUDIT_SHARE = 0.1
KNOWN_AUDIT_SHARE = 0.05  # once the model knows leans well
PROVEN = 100.0
SURE = 4.0  # standard errors by which jurors agree in opposite orders, to be believed as well
MOST = 600.0  # of a logarithm, so that no product overflows


class PanelFit(Value):
    """The figures for the next panel; `correlation` is between two jurors' signals.

    `model` is the fit of the model of jurors, None for a panel that is balanced by order alone.
    """

    history: Mapping[str, JurorHistory] = {}
    correlation: float | None = None
    slope: float = 0.9
    model: Fit | None = None


def seat_panel(
    roster: Sequence[Model],
    debaters: Sequence[Model],
    *,
    ordinal: int,
    seed: int,
    learnt: PanelFit = PanelFit(),  # noqa: B008 - a frozen value
    mode: PanelMode = PanelMode.ADAPTIVE,
    rubric: Rubric = DEBATE,
    blind: bool = True,
    prices: Mapping[str, float] | None = None,
) -> PanelSetup:
    """Return a debate's panel, complete and frozen.

    `roster` is in order of preference; `ordinal` counts the installation's debates. Jurors of a
    debater's family are recused, unless none would be left: then `recusal_failed` is set. A panel
    of one is the first juror alone. With a model of jurors in `learnt`, those who tell most
    together are asked first, over their `prices` if there are any.
    """
    own = {model.maker for model in debaters}
    named = {juror.ref: juror for juror in roster}
    candidates = list(named.values())
    free = [juror for juror in candidates if juror.maker not in own]
    sitting = free or candidates
    refs, fit, known = {juror.ref for juror in sitting}, learnt.model, learnt.history
    stake = stake_of(fit, list(named)) if fit is not None and mode is not PanelMode.ONE else None
    ranked, wave = _order(sitting, learnt, stake, mode, ordinal, prices)
    audits = AUDIT_SHARE if fit is None or wave else KNOWN_AUDIT_SHARE
    return PanelSetup(
        roster=ranked[:1] if mode is PanelMode.ONE else ranked,
        recused=tuple(juror for juror in candidates if juror.ref not in refs),
        recusal_failed=bool(candidates) and not free,
        history={ref: item for ref, item in known.items() if ref in refs},
        first_order="BA" if ordinal % 2 else "AB",
        slope=learnt.slope,
        correlation=learnt.correlation,
        mode=mode,
        audit=mode is PanelMode.ADAPTIVE and Random(f"audit/{seed}").random() < audits,
        rubric=rubric.name,
        blind=blind,
        criteria=own_criteria(rubric),
        fit=None if fit is None else fit.only(refs),
        wave=wave,
        stake=stake,
    )


def _order(
    jurors: Sequence[Model],
    learnt: PanelFit,
    stake: float | None,
    mode: PanelMode,
    ordinal: int,
    prices: Mapping[str, float] | None,
) -> tuple[tuple[Model, ...], int]:
    """Return jurors in the sequence to ask them, and how many at once; 0 is as many as usual."""
    fit = learnt.model
    if fit is None or mode is not PanelMode.ADAPTIVE:
        return spread_families(_rank(jurors, learnt.history, ordinal)), 0
    if stake is not None:
        return spread_families(_trust(jurors, fit, ordinal)), 0
    shy = sorted(jurors, key=fit.heard)
    spread = spread_families(shy)
    from engine.jury.model import draw  # only now: there is one

    drawn = draw(shy, fit, ordinal, prices)
    return (drawn, 0) if drawn else (spread, MOST_JURORS)


# Whether jurors have shown that they see more than the order of showing, or chance.
#
# A juror that reads a debate in both orders gives two margins for A, and so S, their sum, and D,
# their difference. One that sees nothing is as likely to have |S| > |D| as not, once both are freed
# of what they are on average: S is D with the second margin's sign turned. A bet of half the stake
# on each such pair, at even odds, makes a test martingale: by chance it ever reaches 100 with a
# probability of at most 1 % (J. Ville, 1939; G. Shafer, “Testing by betting”, 2021).


def combine(stakes: Mapping[str, float], jurors: Collection[str]) -> float:
    """Return what became of a stake of 1 on these jurors.

    A third is bet on all their pairs in turn, a third is shared among the jurors, and a third stays
    half in hand with each: whether all of them see or only some, one of the three grows.
    """
    logs = [min(stakes[juror], MOST) for juror in jurors if juror in stakes]
    if not logs:
        return 1.0
    whole = math.exp(min(math.fsum(logs), MOST))
    shared = (math.fsum(map(math.exp, logs)) + len(jurors) - len(logs)) / len(jurors)
    by_halves = math.exp(min(math.fsum(math.log(0.5 + 0.5 * math.exp(one)) for one in logs), MOST))
    return fmean((whole, shared, by_halves))


def stake_of(fit: Fit, jurors: Collection[str]) -> float | None:
    """Return what became of the stake on these jurors; None if it is proven that they see.

    It is, too, once different jurors who read in opposite orders agree (`Fit.evidence`), as those
    that `rostrum calibrate` asks do, and two of these are among them.
    """
    fitted = {juror: fit.jurors[juror] for juror in jurors if juror in fit.jurors}
    stake = combine({juror: one.stake for juror, one in fitted.items()}, jurors)
    agreed = fit.evidence >= SURE and sum(one.known for one in fitted.values()) > 1
    return None if stake >= PROVEN or agreed else stake


def _trust(jurors: Sequence[Model], fit: Fit, ordinal: int) -> list[Model]:
    """Order jurors by what became of the stakes on them; those not heard yet take turns."""
    turn = ordinal % max(1, len(jurors))
    stakes = {name: one.stake for name, one in fit.jurors.items()}
    return sorted(
        [*jurors[turn:], *jurors[:turn]],
        key=lambda juror: stakes.get(juror.ref, 0.0),
        reverse=True,
    )


def _rank(
    jurors: Sequence[Model], history: Mapping[str, JurorHistory], ordinal: int
) -> list[Model]:
    """Order jurors: by measured weight, or in rotation so that all keep being measured.

    A juror with too few ballots stands where an average one would: at weight 1.
    """
    if jurors and ordinal % ROTATE_EVERY == 0:
        start = ordinal // ROTATE_EVERY % len(jurors)
        return [*jurors[start:], *jurors[:start]]

    def weigh(juror: Model) -> float:
        item = history.get(juror.ref)
        return item.weight if item and item.ballots >= TRACKED_AFTER else 1.0

    return sorted(jurors, key=weigh, reverse=True)


def spread_families(jurors: Sequence[Model]) -> tuple[Model, ...]:
    """Put one juror of each family before a second of any, keeping the sequence otherwise."""
    seen: Counter[str] = Counter()
    dealt: list[tuple[int, Model]] = []
    for juror in jurors:
        family = juror.maker
        dealt.append((seen[family], juror))
        seen[family] += 1
    return tuple(juror for _, juror in sorted(dealt, key=lambda item: item[0]))
