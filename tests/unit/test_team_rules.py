"""What speeches, seats and teams of a team debate are worth, and what breaking a rule costs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from engine.formats.team.rules import (
    CROSS,
    JUDGE,
    JUDGE_NOTES,
    KINDS,
    OTHER,
    PUBLIC,
    USUAL,
    WEIGHTS,
    Channels,
    FreeClock,
    Scored,
    Scoring,
    count_up,
    may_read,
    overtime,
    reported,
    team_channel,
    twice_running,
)
from engine.values.debate import Turn, Violation
from engine.values.judging import Adjustment
from tests import kit

SEATS = tuple(f"{side}{number}" for side in "AB" for number in range(1, 5))
FIVE = dict.fromkeys(WEIGHTS, 5)


def turn(seat: str, round_name: str = "free-1", *, late: bool = False) -> Turn:
    """Return a speech, over its time or not."""
    over = (Violation(kind="overtime", measured=140, limit=125),) if late else ()
    words = 140 if late else 100
    fields: dict[str, Any] = {
        "seat": seat,
        "side": seat[0],
        "round": round_name,
        "limit": 125,
        "violations": over,
    }
    return kit.turn(step=f"turn/{round_name}/{seat}", words=words, **fields)


def scored(seat: str, step: str = "s", **sheet: int) -> Scored:
    """Return a scored speech of fives, with changes."""
    return Scored(step=f"{step}/{seat}", seat=seat, side=seat[0], score=USUAL.weigh(FIVE | sheet))


def costs(found: list[Adjustment]) -> dict[str, float]:
    """Return what each subject loses."""
    return {adjustment.subject: adjustment.amount for adjustment in found}


def test_a_speech_is_the_weighted_sum_of_five_criteria() -> None:
    assert WEIGHTS == {
        "logic": 0.25,
        "persuasion": 0.25,
        "expression": 0.20,
        "teamwork": 0.15,
        "rule_compliance": 0.15,
    }
    speech = scored("A1", logic=10, persuasion=8, expression=6, teamwork=4, rule_compliance=2)
    assert speech.score == pytest.approx(2.5 + 2.0 + 1.2 + 0.6 + 0.3)
    assert Scored(step="s", seat="A1", side="A", score=None).score is None


@pytest.mark.parametrize("round_name", ["opening", "cross-1", "free-3", "closing"])
def test_overtime_costs_the_team_three_and_the_speaker_two(round_name: str) -> None:
    assert costs(list(overtime(turn("B2", round_name, late=True)))) == {"B2": -2, "B": -3}
    assert not list(overtime(turn("B2", round_name)))


def test_overtime_of_a_speech_that_was_cut_tells_what_was_said_not_what_stayed() -> None:
    over = (Violation(kind="overtime", measured=128, limit=125),)
    late = kit.turn(words=125, limit=125, violations=over)
    assert {one.reason for one in overtime(late)} == {"overtime: 128 words where 125 were given"}


@pytest.mark.parametrize("kind", KINDS)
def test_only_two_reports_cost_and_only_in_cross_examination(kind: str) -> None:
    cost = {"B2": -2} if kind in ("counter_question", "attacker_answered") else {}
    assert costs(list(reported(turn("B2", "cross-1"), CROSS, [kind, kind]))) == cost
    assert not list(reported(turn("B2"), "free debate", [kind]))


def test_the_same_team_twice_running_costs_it_three() -> None:
    free = [turn("A1", "free-1"), turn("B1", "free-2"), turn("B2", "free-3"), turn("A2", "free-4")]
    assert costs(list(twice_running(free))) == {"B": -3}
    assert not list(twice_running([turn("A1", "cross-1"), turn("A2", "cross-2")]))


@given(st.integers(4, 1500), st.integers(1, 400), st.randoms(), st.data())
def test_every_seat_speaks_whatever_runs_over_and_whomever_captains_wish_for(
    team: int, speech: int, chance: Any, data: st.DataObject
) -> None:
    """As long as a speech is cut where the time of silent seats begins."""
    clock, side, spoken = FreeClock(team, speech), "A", set[str]()
    together = data.draw(st.booleans())
    while clock.runs("A") and clock.runs("B") if together else clock.runs(side):
        wishes = [f"{one}{chance.randint(1, 4)}" for one in ("AB" if together else side)]
        seats = clock.choose_both(*wishes) if together else (clock.choose(*wishes),)
        limits = {seat: clock.limits(seat, *(seats if together else ())) for seat in seats}
        for seat, (most, cut_after) in limits.items():
            words = chance.choice([1, 5, 50, 150, 151, 400, 2000, 5000])
            assert 1 <= most <= speech
            clock.spend(seat, words if cut_after is None else min(words, cut_after))
        spoken |= set(seats)
        side = OTHER[side]
    assert spoken == set(SEATS)


def test_a_captains_wish_stands_while_there_is_time_for_all() -> None:
    clock = FreeClock(1000, 150)
    assert clock.share == 150
    assert clock.choose("A2") == "A2"
    clock.spend("A2", 150)
    clock.spend("B2", 150)
    assert clock.choose("A2") == "A2"
    assert clock.limits("A2") == (150, 850 - 3 * 150)
    clock.spend("A2", 400)
    assert clock.choose("A2") == "A1"


def test_weights_and_penalties_are_settings() -> None:
    asked = {"weight_logic": 1.0, "weight_expression": 1.0, "penalty_overtime_seat": 5.0}
    scoring = Scoring.of(asked)
    sheet = dict.fromkeys(WEIGHTS, 5) | {"logic": 10}
    assert scoring.weigh(sheet) == pytest.approx(5 + 5 * 1 / 2.55)
    assert costs(list(overtime(turn("B2", late=True), scoring))) == {"B2": -5, "B": -3}
    assert Scoring.of({}) == USUAL


def test_a_seat_is_the_sum_of_its_speeches_and_a_team_of_its_seats_and_penalties() -> None:
    speeches = [scored("A1", "1"), scored("A1", "2"), scored("A2"), scored("B1")]
    late = list(overtime(turn("A1", late=True)))
    totals = count_up(speeches, late, SEATS)
    assert totals.seats["A1"] == pytest.approx(5 + 5 - 2)
    assert totals.teams == {"A": pytest.approx(8 + 5 - 3), "B": pytest.approx(5)}
    assert (totals.winner, totals.best) == ("A", "A1")
    assert totals.means["A1"] == pytest.approx((5 + 5 - 2) / 2)
    assert totals.means["A"] == pytest.approx((5 + 5 + 5 - 2 - 3) / 3)
    assert (totals.means["B"], totals.means["B2"]) == (5, 0)


def test_there_is_no_lower_bound() -> None:
    late = [found for n in range(4) for found in overtime(turn("B1", f"free-{n}", late=True))]
    totals = count_up([scored("B1")], late, SEATS)
    assert totals.seats["B1"] == -3
    assert totals.teams["B"] == -3 - 12


def test_speaking_more_often_wins_the_sum_and_not_the_mean() -> None:
    speeches = [scored("A1", str(n), logic=4) for n in range(3)] + [scored("B1", logic=10)]
    totals = count_up(speeches, [], SEATS)
    assert (totals.winner, totals.mean_winner) == ("A", "B")
    assert totals.means["A"] == pytest.approx(4.75)


def test_what_was_not_scored_counts_nowhere() -> None:
    unread = Scored(step="s", seat="A1", side="A", score=None)
    totals = count_up([unread, scored("A2")], [], SEATS)
    assert (totals.seats["A1"], totals.means["A"], totals.best) == (0, 5, "A2")
    assert count_up([unread], [], SEATS).best is None
    assert count_up([], [], SEATS).winner == "tie"


@pytest.mark.parametrize(
    ("reader", "channels"),
    [
        ("A1", {PUBLIC, "team_a"}),
        ("B4", {PUBLIC, "team_b"}),
        (JUDGE, {PUBLIC, JUDGE_NOTES}),
    ],
)
def test_each_reads_its_own_channels_and_what_is_public(reader: str, channels: set[str]) -> None:
    every = {PUBLIC, "team_a", "team_b", JUDGE_NOTES}
    assert {channel for channel in every if may_read(reader, channel)} == channels
    record = Channels()
    for channel in sorted(every):
        record.write(channel, "x", f"said in {channel}")
    for channel in every:
        heard = f"[x]\nsaid in {channel}" if channel in channels else ""
        assert record.read(reader, channel) == heard


def test_a_reader_may_ask_for_less_and_for_what_was_said_last() -> None:
    record = Channels()
    for number in range(5):
        record.write(PUBLIC, "A1", f"public {number}")
    record.write(team_channel("A"), "captain", "A2 speaks next.")
    assert "public 0" in record.read("A1", PUBLIC)
    assert record.read("A1", PUBLIC, last=2) == "[A1]\npublic 3\n\n[A1]\npublic 4"
    assert record.read("A1", team_channel("A")) == "[captain]\nA2 speaks next."
    assert record.read("B1", team_channel("A")) == ""
    assert record.read("A1", PUBLIC, last=0) == ""
