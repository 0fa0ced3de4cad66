"""What a panel's ballots come to."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from engine.jury.aggregate import aggregate
from engine.jury.ballot import Reading
from engine.jury.history import fit
from engine.store.journal import PastDebate
from engine.values.debate import JurorHistory, PanelMode
from engine.values.judging import Ballot
from tests.slow import slow_after
from tests.unit.jury_cases import AB, BA, SIDES, ballot, hold, jurors, leaning, panel, spoilt

KNOWN = {juror.ref: JurorHistory(ballots=10) for juror in jurors(6)}
X1 = 1 / 1.5 + 0.35  # the signal of a margin of one point with its verdict


def _first_shown(
    reading: Reading, sign: int, strength: Callable[[Random], int], rng: Random
) -> Ballot:
    margin = sign * strength(rng) * (1 if reading.order == AB else -1)
    return leaning(reading.order, margin, juror=reading.juror.ref)


@pytest.mark.parametrize("size", slow_after(2, [3, 6, 4, 5]))
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
            _first_shown(Reading(juror, order), 1, lambda _: 3, rng)
            for juror, order in zip(known.roster[:size], (AB, BA) * 3, strict=False)
        ]
        assert aggregate(known, SIDES, ballots).verdict.winner == "tie"


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
@pytest.mark.parametrize(("winner", "margin"), [("A", 1), ("B", -1)])
def test_jurors_that_see_the_winner_always_name_it(size: int, winner: str, margin: int) -> None:
    verdict, ballots = hold(
        panel(size), lambda reading: leaning(reading.order, margin, juror=reading.juror.ref)
    )
    assert verdict.winner == winner
    assert verdict.p[winner] > 0.75
    assert len(ballots) == min(size, 3)


def test_the_numbers_of_the_specification() -> None:
    ballots = [leaning(AB, 1), leaning(AB, 2, juror="x"), leaning(BA, 1, juror="y")]
    verdict, filled = aggregate(panel(), SIDES, ballots)
    z = math.sqrt(3) * 0.5 * ((X1 + 2 / 1.5 + 0.35) / 2 + X1)
    assert verdict.z == pytest.approx(z)
    assert verdict.p["A"] == pytest.approx(1 / (1 + math.exp(-0.9 * z)))
    assert verdict.p["A"] + verdict.p["B"] == pytest.approx(1)
    assert filled[0].signal == pytest.approx({"A": X1, "B": -X1})
    assert (filled[0].weight, filled[0].pos, filled[0].sd) == (1.0, 0.0, 1.5)


def test_a_measured_lean_is_taken_off_and_a_margin_is_clipped() -> None:
    history = {"x": JurorHistory(ballots=20, pos=1.0, sd=2.0, weight=0.5)}
    setup = panel(history=history)
    _, filled = aggregate(setup, SIDES, [leaning(AB, 1, juror="x"), leaning(BA, 9, juror="x")])
    assert filled[0].signal == pytest.approx({"A": 0.35, "B": -0.35})
    assert filled[1].signal == pytest.approx({"A": 2.85, "B": -2.85})
    assert filled[0].weight == 0.5


def test_a_contradictory_verdict_adds_nothing() -> None:
    odd = ballot(AB, {"A": 7, "B": 4}, "B", contradictory=True)
    _, filled = aggregate(panel(), SIDES, [odd, leaning(BA, 1, juror="y")])
    assert filled[0].signal == pytest.approx({"A": 2.0, "B": -2.0})


def test_fewer_than_two_valid_ballots_are_no_verdict() -> None:
    verdict, _ = aggregate(panel(), SIDES, [leaning(AB, 3), spoilt(BA, "y"), spoilt(AB, "z")])
    assert (verdict.winner, verdict.p, verdict.z) == (None, {}, None)
    assert (verdict.valid, verdict.invalid) == (1, 2)
    assert "at least 2" in verdict.problem


def test_one_order_alone_decides_only_with_jurors_whose_lean_is_measured() -> None:
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


def test_an_audit_is_measured_and_decides_nothing() -> None:
    ballots = [leaning(AB, 1), leaning(BA, 1, juror="y")]
    audit = leaning(BA, -9, audit=True)
    verdict, filled = aggregate(panel(), SIDES, [*ballots, audit])
    assert verdict == aggregate(panel(), SIDES, ballots).verdict
    assert filled[2].signal == pytest.approx({"A": -2.85, "B": 2.85})


def test_strict_panels_count_a_juror_that_disagrees_with_itself_as_a_tie() -> None:
    def judge(reading: Reading) -> Ballot:
        steady = reading.juror.name != "juror-0"
        return leaning(
            reading.order, 2 if steady or reading.order == AB else -2, juror=reading.juror.ref
        )

    verdict, ballots = hold(panel(4, mode=PanelMode.STRICT), judge)
    own = [item for item in ballots if item.juror == "online/juror-0"]
    assert {item.order for item in own} == {AB, BA}
    assert [item.signal for item in own] == [{"A": 0.0, "B": 0.0}] * 2
    assert verdict.winner == "A"


def test_strict_panels_ignore_a_juror_with_one_readable_order() -> None:
    ballots = [leaning(AB, 9), spoilt(BA)]
    verdict, filled = aggregate(panel(mode=PanelMode.STRICT), SIDES, ballots)
    assert verdict.winner is None
    assert filled[0].weight == 0.0


def test_effective_votes_follow_the_measured_correlation() -> None:
    ballots = [leaning(AB, 1, juror="x"), leaning(BA, 1, juror="y"), leaning(AB, 1, juror="z")]
    assert aggregate(panel(), SIDES, ballots).verdict.effective_votes is None
    for correlation, votes in ((0.0, 3.0), (0.5, 1.5), (1.0, 1.0)):
        verdict, _ = aggregate(panel(correlation=correlation), SIDES, ballots)
        assert verdict.effective_votes == pytest.approx(votes)


def _many(order: tuple[str, ...], points: dict[str, int], verdict: str, juror: str) -> Ballot:
    return ballot(order, points, verdict, juror=juror)


def test_three_contenders_are_judged_by_the_same_formulas() -> None:
    sides = ("1", "2", "3")
    orders = [("1", "2", "3"), ("2", "3", "1"), ("3", "1", "2")]
    points = {"1": 5, "2": 8, "3": 6}
    ballots = [_many(order, points, "2", f"j{n}") for n, order in enumerate(orders)]
    verdict, _ = aggregate(panel(), sides, ballots)
    assert verdict.winner == "2"
    assert sum(verdict.p.values()) == pytest.approx(1)
    assert verdict.p["2"] > verdict.p["3"] > verdict.p["1"]


def test_three_contenders_each_preferred_when_first_are_a_tie() -> None:
    sides = ("1", "2", "3")

    def judge(reading: Reading) -> Ballot:
        first = reading.order[0]
        strength = 6 + int(reading.juror.name[-1])
        points = {side: strength if side == first else 4 for side in sides}
        return _many(reading.order, points, first, reading.juror.ref)

    verdict, _ = hold(panel(3), judge, sides)
    assert verdict.winner == "tie"
    assert verdict.p == pytest.approx(dict.fromkeys(sides, 1 / 3))


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
    clean, spoiled = (aggregate(setup, SIDES, items).verdict for items in (ballots, mixed))
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
def test_exchanging_the_sides_mirrors_the_verdict(
    ballots: list[Ballot], history: dict[str, JurorHistory]
) -> None:
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
    assert aggregate(setup, SIDES, shuffled).verdict == aggregate(setup, SIDES, ballots).verdict


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


def test_a_verdict_tells_that_the_order_alone_made_it_a_tie() -> None:
    ballots = [leaning(AB, 6), leaning(AB, 6, juror="x"), leaning(BA, -1, juror="y")]
    assert aggregate(panel(), SIDES, ballots).verdict.order_alone
    history = {name: JurorHistory(ballots=10) for name in ("online/juror-0", "x", "y")}
    known, _ = aggregate(panel(history=history), SIDES, ballots)
    assert (known.winner, known.order_alone) == ("A", False)
    even = [leaning(AB, 0), leaning(BA, 0, juror="y")]
    verdict, _ = aggregate(panel(), SIDES, even)
    assert (verdict.winner, verdict.order_alone) == ("tie", False)
