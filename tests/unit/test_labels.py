"""Thumbs and stances, which debates are offered for more answers, and what labellers gave."""

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import combinations, count, permutations
from random import Random
from statistics import fmean, median, multimode

import numpy as np
import pytest
from hypothesis import given, strategies as st

from engine.labelling.report import HARD, LabelReport, Rate, _Labelled, report_of
from engine.labelling.tasks import queue_of
from engine.store import DebateRecord
from engine.store.labels import Drawn, Kind, Queued, StoredSheetAnswer, Task
from engine.tally import persuasion, turn_labels
from engine.tally.questions import options_of, stance_name
from engine.values.errors import UsageError
from engine.values.verdicts import How, Question, Verdict, Vote, VoteEvent
from engine.votes.offers import DRAWN, OFFERED, Doubt, doubt_of, offer
from tests.kit import NOW, event, id_of, make_debate, make_turn, make_vote, some, vote

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
        vote(int(person.removeprefix("p")), option, ambiguous="+" in option)
        for person, option in by_person.items()
    ]


def test_the_thumb_that_is_held_last_is_the_label_of_each_turn() -> None:
    events = [
        thumb(1, 7, "up"),
        thumb(2, 8, "up"),
        thumb(3, 8, "up", added=False),
        thumb(4, 9, "down", step="turn/a"),
        thumb(9, 6, "up"),
    ]
    labels = turn_labels(events, NOON + timedelta(minutes=5))  # when it was revealed
    assert [(label.step, label.person, label.up, label.blind) for label in labels] == [
        ("turn/a", 9, False, True),
        (OPENING, 6, True, False),
        (OPENING, 7, True, True),
    ]
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


def test_who_moved_more_people_has_persuaded() -> None:
    before = stances(p1="against", p2="unsure", p3="for", p4="for", p5="unsure")
    after = stances(p1="for", p2="for", p3="unsure", p4="for", p6="against")
    moved = persuasion(before, after, ("A", "B"))
    assert moved is not None
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
    moved = persuasion(stances(p1=first), stances(p1=then), ("A", "B"))
    others = persuasion(stances(p1=first), stances(p2=then), ("A", "B"))
    assert moved is not None
    assert others is not None
    assert moved.winner == winner
    assert (others.moved, others.people, others.winner) == ({"A": 0, "B": 0}, 0, None)


def test_every_question_has_its_own_options_and_a_stance_is_named_by_what_it_means() -> None:
    assert options_of(Question.VOTE, ("A", "B")) == ("A", "B", "tie", "weak")
    assert options_of(Question.VOTE, ("1", "2", "3")) == ("1", "2", "3", "tie", "weak")
    assert options_of(Question.TURN, ("A", "B")) == ("up", "down")
    assert options_of(Question.STANCE_BEFORE, ("1", "2", "3")) == ("up", "down", "unsure")
    named = [stance_name(thumb) for thumb in ("up", "down", "unsure", "down+up")]
    assert named == ["for", "against", "unsure", "against+for"]


# --- Which revealed debates are offered for more answers ------------------------------------------


TODAY = date(2026, 3, 1)
PART = st.none() | st.floats(0, 1)
DOUBTS = st.lists(st.tuples(PART, PART), max_size=20).map(
    lambda parts: [Doubt(f"d{n:02}", *part) for n, part in enumerate(parts)]
)


def record(p_a: float, *options: str, blind: bool = True) -> DebateRecord:
    verdict = Verdict(winner="A", p={"A": p_a, "B": 1 - p_a}, valid=3, invalid=0, blind=blind)
    votes = [make_vote(n, option) for n, option in enumerate(options)]
    return DebateRecord(make_debate(), (), (), verdict, tuple(votes), ())


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


def test_a_tie_counts_for_both_and_votes_not_gold_and_open_panels_tell_nothing() -> None:
    assert doubt_of(record(0.5, "tie", "weak")).difference == pytest.approx(0)
    assert doubt_of(record(1.0, "A", "tie")).difference == pytest.approx(0.25)
    seen = make_vote(1, "B", gold=False, judge_visible=True)
    assert doubt_of(replace(record(0.9), answers=(seen,))).difference is None
    assert doubt_of(record(0.5, "A", blind=False))[1:] == (None, None)


def test_by_turns_what_differs_most_and_was_closest_then_one_that_the_day_draws() -> None:
    doubts = [Doubt(f"d{n}", n / 10, n / 10) for n in range(1, 10)]
    *told, (debate, why) = offer(doubts, TODAY).items()
    assert told == [("d9", "differ"), ("d1", "close"), ("d8", "differ"), ("d2", "close")]
    assert why == "drawn"
    assert debate in {"d3", "d4", "d5", "d6", "d7"}
    doubts = [Doubt(f"d{n}", n / 50, n / 50) for n in range(50)]
    drawn = {[*offer(doubts, TODAY + timedelta(days=n))][-1] for n in range(20)}
    assert len(drawn) > 10


