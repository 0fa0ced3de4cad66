"""The votes benchmark: crowds do what hands can do, and its oracle knows what can be known."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from random import Random

import pytest

from bench.crowd.oracle import AMBIGUOUS, Course, Deed, Telling, compare, due
from bench.crowd.voters import LEAST_APART, OPTIONS, draw_crowd
from bench.votes import BOUNDS, count_posts, run_votes
from engine.values.errors import RostrumError

LIVE = Telling.LIVE


def deeds(course: str, user: str = "ada") -> list[Deed]:
    """Read `+A/live -A/never` as what somebody did, a second apart."""
    return [
        Deed(float(at), user, word[0] == "+", *read(word[1:]))
        for at, word in enumerate(course.split())
    ]


def read(word: str) -> tuple[str, Telling]:
    option, telling = word.split("/")
    return option, Telling(telling)


# --- the crowd -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_nobody_does_what_hands_cannot_do(seed: int) -> None:
    people = [f"voter-{n}" for n in range(30)]
    crowd = sorted(draw_crowd(Random(seed), people, 60.0), key=attrgetter("user", "at"))
    assert {move.user for move in crowd} == set(people)
    for _, moves in groupby(crowd, attrgetter("user")):
        held, last = set[str](), -60.0
        for move in moves:
            assert (move.option in held) != move.added, "given twice, or taken back unheld"
            assert last + 0.99 * LEAST_APART <= move.at <= 60.0
            assert move.option in OPTIONS
            held ^= {move.option}
            last = move.at


def test_crowds_are_the_same_again_and_full_of_people_who_change_their_minds() -> None:
    people = [f"voter-{n}" for n in range(200)]
    crowd = draw_crowd(Random(5), people, 60.0)
    assert crowd == draw_crowd(Random(5), people, 60.0)
    assert 400 < len(crowd) < 700
    held = [due([Deed(*move, told=LIVE) for move in crowd if move.user == p]).held for p in people]
    assert min(sum(len(h) == n for h in held) for n in (0, 1, 2)) > 5


# --- what a vote has to be -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("course", "accepted"),
    [
        ("+A/live", ["A"]),
        ("+A/never", ["A"]),
        ("+A/live -A/never", [None]),
        ("+A/live +B/live", ["B"]),
        ("+A/live +B/live -B/never", ["A"]),
        ("+A/live +B/never", ["B"]),
        ("+A/never +B/live", ["B"]),
        ("+A/never +B/never", ["B", AMBIGUOUS]),
        ("+A/never +B/unsure", ["B", AMBIGUOUS]),
        ("+A/live +B/unsure", ["B"]),
        ("+A/late +B/late", ["B"]),
        ("+A/late +B/never", ["B", AMBIGUOUS]),
        ("+A/live +A/live -A/live +B/live +A/live", ["A"]),
        ("+A/live +B/never -A/never +A/never", ["A", "B", AMBIGUOUS]),
        ("+A/live +B/never -A/never +A/live", ["A"]),
        ("+A/live -A/live +B/live +A/never", ["A"]),
    ],
)
def test_of_several_options_the_newest_is_due_where_it_can_be_known(
    course: str, accepted: list[str | None]
) -> None:
    assert list(due(deeds(course)).accepted) == accepted


def test_each_kind_of_wrong_vote_is_counted() -> None:
    courses = {
        "ada": "+A/live",
        "ben": "+A/live -A/live",
        "cleo": "+A/live +B/live",
        "dan": "+A/never +B/never",
        "eve": "+tie/live +B/live",
    }
    done = [deed for user, course in courses.items() for deed in deeds(course, user)]
    both = frozenset(("A", "B"))
    held = {"ada": frozenset("A"), "cleo": both, "dan": both, "eve": frozenset(("tie", "B"))}
    stored = {"ben": "A", "cleo": AMBIGUOUS, "dan": AMBIGUOUS, "eve": "tie"}
    counts, wrong = compare(done, held, stored)
    assert counts["people"] == 5
    assert (counts["standing"], counts["none"]) == (4, 1)
    assert (counts["differ"], counts["lost"], counts["invented"]) == (4, 1, 1)
    assert (counts["ambiguous"], counts["needlessly_ambiguous"]) == (2, 1)
    assert [line.split(":")[0] for line in wrong] == ["ada", "ben", "cleo", "eve"]


def test_what_is_there_twice_or_missing_is_counted() -> None:
    whole = [f"{code}·{n}·1/1" for code in ("aa", "bb", "cc") for n in range(3)]
    assert count_posts(whole) == {"duplicates": 0, "missing_posts": 0}
    spoiled = [*whole[1:], whole[1], "bb·3·1/2"]
    assert count_posts(spoiled) == {"duplicates": 1, "missing_posts": 2}


# --- the command ---------------------------------------------------------------------------


async def test_a_broken_bound_fails_it_after_the_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def measure(*_: object) -> dict[str, object]:
        return {"bench": "votes", "broken": ["differ"]}

    monkeypatch.setattr("bench.votes.measure", measure)
    with pytest.raises(RostrumError, match="differ"):
        await run_votes()
    assert '"bench": "votes"' in capsys.readouterr().out


def test_votes_lost_and_limits_met_are_bounds() -> None:
    assert {"differ", "lost", "global_429", "duplicates", "missing_posts"} <= set(BOUNDS)


def test_what_was_told_after_the_close_was_not_told_at_all() -> None:
    acts = [
        Deed(1.0, "ada", True, "A", Telling.LATE, 9.0),
        Deed(2.0, "ada", True, "B", Telling.LATE, 4.0),
    ]
    held = {"ada": frozenset("AB")}
    assert not compare(acts, held, {"ada": "B"}, Course(closed=10.0)).wrong
    assert compare(acts, held, {"ada": AMBIGUOUS}, Course(closed=10.0)).wrong
    assert not compare(acts, held, {"ada": AMBIGUOUS}, Course(closed=8.0)).wrong


@pytest.mark.parametrize(
    ("gaps", "readings", "open_"),
    [
        ([(0.5, 1.5)], [], False),  # one gap, and B heard after it
        ([(0.5, 1.5), (20.0, 21.0)], [], True),  # A may be of either
        (
            [(0.5, 1.5), (20.0, 21.0)],
            [(10.0, 11.0)],
            False,
        ),  # A was found by a reading between them
        ([(0.5, 1.5), (20.0, 21.0)], [(30.0, 31.0)], True),
    ],
)
def test_what_was_heard_between_two_gaps_without_a_reading_may_be_newer_or_older(
    gaps: list[tuple[float, float]], readings: list[tuple[float, float]], open_: bool
) -> None:
    acts = [Deed(1.0, "ada", True, "A", Telling.NEVER), Deed(3.0, "ada", True, "B", LIVE)]
    assert due(acts, Course(gaps, readings)).accepted == (("B", AMBIGUOUS) if open_ else ("B",))
