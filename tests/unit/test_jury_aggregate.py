"""A panel of jurors whose judgment is known: whom it asks, when it stops, what it decides."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from engine.jury.aggregate import aggregate
from engine.jury.ballot import JurorReading
from engine.jury.fit import fit_jurors
from engine.jury.history import fit, hear
from engine.jury.model import posterior, signal
from engine.jury.plan import WORTHWHILE, next_readings
from engine.jury.roster import PanelFit, seat_panel, stake_of
from engine.jury.rubric import DEBATE
from engine.store.learning import PastDebate
from engine.values.debate import Fit, JurorFit, JurorHistory, Model, PanelMode, PanelSetup
from engine.values.verdicts import TIE, Ballot, Verdict
from tests.kit import some
from tests.slow import slow_after

SIDES = ("A", "B")
NAMES = {"A": "Heron", "B": "Plover"}
AB, BA = ("A", "B"), ("B", "A")


def jurors(count: int) -> tuple[Model, ...]:
    return tuple(
        Model(backend="online", name=f"juror-{n}", family=f"family-{n}") for n in range(count)
    )


def panel(count: int = 6, *, history: Mapping[str, JurorHistory] = {}, **given: Any) -> PanelSetup:
    return PanelSetup(roster=jurors(count), history=dict(history), **given)


def ballot(
    order: tuple[str, ...],
    points: dict[str, int],
    verdict: str | None,
    *,
    juror: str = "online/juror-0",
    audit: bool = False,
    contradictory: bool = False,
) -> Ballot:
    """Return a valid ballot with the same score on every criterion."""
    return Ballot(
        juror=juror,
        family="any",
        order=order,
        names=NAMES,
        audit=audit,
        valid=True,
        contradictory=contradictory,
        scores={
            side: {criterion.name: points[side] for criterion in DEBATE.criteria} for side in order
        },
        verdict=verdict,
    )


def spoilt(order: tuple[str, ...], juror: str = "online/juror-0") -> Ballot:
    return Ballot(
        juror=juror, family="any", order=order, names=NAMES, valid=False, problem="no JSON"
    )


def leaning(
    order: tuple[str, ...], margin: int, *, juror: str = "online/juror-0", audit: bool = False
) -> Ballot:
    """Return a ballot whose verdict and scores favour A by `margin` points (B if negative)."""
    verdict = "A" if margin > 0 else "B" if margin < 0 else "tie"
    low = 5 - abs(margin) // 2
    high = low + abs(margin)
    points = {"A": high if margin > 0 else low, "B": high if margin < 0 else low}
    return ballot(order, points, verdict, juror=juror, audit=audit)


def hold(
    setup: PanelSetup, judge: Callable[[JurorReading], Ballot], sides: tuple[str, ...] = SIDES
) -> tuple[Verdict, tuple[Ballot, ...]]:
    """Ask for readings until the plan has none, and return the verdict and all ballots."""
    ballots: list[Ballot] = []
    while readings := next_readings(setup, sides, ballots):
        ballots += [judge(reading) for reading in readings]
    return aggregate(setup, sides, ballots)


# --- What a panel's ballots come to ---------------------------------------------------------------


KNOWN = {juror.ref: JurorHistory(ballots=10) for juror in jurors(6)}
X1 = 1 / 1.5 + 0.35  # the signal of a margin of one point with its verdict


def _first_shown(
    reading: JurorReading, sign: int, strength: Callable[[Random], int], rng: Random
) -> Ballot:
    margin = sign * strength(rng) * (1 if reading.order == AB else -1)
    return leaning(reading.order, margin, juror=reading.juror.ref)


@pytest.mark.parametrize("size", slow_after(1, [3, 6, 4, 5]))
@pytest.mark.parametrize("strength", [lambda rng: 2, lambda rng: rng.randint(1, 9)])
@pytest.mark.parametrize("favours", [1, -1])
def test_jurors_that_prefer_a_place_never_decide(
    size: int, strength: Callable[[Random], int], favours: int
) -> None:
    ties = 0
    for debate in range(200):
        rng = Random(f"{size}/{debate}")
        setup = panel(size).model_copy(update={"first_order": "BA" if debate % 2 else "AB"})
        verdict, _ = hold(setup, partial(_first_shown, sign=favours, strength=strength, rng=rng))
        assert verdict.valid == size
        ties += verdict.winner == "tie" and abs(verdict.p["A"] - 0.5) < 0.05
    assert ties >= 190


def test_jurors_whose_preference_of_a_place_was_learnt_never_decide() -> None:
    rng = Random(4)
    seated = panel(6)
    past = []
    for debate in range(60):
        setup = seated.model_copy(update={"first_order": "BA" if debate % 2 else "AB"})
        judge = partial(_first_shown, sign=1, strength=lambda _: 3, rng=rng)
        past.append(PastDebate(hold(setup, judge)[1]))
    known = panel(6, history=fit(past).history)
    for size in (3, 4, 5, 6):
        ballots = [
            _first_shown(JurorReading(juror, order), 1, lambda _: 3, rng)
            for juror, order in zip(known.roster[:size], (AB, BA) * 3, strict=False)
        ]
        assert aggregate(known, SIDES, ballots)[0].winner == "tie"


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
@pytest.mark.parametrize(("winner", "margin"), [("A", 1), ("B", -1)])
def test_jurors_that_see_the_winner_always_name_it(size: int, winner: str, margin: int) -> None:
    verdict, ballots = hold(panel(size), partial(_seeing, margin=margin))
    assert verdict.winner == winner
    assert verdict.p[winner] > 0.75
    assert len(ballots) == min(size, 3)


def test_the_numbers_of_the_specification_hold_for_two_contenders_and_three() -> None:
    ballots = [leaning(AB, 1), leaning(AB, 2, juror="x"), leaning(BA, 1, juror="y")]
    verdict, filled = aggregate(panel(), SIDES, ballots)
    z = math.sqrt(3) * 0.5 * ((X1 + 2 / 1.5 + 0.35) / 2 + X1)
    assert verdict.z == pytest.approx(z)
    assert verdict.p["A"] == pytest.approx(1 / (1 + math.exp(-0.9 * z)))
    assert verdict.p["A"] + verdict.p["B"] == pytest.approx(1)
    assert filled[0].signal == pytest.approx({"A": X1, "B": -X1})
    assert (filled[0].weight, filled[0].pos, filled[0].sd) == (1.0, 0.0, 1.5)
    orders = [("1", "2", "3"), ("2", "3", "1"), ("3", "1", "2")]
    points = {"1": 5, "2": 8, "3": 6}
    ballots = [ballot(order, points, "2", juror=f"j{n}") for n, order in enumerate(orders)]
    verdict, _ = aggregate(panel(), THREE, ballots)
    assert verdict.winner == "2"
    assert sum(verdict.p.values()) == pytest.approx(1)
    assert verdict.p["2"] > verdict.p["3"] > verdict.p["1"]


def test_a_measured_lean_is_taken_off_a_margin_is_clipped_and_a_contradiction_adds_nothing() -> (
    None
):
    history = {"x": JurorHistory(ballots=20, pos=1.0, sd=2.0, weight=0.5)}
    setup = panel(history=history)
    odd = ballot(AB, {"A": 7, "B": 4}, "B", contradictory=True)
    cast = [leaning(AB, 1, juror="x"), leaning(BA, 9, juror="x"), odd]
    _, filled = aggregate(setup, SIDES, cast)
    assert [one.signal for one in filled] == [
        pytest.approx({"A": by, "B": -by}) for by in (0.35, 2.85, 2.0)
    ]
    assert filled[0].weight == 0.5


def test_one_ballot_is_no_verdict_and_one_order_alone_only_where_leans_are_measured() -> None:
    verdict, _ = aggregate(panel(), SIDES, [leaning(AB, 3), spoilt(BA, "y"), spoilt(AB, "z")])
    assert (verdict.winner, verdict.p, verdict.z) == (None, {}, None)
    assert (verdict.valid, verdict.invalid) == (1, 2)
    assert "at least 2" in verdict.problem
    ballots = [leaning(AB, 2), leaning(AB, 2, juror="online/juror-1")]
    unknown, _ = aggregate(panel(), SIDES, ballots)
    assert unknown.winner is None
    assert "same order" in unknown.problem
    known, _ = aggregate(panel(history=KNOWN), SIDES, ballots)
    assert known.winner == "A"
    assert known.z == pytest.approx(math.sqrt(2) * (2 / 1.5 + 0.35))


def test_an_unmeasured_panel_ties_when_the_winner_never_won_from_the_second_place() -> None:
    ballots = [leaning(AB, 6), leaning(AB, 6, juror="x"), leaning(BA, -1, juror="y")]
    verdict, _ = aggregate(panel(), SIDES, ballots)
    assert (verdict.winner, verdict.z, verdict.p) == ("tie", 0.0, {"A": 0.5, "B": 0.5})
    assert verdict.order_alone
    history = {name: JurorHistory(ballots=10) for name in ("online/juror-0", "x", "y")}
    known, _ = aggregate(panel(history=history), SIDES, ballots)
    assert (known.winner, known.order_alone) == ("A", False)
    even = [leaning(AB, 0), leaning(BA, 0, juror="y")]
    verdict, _ = aggregate(panel(), SIDES, even)
    assert (verdict.winner, verdict.order_alone) == ("tie", False)


def test_an_audit_is_measured_and_decides_nothing() -> None:
    ballots = [leaning(AB, 1), leaning(BA, 1, juror="y")]
    audit = leaning(BA, -9, audit=True)
    verdict, filled = aggregate(panel(), SIDES, [*ballots, audit])
    assert verdict == aggregate(panel(), SIDES, ballots)[0]
    assert filled[2].signal == pytest.approx({"A": -2.85, "B": 2.85})


def test_strict_panels_ask_in_both_orders_and_a_juror_that_disagrees_with_itself_ties() -> None:
    def judge(reading: JurorReading) -> Ballot:
        steady = reading.juror.name != "juror-0"
        return _seeing(reading, 2 if steady or reading.order == AB else -2)

    setup = panel(4, mode=PanelMode.STRICT)
    assert len(next_readings(setup, SIDES, ())) == 6
    _, ballots = hold(setup, partial(_seeing, margin=0))
    assert len({(item.juror, item.order) for item in ballots}) == len(ballots) == 8
    assert next_readings(setup, SIDES, ballots[:7])[0].order == ballots[7].order
    verdict, ballots = hold(setup, judge)
    own = [item for item in ballots if item.juror == "online/juror-0"]
    assert {item.order for item in own} == {AB, BA}
    assert [item.signal for item in own] == [{"A": 0.0, "B": 0.0}] * 2
    assert verdict.winner == "A"
    verdict, filled = aggregate(setup, SIDES, [leaning(AB, 9), spoilt(BA)])
    assert (verdict.winner, filled[0].weight) == (None, 0.0)  # one order is not enough


def test_effective_votes_follow_the_measured_correlation() -> None:
    ballots = [leaning(AB, 1, juror="x"), leaning(BA, 1, juror="y"), leaning(AB, 1, juror="z")]
    assert aggregate(panel(), SIDES, ballots)[0].effective_votes is None
    for correlation, votes in ((0.0, 3.0), (0.5, 1.5), (1.0, 1.0)):
        verdict, _ = aggregate(panel(correlation=correlation), SIDES, ballots)
        assert verdict.effective_votes == pytest.approx(votes)


THREE = ("1", "2", "3")


def test_three_contenders_each_preferred_when_first_are_a_tie() -> None:
    def judge(reading: JurorReading) -> Ballot:
        first = reading.order[0]
        strength = 6 + int(reading.juror.name[-1])
        points = {side: strength if side == first else 4 for side in THREE}
        return ballot(reading.order, points, first, juror=reading.juror.ref)

    verdict, _ = hold(panel(3), judge, THREE)
    assert verdict.winner == "tie"
    assert verdict.p == pytest.approx(dict.fromkeys(THREE, 1 / 3))


BALLOTS = st.lists(
    st.tuples(st.sampled_from([AB, BA]), st.integers(-9, 9)), min_size=2, max_size=6
).map(
    lambda items: [
        leaning(order, m, juror=f"online/juror-{n}") for n, (order, m) in enumerate(items)
    ]
)
HISTORIES = st.sampled_from([{}, KNOWN])


@given(
    ballots=BALLOTS,
    history=HISTORIES,
    orders=st.lists(st.sampled_from([AB, BA]), min_size=1, max_size=6),
    seed=st.randoms(),
)
def test_a_reply_that_cannot_be_read_moves_nothing(
    ballots: list[Ballot],
    history: dict[str, JurorHistory],
    orders: list[tuple[str, ...]],
    seed: Random,
) -> None:
    setup = panel(history=history)
    mixed = [*ballots, *(spoilt(order, f"online/spoilt-{n}") for n, order in enumerate(orders))]
    seed.shuffle(mixed)
    clean, spoiled = (aggregate(setup, SIDES, items)[0] for items in (ballots, mixed))
    assert spoiled == clean.model_copy(update={"invalid": len(orders)})


def _swap(item: Ballot) -> Ballot:
    other = {"A": "B", "B": "A", "tie": "tie"}
    scores = item.scores or {}
    return item.model_copy(
        update={
            "order": tuple(other[side] for side in item.order),
            "scores": {other[side]: sheet for side, sheet in scores.items()},
            "verdict": other[str(item.verdict)],
        }
    )


@given(ballots=BALLOTS, history=HISTORIES)
def test_exchanged_sides_mirror_it(ballots: list[Ballot], history: dict[str, JurorHistory]) -> None:
    setup = panel(history=history)
    verdict, _ = aggregate(setup, SIDES, ballots)
    mirrored, _ = aggregate(setup, SIDES, [_swap(item) for item in ballots])
    assert mirrored.winner == {"A": "B", "B": "A"}.get(str(verdict.winner), verdict.winner)
    if verdict.p:
        assert mirrored.p["A"] == pytest.approx(verdict.p["B"])


@given(ballots=BALLOTS, history=HISTORIES, seed=st.randoms())
def test_the_sequence_of_ballots_does_not_matter(
    ballots: list[Ballot], history: dict[str, JurorHistory], seed: Random
) -> None:
    setup = panel(history=history)
    shuffled = list(ballots)
    seed.shuffle(shuffled)
    assert aggregate(setup, SIDES, shuffled)[0] == aggregate(setup, SIDES, ballots)[0]


@settings(max_examples=100)
@given(ballots=BALLOTS, history=HISTORIES, at=st.integers(0, 5), more=st.integers(1, 9))
def test_a_better_ballot_never_hurts_a_side(
    ballots: list[Ballot], history: dict[str, JurorHistory], at: int, more: int
) -> None:
    setup = panel(history=history)
    before, _ = aggregate(setup, SIDES, ballots)
    at %= len(ballots)
    item = ballots[at]
    scores = item.scores or {}
    margin = scores["A"]["logic"] - scores["B"]["logic"]
    better = leaning(item.order, min(9, margin + more), juror=item.juror)
    after, _ = aggregate(setup, SIDES, [*ballots[:at], better, *ballots[at + 1 :]])
    if before.p:
        assert after.p["A"] >= before.p["A"] - 1e-9


# --- Which readings a panel asks for --------------------------------------------------------------


def test_three_jurors_start_at_once_in_alternating_orders() -> None:
    readings = next_readings(panel(), SIDES, ())
    assert [reading.juror.name for reading in readings] == ["juror-0", "juror-1", "juror-2"]
    assert [reading.order for reading in readings] == [AB, BA, AB]
    other = panel().model_copy(update={"first_order": "BA"})
    assert [reading.order for reading in next_readings(other, SIDES, ())] == [BA, AB, BA]
    # With three contenders, juror i starts at contender i.
    orders = [reading.order for reading in next_readings(panel(), ("1", "2", "3"), ())]
    assert orders == [("1", "2", "3"), ("2", "3", "1"), ("3", "1", "2")]


def test_an_unclear_panel_asks_one_at_a_time_up_to_six_in_balance() -> None:
    _, ballots = hold(panel(9), partial(_seeing, margin=0))
    assert len(ballots) == 6
    assert [item.order for item in ballots].count(AB) == 3
    assert len({item.juror for item in ballots}) == 6
    fourth = next_readings(panel(9), SIDES, ballots[:3])
    assert [(it.juror.name, it.order) for it in fourth] == [("juror-3", BA)]
    assert len(hold(panel(4), partial(_seeing, margin=0))[1]) == 4  # a small roster is used up
    assert next_readings(panel(0), SIDES, ()) == ()


def test_invalid_ballots_leave_no_panel_lopsided_and_an_interrupted_one_goes_on() -> None:
    ballots = [leaning(AB, 0), spoilt(BA, "online/juror-1"), leaning(AB, 0, juror="online/juror-2")]
    (fourth,) = next_readings(panel(), SIDES, ballots)
    assert fourth.order == BA
    ballots.append(leaning(BA, 0, juror="online/juror-3"))
    (fifth,) = next_readings(panel(), SIDES, ballots)
    assert fifth.order == BA
    done = [leaning(BA, 0, juror="online/juror-1")]
    missing = [(it.juror.name, it.order) for it in next_readings(panel(), SIDES, done)]
    assert missing == [("juror-0", AB), ("juror-2", AB)]
    setup = _seat(_known())
    first = next_readings(setup, SIDES, ())
    assert next_readings(setup, SIDES, [_seeing(first[1])]) == first[:1]


def test_an_audit_asks_each_other_order_once_the_verdict_is_complete() -> None:
    _, ballots = hold(panel(audit=True), _seeing)
    audits = [(item.juror, item.order) for item in ballots if item.audit]
    assert audits == [("online/juror-0", BA), ("online/juror-1", AB), ("online/juror-2", BA)]


# --- Panels that the model of jurors seats, stops and decides -------------------------------------


ROSTER = jurors(8)


def _known(**changes: object) -> Fit:
    one = JurorFit(family="f", ballots=100, lean=0.5, spread=1.5, named=0.1, skill_error=0.1)
    fitted = {
        juror.ref: one.model_copy(
            update={"family": juror.family, "skill": 1 + at / 10, "lean_error": at / 100}
        )
        for at, juror in enumerate(ROSTER)
    }
    found = Fit(
        number=7, debates=500, evidence=9.0,
        shared=0.3, kin=0.05, people=0.7, worth=0.2, jurors=fitted,
    )  # fmt: skip
    return found.model_copy(update=changes)


def _seat(fit: Fit | None, ordinal: int = 1, seed: int = 0) -> PanelSetup:
    return seat_panel(ROSTER, (), ordinal=ordinal, seed=seed, learnt=PanelFit(model=fit))


def _seeing(reading: JurorReading, margin: int = 2) -> Ballot:
    return leaning(reading.order, margin, juror=reading.juror.ref, audit=reading.audit)


def test_a_verdict_is_the_models_and_says_what_it_rests_on() -> None:
    fit, setup = _known(), _seat(_known())
    ballots = [
        leaning(AB, 2, juror=ROSTER[0].ref),
        leaning(BA, 1, juror=ROSTER[1].ref),
        leaning(AB, -1, juror=ROSTER[2].ref),
    ]
    verdict, filled = aggregate(setup, SIDES, ballots)
    said = {
        one.juror: signal(fit, one.juror, 1 if one.order == AB else -1, margin, named)
        for one, margin, named in zip(ballots, (2, 1, -1), (1, 1, -1), strict=True)
    }
    mean, variance, p = posterior(fit, said)
    assert verdict.p["A"] == pytest.approx(p)
    assert verdict.z == pytest.approx(mean / math.sqrt(variance))
    assert (verdict.winner, verdict.rule, verdict.fit) == ("A", "model", 7)
    assert verdict.variance == pytest.approx(variance)
    assert verdict.gain is not None
    assert [(one.signal or {})["A"] for one in filled] == pytest.approx(list(said.values()))
    whole = sum((one.weight or 0) * (one.signal or {})["A"] for one in filled)
    assert whole == pytest.approx(mean)
    assert {one.pos for one in filled} == {0.5}


def test_exchanging_the_sides_mirrors_the_verdict_and_a_split_is_a_tie() -> None:
    setup = _seat(_known())
    ballots = [leaning(AB, 2, juror=ROSTER[0].ref), leaning(BA, -1, juror=ROSTER[1].ref)]
    flipped = [leaning(BA, -2, juror=ROSTER[0].ref), leaning(AB, 1, juror=ROSTER[1].ref)]
    one, other = (aggregate(setup, SIDES, cast)[0] for cast in (ballots, flipped))
    assert one.p["A"] == pytest.approx(other.p["B"])
    fair = _known(jurors={ref: one.model_copy(update={"skill": 1.0, "lean": 0.0, "named": 0.0})
                          for ref, one in _known().jurors.items()})  # fmt: skip
    split = [leaning(AB, 2, juror=ROSTER[0].ref), leaning(BA, -2, juror=ROSTER[1].ref)]
    assert aggregate(_seat(fair), SIDES, split)[0].winner == TIE


def test_several_contenders_are_judged_by_contrasts() -> None:
    setup = _seat(_known())
    orders = [("A", "B", "C"), ("B", "C", "A"), ("C", "A", "B")]
    points = {"A": 9, "B": 6, "C": 4}
    cast = [
        ballot(order, points, "A", juror=juror.ref)
        for juror, order in zip(ROSTER[:3], orders, strict=True)
    ]
    verdict = aggregate(setup, orders[0], cast)[0]
    assert (verdict.winner, verdict.rule) == ("A", "model")
    assert verdict.p["A"] > verdict.p["B"] > verdict.p["C"]
    assert sum(verdict.p.values()) == pytest.approx(1)


def test_those_who_tell_most_are_asked_until_no_call_is_worth_it() -> None:
    setup = _seat(_known())
    assert [juror.ref for juror in setup.roster[:2]] == ["online/juror-7", "online/juror-6"]
    clear, read = hold(setup, lambda reading: _seeing(reading, 8))
    assert 2 <= len(read) <= 3
    assert some(clear.gain) < WORTHWHILE
    margins = {ROSTER[7].ref: 2, ROSTER[6].ref: -2}
    split, read = hold(setup, lambda reading: _seeing(reading, margins.get(reading.juror.ref, 0)))
    assert 3 < len(read) <= 8
    assert some(split.gain) < WORTHWHILE or len(read) == 8


def test_a_small_roster_reads_in_other_orders_and_a_lone_juror_gives_a_verdict() -> None:
    for count in (1, 3):
        setup = seat_panel(
            ROSTER, ROSTER[count:], ordinal=1, seed=0, learnt=PanelFit(model=_known())
        )
        verdict, read = hold(setup, lambda reading: _seeing(reading, 0))
        assert len({(one.juror, one.order) for one in read}) == len(read) == 2 * count
        assert (verdict.winner, verdict.rule) == (TIE, "model")
        assert hold(setup, _seeing)[0].winner == "A"


def test_a_spoilt_ballot_is_made_up_for() -> None:
    def judge(reading: JurorReading) -> Ballot:
        if reading.juror == ROSTER[7]:
            return spoilt(reading.order, reading.juror.ref)
        return _seeing(reading, 8)

    verdict, read = hold(_seat(_known()), judge)
    assert sum(one.valid for one in read) >= 2
    assert (verdict.winner, verdict.rule) == ("A", "model")


def test_the_balanced_rule_decides_where_held_back_ballots_bear_the_model_out_less() -> None:
    setup = _seat(_known(ahead=-1.6))
    verdict, read = hold(setup, lambda reading: _seeing(reading, 8))
    assert (verdict.winner, verdict.rule, len(read)) == ("A", "", 3)
    assert hold(_seat(_known(ahead=-1.4)), _seeing)[0].rule == "model"


def test_jurors_that_see_nothing_weigh_nothing_and_are_heard_every_fifth_debate() -> None:
    blind = {
        ref: one.model_copy(update={"sees": 0.1, "skill_error": 0.9, "ballots": 60})
        for ref, one in list(_known().jurors.items())[4:]
    }
    fit = _known(jurors=_known().jurors | blind)
    sat = [
        seat_panel(ROSTER, (), ordinal=ordinal, seed=0, learnt=PanelFit(model=fit))
        for ordinal in range(1, 11)
    ]
    assert [setup.wave for setup in sat] == [0] * 10  # the able ones are known well enough
    first = [setup.roster[0].ref in blind for setup in sat]
    assert first == [False] * 4 + [True] + [False] * 4 + [True]
    verdict, ballots = hold(sat[4], lambda it: _seeing(it, -9 if it.juror.ref in blind else 2))
    assert verdict.winner == "A"
    assert {one.weight for one in ballots if one.juror in blind} == {0}


def test_six_sit_while_skills_are_little_known_and_the_least_known_explore() -> None:
    unsure = {
        ref: one.model_copy(update={"skill_error": 0.35, "ballots": 20})
        for ref, one in _known().jurors.items()
    }
    setup = _seat(_known(jurors=unsure, debates=100))
    assert (setup.wave, len(next_readings(setup, SIDES, ()))) == (6, 6)
    assert _seat(_known(jurors=unsure, debates=200)).wave == 0  # it knows as much as it will
    known = _known().jurors
    known = known | {ROSTER[0].ref: known[ROSTER[0].ref].model_copy(update={"ballots": 40})}
    assert _seat(_known(jurors=known), ordinal=5).roster[0] == ROSTER[0]
    assert _seat(_known(jurors=known), ordinal=6).roster[0] != ROSTER[0]
    new = {ref: one for ref, one in known.items() if ref != ROSTER[3].ref}
    assert _seat(_known(jurors=new), ordinal=6).roster[0] == ROSTER[3]


def test_a_new_juror_is_read_and_weighs_nothing_yet() -> None:
    new = {ref: one for ref, one in _known().jurors.items() if ref != ROSTER[3].ref}
    setup = _seat(_known(jurors=new))
    ballots = [leaning(AB, 2, juror=ROSTER[0].ref), leaning(BA, 1, juror=ROSTER[1].ref)]
    stranger = leaning(AB, -9, juror=ROSTER[3].ref)
    verdict, filled = aggregate(setup, SIDES, [*ballots, stranger])
    assert verdict.p == aggregate(setup, SIDES, ballots)[0].p
    assert filled[2].weight == 0
    assert filled[2].signal is not None


def test_the_audit_asks_the_juror_whose_lean_is_known_least() -> None:
    seeds = [seed for seed in range(200) if _seat(_known(), seed=seed).audit]
    assert 3 <= len(seeds) <= 20
    _, read = hold(_seat(_known(), seed=seeds[0]), lambda reading: _seeing(reading, 8))
    assert [one.juror for one in read if one.audit] == ["online/juror-7"]


def test_without_a_fit_or_with_another_mode_nothing_changes() -> None:
    old = _seat(None)
    assert (old.fit, old.wave) == (None, 0)
    strict = seat_panel(
        ROSTER, (), ordinal=1, seed=0, mode=PanelMode.STRICT, learnt=PanelFit(model=_known())
    )
    verdict, _ = hold(strict, _seeing)
    assert verdict.rule == ""
    agreed = [leaning(AB, 1), leaning(BA, 1, juror="y")]
    assert aggregate(panel(), SIDES, agreed)[0].gain is None


@pytest.mark.parametrize(
    "strength",
    [
        lambda rng: 3,
        pytest.param(lambda rng: -3, marks=pytest.mark.slow),
        pytest.param(lambda rng: rng.randint(1, 9), marks=pytest.mark.slow),
        lambda rng: -rng.randint(1, 9),
    ],
    ids=["first", "second", "first, by chance", "second, by chance"],
)
def test_order_alone_never_decides_at_any_moment(strength: Callable[[Random], int]) -> None:
    """From the first debate on, over every refit, not once."""
    assert _decided(lambda rng, reading: strength(rng) * (1 if reading.order == AB else -1)) == []


def test_jurors_that_toss_a_coin_decide_next_to_nothing_from_the_first_debate_on() -> None:
    decided = _decided(lambda rng, reading: rng.choice((-1, 1)) * rng.randint(1, 9), debates=200)
    assert len(decided) <= 4


def _decided(judge: Callable[[Random, JurorReading], int], debates: int = 150) -> list[int]:
    rng, past, found = Random(8), list[PastDebate](), []
    learnt, model = fit(()), fit_jurors(())
    for number in range(1, debates + 1):
        setup = seat_panel(
            ROSTER,
            (),
            ordinal=number,
            seed=number,
            learnt=PanelFit(history=learnt.history, model=model),
        )
        verdict, ballots = hold(setup, lambda reading: _seeing(reading, judge(rng, reading)))
        if verdict.winner not in (TIE, None):
            found.append(number)
        past.append(PastDebate(ballots, z=verdict.z))
        if number % 20 == 0:
            learnt, model = fit(past), fit_jurors(hear(past), model)
            assert stake_of(model, model.jurors) is not None
    return found


def test_a_panel_of_opposite_preferences_never_decides() -> None:
    """Each of its debates could look like agreement; both orders of each juror show it."""
    prefers = {juror.ref: 1 if at % 2 else -1 for at, juror in enumerate(ROSTER)}

    def judge(_: Random, reading: JurorReading) -> int:
        return 3 * prefers[reading.juror.ref] * (1 if reading.order == AB else -1)

    assert _decided(judge, debates=100) == []
    strict = seat_panel(ROSTER, (), ordinal=1, seed=1, mode=PanelMode.STRICT)
    verdict, _ = hold(strict, lambda reading: _seeing(reading, judge(Random(0), reading)))
    assert verdict.winner == TIE