@given(doubts=DOUBTS, answered=st.sets(st.integers(0, 19)))
def test_five_at_most_each_once_all_day(doubts: list[Doubt], answered: set[int]) -> None:
    offers = offer(doubts, TODAY)
    assert len(offers) == min(OFFERED, len(doubts))
    assert [*offer(reversed(doubts), TODAY).items()] == [*offers.items()]
    assert [*offers.values()].count("drawn") >= min(DRAWN, max(0, len(doubts) - 4))
    left = [doubt for n, doubt in enumerate(doubts) if n not in answered]
    still = offer(left, TODAY).keys()
    assert offers.keys() & {doubt.debate for doubt in left} <= still


# --- Which debates a labelling task has, and in which order ---------------------------------------


def queued(number: int, p_a: float, votes: str = "", *, blind: bool = True) -> DebateRecord:
    verdict = Verdict(winner="A", p={"A": p_a, "B": 1 - p_a}, valid=3, invalid=0, blind=blind)
    cast = tuple(make_vote(n, option) for n, option in enumerate(votes))
    return DebateRecord(make_debate(number), (make_turn(1),), (), verdict, cast, ())


AGREE = [queued(1, 0.8, "AAAAB"), queued(8, 0.7, "AAABB")]
UNCLEAR = [
    queued(2, 0.9, "BBBB"),  # people and jury differ by 0.9
    queued(3, 0.5),  # the jury is undecided
    queued(4, 0.8, "AABB"),  # they differ by 0.3
    queued(5, 0.58),  # the jury's lead is 0.16
]
NO_PANEL = [queued(6, 0.3, "A", blind=False), replace(queued(7, 0.5), verdict=None)]
ALL = [*AGREE, *reversed(UNCLEAR), *NO_PANEL]


def ids(queue: tuple[Queued, ...]) -> list[str]:
    ranks = [one.rank for one in queue if one.known is None]
    assert ranks == list(range(len(ranks)))
    return [one.debate for one in queue if one.known is None]


def test_a_queue_is_what_review_offers_or_all_by_their_seed_and_known_answers_are_not_in_it() -> (
    None
):
    queue = queue_of(ALL, {}, "seed", disagreement=True)
    assert ids(queue) == [one.debate.id for one in UNCLEAR]
    offered = offer(map(doubt_of, ALL), date(2026, 3, 1))
    assert [debate for debate, why in offered.items() if why != "drawn"] == ids(queue)
    queue = queue_of(ALL, {id_of(2): "A", id_of(1): "tie"}, "seed", disagreement=True)
    assert ids(queue) == [id_of(3), id_of(4), id_of(5)]
    assert {one.debate: one.known for one in queue if one.known} == {id_of(1): "tie", id_of(2): "A"}
    with pytest.raises(UsageError, match="has a known answer, and cannot be labelled"):
        queue_of(UNCLEAR, {id_of(9): "A"}, "seed", disagreement=True)
    queue = queue_of(ALL, {}, "seed", disagreement=False)
    assert sorted(ids(queue)) == sorted(one.debate.id for one in ALL)
    assert queue == queue_of(reversed(ALL), {}, "seed", disagreement=False)
    assert ids(queue) != ids(queue_of(ALL, {}, "other", disagreement=False))


# --- What a labelling task has given, counted again by other means --------------------------------


CHOICES = ("A", "B", "tie")
TASK = Task(name="tea", per_debate=3, seed="5eed", created_at=NOW)
_numbers = count(1)


def sheet(person: int, debate: str, option: str, kind: Kind = "plain", **said: object) -> Drawn:
    """Return an answered sheet; `known` and `exposed` are its own, the rest is of the answer."""
    number = next(_numbers)
    own = {name: said.pop(name) for name in ("known", "exposed", "order") if name in said}
    return Drawn.model_validate(
        {
            "id": f"s{number}",
            "task": "tea",
            "debate": debate,
            "person": person,
            "number": number,
            "kind": kind,
            "order": "AB",
            "given_at": NOW,
            "filled": StoredSheetAnswer.model_validate({"option": option, "seconds": 60.0} | said),
            **own,
        }
    )


def report(work: list[Drawn], jury: str | None = "A", chat: str | None = None) -> LabelReport:
    ids = sorted({one.debate for one in work})
    debates = {id: _Labelled(id, id[-2:], id, id, jury, chat, 0.01) for id in ids}
    queue = [Queued(id, rank, "AB") for rank, id in enumerate(ids)]
    return report_of(TASK, queue, work, debates, pay=0.5)


def mixed(random: Random) -> list[Drawn]:
    """Return labels of six people who differ, some of them for neither side."""
    options = random.choices(("A", "A", "B", "tie", "weak"), k=500)
    return [
        sheet(person, f"d{debate:02}", options.pop(), order=random.choice(("AB", "BA")))
        for debate in range(60)
        for person in range(1, 7)
        if random.random() < 0.7
    ]


