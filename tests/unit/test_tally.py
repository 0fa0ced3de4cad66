"""The standing vote, the count and recovery, case by case; `test_vote_course.py` has a model."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from engine.tally import count, standing_votes, wilson
from engine.values.debate import BallotKind
from engine.values.ports import Reactions
from engine.values.verdicts import How, Vote, VoteEvent, iso
from engine.votes.recovery import reconcile

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SEEDED = frozenset(("A", "B", "tie", "weak"))


def at(second: int) -> datetime:
    return NOON + timedelta(seconds=second)


def log(*said: str, person: int = 1) -> list[VoteEvent]:
    """Events from words: `+A` adds, `-A` withdraws, `~+A` recovered, `!+A` by button.

    What is recovered one after the other was found by one reading, unless `|` lies between.
    """
    hows = {"~": How.RECOVERED, "!": How.BUTTON}
    began = dict[int, int]()
    for number, word in enumerate(said, start=1):
        again = word[0] == "~" and number > 1 and said[number - 2][0] == "~"
        began[number] = began[number - 1] if again else number
    return [
        VoteEvent(
            number=number,
            person=person,
            option=word.lstrip("~!+-"),
            added="+" in word,
            how=hows.get(word[0], How.LIVE),
            received_at=at(began[number]),
        )
        for number, word in enumerate(said, start=1)
        if word != "|"
    ]


def standing(events: list[VoteEvent], **asked: bool | int | None) -> tuple[Vote, ...]:
    return standing_votes(
        events,
        starter=asked.get("starter"),
        judge_visible=bool(asked.get("judge_visible", False)),
        tally_visible=bool(asked.get("tally_visible", True)),
    )


def named(votes: tuple[Vote, ...]) -> str | None:
    """Return what one person's vote is for, or that nobody knows."""
    return None if not votes else "?" if votes[0].ambiguous else votes[0].option


def choice(*said: str, tally_visible: bool = True) -> str | None:
    return named(standing(log(*said), tally_visible=tally_visible))


@pytest.mark.parametrize(
    ("account", "member", "least", "reason"),
    [
        (None, None, (0, 0), ""),
        (7, 3, (7, 3), ""),
        (6, 3, (7, 3), "new"),
        (7, 2, (7, 3), "new"),
        (0, None, (0, 3), "new"),
        (None, 9, (1, 0), "new"),
    ],
)
def test_a_vote_is_gold_from_an_account_and_a_member_of_a_known_age(
    account: int | None, member: int | None, least: tuple[int, int], reason: str
) -> None:
    [event] = log("+A")
    aged = event.model_copy(update={"account_days": account, "member_days": member})
    [vote] = standing_votes(
        [aged], starter=None, judge_visible=False, tally_visible=True, least_days=least
    )
    assert (vote.reason, vote.gold) == (reason, not reason)


