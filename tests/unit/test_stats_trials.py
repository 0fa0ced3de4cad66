"""Right answers by protocol: what is counted, and what 200 simulated series recover."""

from math import log
from typing import Any

import pytest

from bench.wheel.trials import GAP, recover_gap
from engine.stats.comparisons import Trials, measure_trials, tell_trials
from engine.stats.row import JurorBallot, KnownAnswer, Row
from tests.kit import make_row


def tried(
    n: int, protocol: str = "debate", right: str = "A", advocate: str = "", **fields: Any
) -> Row:
    trial = KnownAnswer(protocol, frozenset(right), advocate)
    return make_row(n, trial=trial, topic=str(n), **fields)


def measured(rows: list[Row]) -> Trials:
    found = measure_trials(rows)
    assert found is not None
    return found


def figures(rows: list[Row]) -> Any:
    (one,) = measured(rows).protocols
    return one


def test_debates_without_a_known_answer_have_no_figures() -> None:
    assert measure_trials([make_row()]) is None


def test_a_winner_counts_whole_and_a_tie_half() -> None:
    rows = [tried(n, jury="A", people="B") for n in range(20)]
    rows += [tried(n, jury="tie", people=None) for n in range(20, 30)]
    rows += [tried(n, jury="B", right="B", people="B") for n in range(30, 40)]
    found = figures(rows)
    assert found.jury.value == (20 + 5 + 10) / 40
    assert found.people.value == 10 / 30
    assert (found.jury.n, found.people.n, found.debates) == (40, 30, 40)


def test_labels_of_pages_are_peoples_answers_beside_the_chats() -> None:
    rows = [tried(n, people="B", web="A") for n in range(20)]
    rows += [tried(n, people=None, web="A") for n in range(20, 40)]
    found = figures(rows)
    assert (found.people.n, found.people.value) == (60, 40 / 60)


def test_at_a_round_table_several_may_be_right() -> None:
    models = dict.fromkeys("123", "x/y")
    rows = [
        tried(n, "roundtable", "12", jury="2" if n % 2 else "3", models=models) for n in range(40)
    ]
    assert figures(rows).jury.value == 0.5
    nobody = [tried(n, "roundtable", "", jury="2", models=models) for n in range(40)]
    assert figures(nobody).jury.value == 0


def test_jurors_count_one_by_one() -> None:
    def ballot(juror: str, verdict: str) -> JurorBallot:
        return JurorBallot(juror, "f", ("A", "B"), False, verdict, 0.0)

    readings = (ballot("x", "A"), ballot("y", "B"))
    rows = [tried(n, readings=readings, blind=True) for n in range(20)]
    assert (figures(rows).jurors.n, figures(rows).jurors.value) == (40, 0.5)


def test_the_agent_score_difference_is_in_log_odds_of_who_argued() -> None:
    odds = log(0.8 / 0.2)
    both = [tried(n, p_a=0.8) for n in range(30)]
    assert figures(both).scores.value == pytest.approx(2 * odds)
    alone = [
        tried(n, "consultancy", "A" if n % 2 else "B", advocate="A", p_a=0.8) for n in range(40)
    ]
    assert figures(alone).scores.value == pytest.approx(0)  # believed whether right or wrong
    assert figures([tried(n, "direct", p_a=0.8) for n in range(30)]).scores.n == 0
    assert figures(both).brier.value == pytest.approx(0.04)


def test_what_is_told_has_each_protocol_and_each_gap() -> None:
    rows = [tried(n, protocol) for protocol in ("open", "direct") for n in range(30)]
    shares, gaps, bins = tell_trials(measured([*rows, *(tried(n, p_a=0.9) for n in range(30))]))
    assert [row[0] for row in shares[2]] == ["direct", "debate", "open"]
    assert [row[0] for row in gaps[2]] == [
        "direct less debate",
        "direct less open",
        "debate less open",
    ]
    assert bins[2][0][0] == "0.8 to 1.0"


@pytest.mark.slow
def test_the_gap_of_debate_and_consultancy_is_recovered_and_its_intervals_hold() -> None:
    found = recover_gap(series=200, topics=100)
    assert abs(found.mean - GAP) < 0.02
    assert 0.93 <= found.covered <= 0.97, found
