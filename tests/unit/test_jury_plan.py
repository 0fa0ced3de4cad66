"""Which readings a panel asks for."""

from __future__ import annotations

from engine.jury.ballot import Reading
from engine.jury.plan import next_readings
from engine.values.debate import PanelMode
from engine.values.judging import Ballot
from tests.unit.jury_cases import AB, BA, SIDES, hold, leaning, panel, spoilt


def _tied(reading: Reading) -> Ballot:
    return leaning(reading.order, 0, juror=reading.juror.ref, audit=reading.audit)


def test_three_jurors_start_at_once_in_alternating_orders() -> None:
    readings = next_readings(panel(), SIDES, ())
    assert [reading.juror.name for reading in readings] == ["juror-0", "juror-1", "juror-2"]
    assert [reading.order for reading in readings] == [AB, BA, AB]
    other = panel().model_copy(update={"first_order": "BA"})
    assert [reading.order for reading in next_readings(other, SIDES, ())] == [BA, AB, BA]


def test_a_clear_panel_asks_nobody_else() -> None:
    _, ballots = hold(panel(), lambda it: leaning(it.order, 2, juror=it.juror.ref))
    assert len(ballots) == 3


def test_an_unclear_panel_asks_one_at_a_time_up_to_six_in_balance() -> None:
    _, ballots = hold(panel(9), _tied)
    assert len(ballots) == 6
    assert [item.order for item in ballots].count(AB) == 3
    assert len({item.juror for item in ballots}) == 6
    fourth = next_readings(panel(9), SIDES, ballots[:3])
    assert [(it.juror.name, it.order) for it in fourth] == [("juror-3", BA)]


def test_a_small_roster_is_used_up() -> None:
    assert len(hold(panel(4), _tied)[1]) == 4
    assert next_readings(panel(0), SIDES, ()) == ()


def test_invalid_ballots_do_not_leave_the_panel_lopsided() -> None:
    ballots = [
        leaning(AB, 0, juror="online/juror-0"),
        spoilt(BA, "online/juror-1"),
        leaning(AB, 0, juror="online/juror-2"),
    ]
    (fourth,) = next_readings(panel(), SIDES, ballots)
    assert fourth.order == BA
    ballots.append(leaning(BA, 0, juror="online/juror-3"))
    (fifth,) = next_readings(panel(), SIDES, ballots)
    assert fifth.order == BA


def test_an_interrupted_panel_asks_for_what_is_missing() -> None:
    done = [leaning(BA, 0, juror="online/juror-1")]
    assert [(it.juror.name, it.order) for it in next_readings(panel(), SIDES, done)] == [
        ("juror-0", AB),
        ("juror-2", AB),
    ]


def test_an_audit_asks_each_other_order_once_the_verdict_is_complete() -> None:
    _, ballots = hold(
        panel(audit=True),
        lambda it: leaning(it.order, 2, juror=it.juror.ref, audit=it.audit),
    )
    audits = [(item.juror, item.order) for item in ballots if item.audit]
    assert audits == [("online/juror-0", BA), ("online/juror-1", AB), ("online/juror-2", BA)]


def test_a_strict_panel_asks_each_juror_in_both_orders() -> None:
    setup = panel(4, mode=PanelMode.STRICT)
    assert len(next_readings(setup, SIDES, ())) == 6
    _, ballots = hold(setup, _tied)
    assert len({(item.juror, item.order) for item in ballots}) == len(ballots) == 8
    assert next_readings(setup, SIDES, ballots[:7])[0].order == ballots[7].order


def test_with_three_contenders_juror_i_starts_at_contender_i() -> None:
    readings = next_readings(panel(), ("1", "2", "3"), ())
    assert [reading.order[0] for reading in readings] == ["1", "2", "3"]
    assert readings[1].order == ("2", "3", "1")
