"""How far a reveal moves people, by what they answered before and after it."""

from __future__ import annotations

import pytest

from engine.chat.answers.answers import to_markdown
from engine.chat.answers.statistics import AgreementAnswer
from engine.stats.agreement import measure_agreement, measure_anchoring
from engine.stats.row import row_of
from engine.store import DebateRecord
from engine.values.judging import Question
from tests.kit import answers_of, make_debate, make_row, make_vote


def test_it_counts_who_came_to_the_jury_and_who_left_it() -> None:
    moved = (("B", "A"), ("B", "A"), ("tie", "A"), ("B", "B"), ("A", "A"), ("A", "tie"))
    rows = [make_row(n, jury="A", revised=moved) for n in range(20)]
    found = measure_anchoring(rows)
    assert (found.toward.n, found.away.n) == (80, 40)
    assert found.toward.value == pytest.approx(0.75)
    assert found.away.value == pytest.approx(0.5)
    assert found.toward.low == found.toward.high == pytest.approx(0.75)  # every topic says so


def test_below_thirty_people_there_are_too_few() -> None:
    rows = [make_row(n, jury="A", revised=(("B", "A"),)) for n in range(29)]
    assert measure_anchoring(rows).toward.value is None
    told = to_markdown(AgreementAnswer(agreement=measure_agreement(rows)))
    assert "disagreed with the jury, too few (29) moved to" in told


def test_where_nobody_was_asked_again_nothing_is_told_of_it() -> None:
    told = to_markdown(AgreementAnswer(agreement=measure_agreement([make_row()])))
    assert "Asked again" not in told


def test_without_a_verdict_of_a_blind_jury_nobody_can_come_to_it() -> None:
    found = measure_anchoring([make_row(jury=None, revised=(("A", "B"),))])
    assert (found.toward.n, found.away.n) == (0, 0)


def test_only_gold_votes_and_clear_answers_are_compared() -> None:
    again = {"question": Question.AGAIN, "gold": False, "judge_visible": True}
    answers = answers_of(
        make_vote(1, "weak"),
        make_vote(2, "B"),
        make_vote(3, "B", gold=False, starter=True),
        make_vote(1, "A", **again),
        make_vote(2, "A+B", ambiguous=True, **again),
        make_vote(3, "A", **again),
        make_vote(4, "A", **again),
    )
    row = row_of(DebateRecord(make_debate(), (), (), None, answers, ()))
    assert row is not None
    assert row.revised == (("tie", "A"),)
    assert row.gold == {"tie": 1, "B": 1}  # what comes after the reveal counts in no tally