def said_of(work: list[Drawn]) -> dict[str, dict[int, str]]:
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for one in work:
        found[one.debate][one.person] = some(one.filled).option.replace("weak", "tie")
    return found


@pytest.mark.slow
def test_agreement_is_what_other_implementations_say() -> None:
    from krippendorff import alpha as krippendorff_alpha
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

    work = mixed(Random(18))
    said, found = said_of(work), report(work)
    several = {id: list(of.values()) for id, of in said.items() if len(of) > 1}
    counts = np.array([[list(of.values()).count(c) for c in CHOICES] for of in said.values()])
    pairs = [pair for of in several.values() for pair in permutations(of, 2)]
    shares = {id: fmean(a == b for a, b in combinations(of, 2)) for id, of in several.items()}
    assert found.alpha.value == pytest.approx(
        krippendorff_alpha(value_counts=counts, level_of_measurement="nominal")
    )
    assert found.kappa.value == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert found.agreement.value == pytest.approx(fmean(shares.values()))
    majorities = [multimode(of.values()) for of in said.values()]
    decided = [found for [found, *more] in majorities if not more]
    assert found.jury.value == pytest.approx(decided.count("A") / len(decided))
    assert (found.jury.n, found.chat.n) == (len(decided), 0)
    for figure in (found.alpha, found.kappa, found.agreement, found.jury):
        assert figure.value is not None
        assert figure.low is not None
        assert figure.low < figure.value < some(figure.high)
    hardest = sorted(shares, key=lambda id: (shares[id], -len(several[id]), id))[:HARD]
    assert [one.debate for one in found.hard] == hardest
    for hard in found.hard:
        assert hard.labels == Counter(several[hard.debate])
        assert hard.agreement == pytest.approx(shares[hard.debate])
    sided = [one for one in work if one.filled and one.filled.option in "AB"]
    first = sum(one.filled.option == one.order[0] for one in sided if one.filled)
    check_rate(found.first, first, len(sided))
    assert found.labels == found.gold == len(work)
    assert found.cost.per_label == pytest.approx((0.01 * len(said) + 0.5 * len(work)) / len(work))


def check_rate(rate: Rate, right: int, n: int) -> None:
    from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

    assert (rate.right, rate.n) == (right, n)
    assert rate.value == pytest.approx(right / n)
    low, high = proportion_confint(right, n, method="wilson")
    assert (rate.low, rate.high) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.slow
def test_a_person_is_set_beside_the_majority_of_everyone_else() -> None:
    work = mixed(Random(7))
    said = said_of(work)
    by_hand = []
    for person in range(1, 7):
        beside = [
            of[person] == most
            for of in said.values()
            if person in of
            for most, *more in [multimode(c for who, c in of.items() if who != person) or [""]]
            if most and not more
        ]
        by_hand.append((sum(person in of for of in said.values()), sum(beside), len(beside)))
    found = report(work).people
    assert sorted((p.labels, p.others.right, p.others.n) for p in found) == sorted(by_hand)
    assert len({one.name for one in found}) == 6
    for one in found:
        check_rate(one.others, one.others.right, one.others.n)


def own(options: str, fast: int, known: str, again: str) -> list[Drawn]:
    """Return the sheets of person 1, of whom everyone else chooses A; the tests' answer is A."""
    labels = [
        sheet(1, f"d{n}", option, fast=n < fast, seconds=float(n))
        for n, option in enumerate(options)
    ]
    others = [sheet(p, f"d{n}", "A") for n in range(len(options)) for p in (2, 3)]
    tests = [sheet(1, f"k{n}", option, "known", known="A") for n, option in enumerate(known)]
    repeats = [sheet(1, f"d{n}", option, "again") for n, option in enumerate(again)]
    return [*labels, *others, *tests, *repeats]


@pytest.mark.parametrize(
    ("options", "fast", "known", "again", "marks"),
    [
        ("BBBBBBAAAA", 3, "BBA", "AAB", ("fast", "tests", "repeats", "alone")),
        ("BBBBBAAAAA", 2, "BAA", "BBA", ()),  # at the limits, or right above
        ("BBBBBBBBB", 0, "BB", "AA", ()),  # too few to say
    ],
)
def test_people_are_marked_from_the_limits_on(
    options: str, fast: int, known: str, again: str, marks: tuple[str, ...]
) -> None:
    work = own(options, fast, known, again)
    found = report(work)
    [person] = [one for one in found.people if one.known.n]
    assert person.marks == marks
    assert (person.labels, person.fast, found.fast) == (len(options), fast, fast)
    assert person.known.right == known.count("A")
    assert person.again.right == sum(a == b for a, b in zip(again, options, strict=False))
    assert person.others.right == options.count("A")
    seconds = [one.filled.seconds for one in work if one.person == 1 and one.filled]
    assert person.seconds == median(seconds)
    # Tests and second showings are no labels, nor do they count in agreement.
    assert found.labels == 3 * len(options)
    assert (found.known, found.again) == (person.known, person.again)
    assert found.agreement.n == len(options)