@pytest.mark.parametrize(("days", "kept"), [(0, 0), (9, 9), (43, 40), (97, 100), (1234, 1000)])
def test_a_votes_ages_are_rounded_so_that_no_account_is_known_by_them(days: int, kept: int) -> None:
    [event] = log("+A")
    aged = event.model_copy(update={"account_days": days, "member_days": days})
    [vote] = standing([aged])
    assert (vote.account_days, vote.member_days) == (kept, kept)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ((), None),
        (("+A",), "A"),
        (("+A", "-A"), None),
        (("-A",), None),
        (("+A", "+B"), "B"),
        (("+A", "+B", "-B"), "A"),
        (("+A", "+B", "-A"), "B"),
        (("+A", "+B", "+A"), "B"),  # delivered twice: A was never taken back
        (("+A", "-A", "-A", "+B"), "B"),
        (("~+A",), "A"),
        (("~+A", "~+B"), "?"),
        (("~+A", "~+B", "~-B"), "A"),
        (("+A", "~+B"), "B"),  # found after all that was heard
        (("+A", "~+B", "~-B"), "A"),
        (("+A", "~+B", "+tie"), "tie"),
        (("+A", "~+B", "+tie", "-tie"), "B"),
        (("+A", "~+B", "~+tie"), "?"),
        (("+A", "~+B", "~+tie", "-B"), "tie"),
        (("+A", "~+B", "~+tie", "-B", "-tie"), "A"),
        (("~+A", "|", "~+B"), "B"),
        (("+A", "~+B", "-A"), "B"),
        (("+A", "+B", "~+A"), "B"),
        (("~+A", "~+B", "+A"), "A"),
        (("~+A", "~+B", "+tie", "-tie"), "?"),
        (("!+A", "!+B"), "B"),
        (("!+A", "!+B", "!-B"), None),
        (("+A", "!+B", "-A"), "B"),
        (("!+B", "+A"), "A"),
        (("!+B", "+A", "-A"), "B"),
        (("!+B", "+B", "-B"), "B"),
    ],
)
def test_where_reactions_stay(said: tuple[str, ...], expected: str | None) -> None:
    assert choice(*said) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (("+A", "+B"), "B"),
        (("+A", "+B", "+A"), "A"),
        (("+A", "-A"), "A"),  # the bot's own removal
        (("+A", "+B", "!-B"), None),
        (("+A", "~+B"), "B"),  # cast while the bot was away
        (("+A", "~+B", "~+tie"), "?"),
        (("+A", "~+B", "~+tie", "+weak"), "weak"),
    ],
)
def test_where_the_bot_takes_them_away(said: tuple[str, ...], expected: str | None) -> None:
    assert choice(*said, tally_visible=False) == expected


@pytest.mark.parametrize(
    ("heard_from", "expected"),
    [(2, "B"), (1, "?"), (0, "?")],  # A was heard in second 1
)
def test_what_was_heard_since_the_gap_may_be_newer_than_what_was_missed(
    heard_from: int, expected: str
) -> None:
    heard, found = log("+A", "~+B")
    found = found.model_copy(update={"heard_from": at(heard_from)})
    assert named(standing([heard, found])) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (("+A 1", "+B 2"), "B"),
        (("+B 2", "+A 1"), "B"),
        (("+A 1", "+B 2", "+A 3"), "A"),  # its removal was never told
        (("-A 2", "+A 1"), None),  # its removal was told first
        (("+A 3", "-A 2", "+A 1"), "A"),
        (("+A 1", "+B 3", "-B 2"), "B"),  # a removal that came before it
        (("+A 3", "!+B 0", "+tie 2"), "B"),  # what was pressed came after A
        (("+A 1", "~+B 0", "+B 2"), "B"),
        (("~+A 0", "~+B 0", "+A 2", "+B 1"), "A"),
        (("~+A 0", "~+B 0", "+A 2"), "?"),  # when B was given is not told yet
    ],
)
def test_a_persons_order_counts_where_the_platform_tells_it(
    said: tuple[str, ...], expected: str | None
) -> None:
    words, seconds = zip(*(word.split() for word in said), strict=True)
    told = [
        event.model_copy(update={"given_at": at(int(second))} if int(second) else {})
        for event, second in zip(log(*words), seconds, strict=True)
    ]
    assert named(standing(told)) == expected


def test_a_vote_carries_when_and_under_what_it_was_cast_in_the_order_of_receipt() -> None:
    assert standing(log("+A", "+B")[::-1])[0].option == "B"
    vote = standing(log("~+B", "~+A"))[0]
    assert (vote.option, vote.ambiguous, vote.gold) == ("A+B", True, False)
    vote = standing(log("+A", "+B", "+B"))[0]
    assert (vote.first_at, vote.last_at) == (iso(at(1)), iso(at(2)))
    first, last = log("+A", "+B")
    last = last.model_copy(update={"votes_seen_before": 7, "late_seen": True})
    vote = standing([first, last])[0]
    assert (vote.votes_seen_before, vote.late_seen) == (7, True)


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        (("+A",), 0),
        (("+A", "+B"), 1),
        (("+A", "-A", "+B"), 1),
        (("+A", "-A", "+A"), 0),
        (("+A", "+B", "-B"), 2),
        (("+A", "+B", "+B", "+A"), 1),
    ],
)
def test_counts_changes_of_mind(said: tuple[str, ...], changes: int) -> None:
    assert standing(log(*said))[0].changes == changes


