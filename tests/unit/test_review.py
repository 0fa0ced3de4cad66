"""Which revealed debates are offered for more answers."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given, strategies as st

from engine.store import DebateRecord
from engine.values.judging import Verdict
from engine.votes.offers import DRAWN, OFFERED, Doubt, doubt_of, offer
from tests.kit import answers_of, make_debate, make_vote

TODAY = date(2026, 3, 1)
PART = st.none() | st.floats(0, 1)
DOUBTS = st.lists(st.tuples(PART, PART), max_size=20).map(
    lambda parts: [Doubt(f"d{n:02}", *part) for n, part in enumerate(parts)]
)


def record(p_a: float, *options: str, blind: bool = True) -> DebateRecord:
    verdict = Verdict(winner="A", p={"A": p_a, "B": 1 - p_a}, valid=3, invalid=0, blind=blind)
    votes = [make_vote(n, option) for n, option in enumerate(options)]
    return DebateRecord(make_debate(), (), (), verdict, answers_of(*votes), ())


@pytest.mark.parametrize(
    ("p_a", "options", "difference", "lead"),
    [
        (0.8, "AAAB", 0.05, 0.6),
        (0.9, "BBBB", 0.9, 0.8),
        (0.5, "AB", 0.0, 0.0),
        (0.3, "A", 0.7, 0.4),
    ],
)
def test_it_is_unclear_where_people_and_jury_differ_or_the_jury_wavers(
    p_a: float, options: str, difference: float, lead: float
) -> None:
    found = doubt_of(record(p_a, *options))
    assert found[1:] == pytest.approx((difference, lead))


def test_a_tie_and_both_weak_count_for_both_sides_alike() -> None:
    assert doubt_of(record(0.5, "tie", "weak")).difference == pytest.approx(0)
    assert doubt_of(record(1.0, "A", "tie")).difference == pytest.approx(0.25)


def test_votes_that_are_not_gold_tell_nothing() -> None:
    seen = make_vote(1, "B", gold=False, judge_visible=True)
    told = DebateRecord(make_debate(), (), (), record(0.9).verdict, answers_of(seen), ())
    assert doubt_of(told).difference is None


def test_a_panel_that_saw_names_is_not_compared() -> None:
    assert doubt_of(record(0.5, "A", blind=False))[1:] == (None, None)


def test_by_turns_what_differs_most_and_what_was_closest_then_one_at_random() -> None:
    doubts = [Doubt(f"d{n}", n / 10, n / 10) for n in range(1, 10)]
    offers = offer(doubts, TODAY)
    told = [(one.debate, one.why) for one in offers[:4]]
    assert told == [("d9", "differ"), ("d1", "close"), ("d8", "differ"), ("d2", "close")]
    assert offers[4].why == "drawn"
    assert offers[4].debate in {"d3", "d4", "d5", "d6", "d7"}


def test_another_day_draws_another_debate() -> None:
    doubts = [Doubt(f"d{n}", n / 50, n / 50) for n in range(50)]
    drawn = {offer(doubts, TODAY + timedelta(days=n))[-1].debate for n in range(20)}
    assert len(drawn) > 10


@given(doubts=DOUBTS, answered=st.sets(st.integers(0, 19)))
def test_at_most_five_each_once_and_the_same_all_day(
    doubts: list[Doubt], answered: set[int]
) -> None:
    offers = offer(doubts, TODAY)
    assert len({one.debate for one in offers}) == len(offers) == min(OFFERED, len(doubts))
    assert offer(reversed(doubts), TODAY) == offers
    assert sum(one.why == "drawn" for one in offers) >= min(DRAWN, max(0, len(doubts) - 4))
    left = [doubt for n, doubt in enumerate(doubts) if n not in answered]
    still = {one.debate for one in offer(left, TODAY)}
    assert {one.debate for one in offers if one.debate in {d.debate for d in left}} <= still
