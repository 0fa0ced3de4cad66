"""Thumbs on turns, and stances before and after: pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from engine.tally.questions import options_of, stance_name
from engine.tally.tally import turn_labels
from engine.values.judging import How, Question, Vote, VoteEvent
from engine.votes.closing import persuasion
from tests.kit import event, vote

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
OPENING = "turn/opening/A"


def thumb(
    number: int,
    person: int,
    option: str,
    *,
    added: bool = True,
    how: How = How.LIVE,
    step: str = OPENING,
) -> VoteEvent:
    return event(number, person, option, added=added, how=how, question=Question.TURN, step=step)


def stances(**by_person: str) -> list[Vote]:
    return [
        vote(int(person.removeprefix("p")), option).model_copy(update={"ambiguous": "+" in option})
        for person, option in by_person.items()
    ]


# --- thumbs ------------------------------------------------------------------------------


def test_the_thumb_that_is_held_is_the_label() -> None:
    events = [
        thumb(1, 7, "up"),
        thumb(2, 8, "up"),
        thumb(3, 8, "up", added=False),
        thumb(4, 9, "down"),
    ]
    labels = turn_labels(events, None)
    assert [(label.person, label.up) for label in labels] == [(7, True), (9, False)]
    assert {(label.step, label.blind) for label in labels} == {(OPENING, True)}


def test_of_both_thumbs_the_last_stands_until_it_is_taken_back() -> None:
    both = [thumb(1, 7, "up"), thumb(2, 7, "down")]
    assert [label.up for label in turn_labels(both, None)] == [False]
    back = [*both, thumb(3, 7, "down", added=False)]
    assert [label.up for label in turn_labels(back, None)] == [True]


def test_of_two_thumbs_that_nobody_saw_given_none_is_a_label() -> None:
    up, down = thumb(1, 7, "up", how=How.RECOVERED), thumb(2, 7, "down", how=How.RECOVERED)
    by_one_reading = [up.model_copy(update={"received_at": down.received_at}), down]
    assert turn_labels(by_one_reading, None) == ()
    seen = [thumb(1, 7, "up"), down]  # found after all that was heard
    assert [label.up for label in turn_labels(seen, None)] == [False]


def test_what_was_given_after_the_reveal_is_not_blind() -> None:
    events = [thumb(1, 7, "up"), thumb(9, 8, "up")]
    labels = turn_labels(events, NOON + timedelta(minutes=5))
    assert [(label.person, label.blind) for label in labels] == [(7, True), (8, False)]


def test_each_turn_has_labels_of_its_own() -> None:
    thumbs = [thumb(1, 7, "up", step="turn/b"), thumb(2, 7, "down", step="turn/a")]
    labels = turn_labels(thumbs, None)
    assert [(label.step, label.up) for label in labels] == [("turn/a", False), ("turn/b", True)]


# --- stances -----------------------------------------------------------------------------


def test_who_moved_more_people_has_persuaded() -> None:
    before = stances(p1="against", p2="unsure", p3="for", p4="for", p5="unsure")
    after = stances(p1="for", p2="for", p3="unsure", p4="for", p6="against")
    moved = persuasion(before, after, ("A", "B"))
    assert (moved.moved, moved.people, moved.winner) == ({"A": 2, "B": 1}, 4, "A")


@pytest.mark.parametrize(
    ("first", "then", "winner"),
    [
        ("for", "against", "B"),
        ("for", "unsure", "B"),
        ("against", "unsure", "A"),
        ("unsure", "unsure", "tie"),
        ("for+unsure", "against", None),
        ("for", "against+for", None),
    ],
)
def test_one_person_moves_towards_one_side(first: str, then: str, winner: str | None) -> None:
    assert persuasion(stances(p1=first), stances(p1=then), ("A", "B")).winner == winner


def test_without_anybody_asked_twice_nobody_persuaded() -> None:
    moved = persuasion(stances(p1="for"), stances(p2="against"), ("A", "B"))
    assert (moved.moved, moved.people, moved.winner) == ({"A": 0, "B": 0}, 0, None)


# --- options -----------------------------------------------------------------------------


def test_every_question_has_its_own_options() -> None:
    assert options_of(Question.VOTE, ("A", "B")) == ("A", "B", "tie", "weak")
    assert options_of(Question.VOTE, ("1", "2", "3")) == ("1", "2", "3", "tie", "weak")
    assert options_of(Question.TURN, ("A", "B")) == ("up", "down")
    assert options_of(Question.STANCE_BEFORE, ("1", "2", "3")) == ("up", "down", "unsure")


def test_a_stance_is_named_by_what_it_means() -> None:
    assert [stance_name(thumb) for thumb in ("up", "down", "unsure")] == [
        "for",
        "against",
        "unsure",
    ]
    assert stance_name("down+up") == "against+for"