def test_a_choice_made_before_the_debate_can_be_read_is_fast() -> None:
    unknown, slow, fast = (
        standing_votes(
            log("+A", "+B"),
            starter=None,
            judge_visible=False,
            tally_visible=True,
            readable_at=readable_at,
        )[0]
        for readable_at in (None, at(2), at(3))
    )
    assert (unknown.fast, slow.fast, fast.fast) == (False, False, True)
    assert fast == slow._replace(fast=True)  # gold as ever


@pytest.mark.parametrize("what", ["+B", "-B"])
def test_a_choice_made_when_the_mirror_had_named_the_models_is_no_gold(what: str) -> None:
    before, then, after = log("+A", "+B", what)
    told = [event.model_copy(update={"mirror_revealed": True}) for event in (then, after)]
    vote = standing([before, *told])[0]
    assert (vote.mirror_revealed, vote.gold) == (True, False)
    assert standing([before])[0].gold


@pytest.mark.parametrize(
    ("asked", "gold"),
    [
        ({}, True),
        ({"starter": 1}, False),
        ({"starter": 2}, True),
        ({"judge_visible": 1}, False),
    ],
)
def test_only_an_independent_vote_is_gold(asked: dict[str, int], gold: bool) -> None:
    assert standing(log("+A"), **asked)[0].gold is gold


def ballots(**numbers: int) -> list[Vote]:
    people = [option for option, n in numbers.items() for _ in range(n)]
    events = [e for i, option in enumerate(people) for e in log(f"+{option}", person=i)]
    return list(standing(events))


@pytest.mark.parametrize(
    ("numbers", "quorum", "winner"),
    [
        ({"A": 3, "B": 2, "tie": 1}, 5, "A"),
        ({"A": 2, "B": 3}, 5, "B"),
        ({"A": 2, "B": 2}, 0, "tie"),
        ({"A": 3, "tie": 3}, 5, "tie"),
        ({"A": 3, "B": 1}, 5, None),
        ({"A": 2, "tie": 1, "weak": 2}, 5, "A"),
        ({}, 0, None),
    ],
)
def test_winner(numbers: dict[str, int], quorum: int, winner: str | None) -> None:
    tally = count(ballots(**numbers), ("A", "B"), quorum)
    assert tally.winner == winner
    assert tally.quorum_met == (sum(numbers.values()) >= quorum)


def test_all_that_stand_are_counted_and_gold_ones_have_the_share_and_the_winner() -> None:
    tally = count(ballots(A=3, B=2, tie=4), ("A", "B"), 5)
    assert tally.share == pytest.approx(0.6)
    assert (round(tally.low or 0, 2), round(tally.high or 0, 2)) == (0.23, 0.88)
    assert count(ballots(tie=5), ("A", "B"), 5).share is None
    assert count(ballots(**{"1": 5}), ("1", "2", "3"), 5).share is None
    # Three contenders are tied when the first two are.
    assert count(ballots(**{"1": 2, "2": 3, "3": 3}), ("1", "2", "3"), 5).winner == "tie"
    assert count(ballots(**{"1": 2, "2": 3, "3": 4}), ("1", "2", "3"), 5).winner == "3"
    events = log("+A", person=1) + log("+A", person=2) + log("~+A", "~+B", person=3)
    votes = standing([*events, *log("+B", person=4)], starter=2)
    tally = count(votes, ("A", "B"), 2)
    assert tally.counts == {"A": 2, "B": 1, "tie": 0, "weak": 0}
    assert tally.gold == {"A": 1, "B": 1, "tie": 0, "weak": 0}
    assert tally.winner == "tie"


