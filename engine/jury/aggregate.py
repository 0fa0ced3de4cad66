"""A panel's verdict from its ballots, as a pure function.

By the model of jurors (engine/jury/model.py) once it knows them, else balanced by order:

Two contenders are the special case N = 2 of one formula. A contender's margin m on a ballot is
its score less the mean of the others'; o is +1 where it was shown first, −1 where last, even
steps between; its signal is x = clip((m − o·pos)/sd, ±2.5) + 0.35·v. Signals are averaged
within each order, then over orders, so that no order counts for more than another.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from statistics import fmean

from engine.jury.ballot import Chances, known_jurors, margins, signal_of, signals
from engine.jury.rubric import find_rubric
from engine.values.debate import Fit, JurorHistory, PanelMode, PanelSetup
from engine.values.language import N_
from engine.values.verdicts import AGREEING, TIE, Ballot, Verdict

TIE_BAND = 0.15
KNOWN_AFTER = 10  # ballots of history after which a juror's lean counts as measured
UNKNOWN = JurorHistory()
UNPROVEN = N_("these jurors have not yet shown that they see more than order or chance")


def aggregate(
    setup: PanelSetup, contenders: tuple[str, ...], ballots: Sequence[Ballot]
) -> tuple[Verdict, tuple[Ballot, ...]]:
    """Return the verdict of a panel, and its ballots with signal, weight, pos and sd filled in.

    Invalid ballots and audits decide nothing. The result does not depend on the order in which
    ballots are given. Without a verdict `p` is empty and `problem` says why.
    """
    fit = find_fit(setup, ballots)
    if fit:
        from engine.jury.model import conclude_by_model, next_readings, weigh_ballots

        measured = weigh_ballots(fit, setup, ballots)
    else:  # each juror's own history says what its readings mean
        measured = tuple(_measure_one(setup, ballot) for ballot in ballots)
        measured = _settle_pairs(measured) if setup.mode is PanelMode.STRICT else measured
    counted = [ballot for ballot in measured if ballot.weight and not ballot.audit]
    problem = "" if fit else _find_problem(setup, counted)
    readings: dict[str, int] = {}
    if not problem and setup.stake is not None and not _agree(setup, counted):
        problem = UNPROVEN
        readings = dict(Counter(filter(None, map(_preference, counted))))
    standing = None
    if not problem:
        standing = (
            conclude_by_model(fit, contenders, counted, next_readings(fit, setup, ballots)[1])
            if fit
            else _stand(setup, contenders, counted)
        )
    verdict = Verdict(
        winner=standing.winner if standing else None,
        problem=problem,
        p=standing.p if standing else {},
        z=standing.lead if standing else None,
        valid=sum(ballot.valid for ballot in ballots if not ballot.audit),
        invalid=sum(not ballot.valid for ballot in ballots if not ballot.audit),
        effective_votes=_count_votes(counted, setup.correlation),
        order_alone=standing is not None and standing.order_alone,
        slope=setup.slope,
        mode=setup.mode,
        rubric=setup.rubric,
        blind=setup.blind,
        rule="model" if fit else "",
        fit=fit.number if fit else None,
        variance=standing.variance if standing else None,
        gain=standing.gain if standing else None,
        readings=readings,
    )
    return verdict, measured


def find_fit(setup: PanelSetup, ballots: Sequence[Ballot]) -> Fit | None:
    """Return the model of jurors if it decides on these ballots: two of jurors that it knows."""
    fit = setup.ready_fit
    return fit if fit and len(known_jurors(fit, ballots)) > 1 else None


def _measure_one(setup: PanelSetup, ballot: Ballot) -> Ballot:
    if not ballot.valid:
        return ballot
    known = setup.history.get(ballot.juror, UNKNOWN)
    margin = margins(ballot, find_rubric(setup.rubric, setup.criteria))
    return ballot.model_copy(
        update={
            "signal": signals(ballot, margin, known.pos, known.sd),
            "weight": known.weight,
            "pos": known.pos,
            "sd": known.sd,
        }
    )


def _settle_pairs(ballots: tuple[Ballot, ...]) -> tuple[Ballot, ...]:
    """Apply the strict rule: a juror's two orders count, as a tie if they disagree.

    A reading whose other order is missing or invalid cannot be checked and weighs nothing.
    """
    said: dict[str, list[str | None]] = defaultdict(list)
    for ballot in ballots:
        if ballot.valid and not ballot.audit:
            said[ballot.juror].append(_preference(ballot))
    settled = list(ballots)
    for at, ballot in enumerate(ballots):
        if ballot.valid and not ballot.audit:
            both = said[ballot.juror]
            if len(both) < 2:
                settled[at] = ballot.model_copy(update={"weight": 0.0})
            elif len(set(both)) > 1:
                level = dict.fromkeys(ballot.order, 0.0)
                settled[at] = ballot.model_copy(update={"signal": level})
    return tuple(settled)


def _preference(ballot: Ballot) -> str | None:
    """Return the preferred contender: the verdict, or the signal if they contradict."""
    if not ballot.contradictory:
        return ballot.verdict
    return max(ballot.signal or {}, key=(ballot.signal or {}).__getitem__)


def _find_problem(setup: PanelSetup, ballots: Sequence[Ballot]) -> str:
    """Return why these ballots give no verdict, or nothing."""
    if len(ballots) < 2 and setup.mode is PanelMode.ONE:
        return "the single juror's two readings do not both count"
    if len(ballots) < 2:
        return f"the panel has {len(ballots)} ballots that count, and needs at least 2"
    if len({ballot.order for ballot in ballots}) < 2 and not _all_known(setup, ballots):
        return "every ballot was read in the same order, which could have decided it"
    return ""


def _agree(setup: PanelSetup, ballots: Sequence[Ballot]) -> bool:
    """Return whether jurors that have not shown to see anything decide all the same.

    All readings have to agree, and be so many that coins would hardly do so, and what is known of
    the jurors must not speak against them. Those of a rehearsal only must not disagree.
    """
    preferred = {_preference(ballot) for ballot in ballots}
    if all(juror.rehearses for juror in setup.roster):
        return len(preferred - {TIE}) <= 1
    return len(preferred) == 1 and len(ballots) >= AGREEING and (setup.stake or 0.0) >= 1


def _all_known(setup: PanelSetup, ballots: Iterable[Ballot]) -> bool:
    """Return whether leans are measured; with a model, only it may say so."""
    return setup.fit is None and all(
        setup.history.get(ballot.juror, UNKNOWN).ballots >= KNOWN_AFTER for ballot in ballots
    )


def _stand(setup: PanelSetup, contenders: tuple[str, ...], ballots: Sequence[Ballot]) -> Chances:
    by_order: dict[tuple[str, ...], list[Ballot]] = defaultdict(list)
    for ballot in ballots:
        by_order[ballot.order].append(ballot)
    # A contender's z is √n times the mean over orders of the mean weighted signal, scaled by
    # (N − 1)/N, so that a difference of two of them is a difference of their scores in units of
    # sd; with two contenders it is √n · ½ (mean over AB + mean over BA).
    # fmean rounds once, so that the result does not depend on the ballots' sequence.
    scale = math.sqrt(len(ballots)) * (len(contenders) - 1) / len(contenders)
    z = {
        side: scale
        * fmean(
            fmean((ballot.weight or 0.0) * signal_of(ballot, side) for ballot in group)
            for group in by_order.values()
        )
        for side in contenders
    }
    first, second = sorted(contenders, key=lambda side: -z[side])[:2]
    order_alone = not _all_known(setup, ballots) and _order_alone(setup, first, ballots)
    if order_alone:
        z = dict.fromkeys(contenders, 0.0)
    lead = z[first] - z[second]
    signed = z[contenders[0]] - z[contenders[1]] if len(contenders) == 2 else lead
    winner = first if lead >= TIE_BAND else TIE
    top = max(z.values())
    raised = {side: math.exp(setup.slope * (value - top)) for side, value in z.items()}
    total = math.fsum(raised.values())
    return Chances(
        {side: value / total for side, value in raised.items()}, signed, winner, order_alone
    )


def _order_alone(setup: PanelSetup, leader: str, ballots: Sequence[Ballot]) -> bool:
    """Return whether the lead could come from the order of showing alone.

    Balancing cancels a preference for the side shown first only when all jurors hold it
    equally strongly. So with two contenders the leader needs, in each order, one ballot that
    is not against it; with more, the favourites must not all have been shown at one place.
    """
    orders = {ballot.order for ballot in ballots}
    if len(ballots[0].order) == 2:
        return any(
            all(signal_of(ballot, leader) < 0 for ballot in ballots if ballot.order == order)
            for order in orders
        )
    favourites = [max(one.order, key=partial(signal_of, one)) for one in ballots]
    places = {one.order.index(side) for one, side in zip(ballots, favourites, strict=True)}
    return len(set(favourites)) > 1 and len(places) == 1


def _count_votes(ballots: Sequence[Ballot], correlation: float | None) -> float | None:
    """Return Kish's effective number of votes: (Σw)² / ΣΣ w·w'·ρ; None without a measured ρ.

    Two readings of one juror count as one vote between them.
    """
    if correlation is None or not ballots:
        return None
    weights = {ballot.juror: ballot.weight or 0.0 for ballot in ballots}
    squares = math.fsum(weight * weight for weight in weights.values())
    whole = math.fsum(weights.values()) ** 2
    return whole / (squares + correlation * (whole - squares))