def read(**holders: str) -> Reactions:
    return Reactions({option: frozenset(users) for option, users in holders.items()}, SEEDED)


def recover(
    events: list[VoteEvent], reading: Reactions, *, began: int = 100, **asked: Any
) -> list[tuple[int, str, bool]]:
    people = {"x": 1, "y": 2}
    found = reconcile(events, reading, read_began_at=at(began), people=people, **asked)
    assert {event.how for event in found} <= {How.RECOVERED}
    return [(event.person, event.option, event.added) for event in found]


def test_a_reading_adds_what_is_there_and_withdraws_what_is_surely_not() -> None:
    gone, there = (1, "A", False), (1, "B", True)
    assert recover(log("+A"), read(B="xy")) == [gone, there, (2, "B", True)]
    assert recover(log("+A"), read(A="x")) == []
    # An incomplete reading only adds, as one of a secret ballot.
    partial = Reactions({"B": frozenset("y")}, SEEDED, complete=False)
    assert recover(log("+A"), partial) == [(2, "B", True)]
    assert recover(log("+A"), read(B="x"), ballot=BallotKind.SECRET) == [there]
    # What was cleared is not withdrawn.
    assert recover(log("+A"), Reactions({}, frozenset())) == []
    assert recover(log("+A", "+B"), Reactions({}, SEEDED - {"A"})) == [(1, "B", False)]
    # Neither is what a button chose, and a private ballot is not read.
    assert recover(log("!+A"), read()) == []
    assert recover([], read(A="x"), ballot=BallotKind.PRIVATE) == []
    # Somebody forgotten stays forgotten.
    assert recover([], read(A="xz")) == [(1, "A", True)]


def test_without_seeds_several_gone_at_once_were_cleared_and_one_was_taken_back() -> None:
    bare = Reactions({"B": frozenset("y")}, frozenset())
    assert recover(log("+A"), bare, seeded=False) == [(1, "A", False), (2, "B", True)]
    several = [*log("+A", "+B"), *log("+A", "+B", person=2)]
    assert recover(several, bare, seeded=False) == [(1, "B", False)]


def test_an_option_that_was_never_seeded_is_not_taken_for_cleared() -> None:
    bare = Reactions({"A": frozenset("y")}, SEEDED - {"A", "B"})
    lacking = frozenset("A")
    held = [*log("+A"), *log("+A", person=2)]
    assert recover(held, bare) == []
    assert recover(held, bare, unseeded=lacking) == [(1, "A", False)]
    # One that everybody lost at once was cleared, and one that was seeded still shows it.
    empty = Reactions({}, SEEDED - {"A", "B"})
    assert recover(held, empty, unseeded=lacking) == []
    assert recover(log("+B"), empty, unseeded=lacking) == []


def test_what_was_received_after_the_reading_began_wins() -> None:
    assert recover(log("+A"), read(), began=1) == []
    assert recover(log("+A", "-A"), read(A="x"), began=2) == []
    assert recover(log("+A", "!-A"), read(A="x", B="x"), began=2) == []


# --- The Wilson interval, against statsmodels -----------------------------------------------------


SHARES = st.integers(1, 100_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.slow
@given(SHARES)
def test_the_interval_equals_statsmodels(share: tuple[int, int]) -> None:
    # Loading it takes a second, which every process that only collects tests would spend too.
    from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

    k, n = share
    low, high = proportion_confint(k, n, alpha=0.05, method="wilson")
    assert wilson(k, n) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (6, 5), (0, -1)])
def test_an_interval_of_no_share_is_refused_and_that_of_nothing_says_nothing(
    k: int, n: int
) -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match=f"k = {k} and n = {n}"):
        wilson(k, n)


@given(SHARES)
def test_an_interval_is_of_shares_and_holds_the_share(share: tuple[int, int]) -> None:
    k, n = share
    low, high = wilson(k, n)
    assert 0 <= low <= high <= 1
    assert low - 1e-12 <= k / n <= high + 1e-12
