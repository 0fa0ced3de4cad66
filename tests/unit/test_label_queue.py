"""Which debates a labelling task has, and in which order."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from engine.labelling.labelling import queue_of
from engine.store import DebateRecord
from engine.store.labelling import Queued
from engine.values.errors import UsageError
from engine.values.judging import Verdict
from engine.votes.offers import doubt_of, offer
from tests.kit import answers_of, id_of, make_debate, make_turn, make_vote


def record(number: int, p_a: float, votes: str = "", *, blind: bool = True) -> DebateRecord:
    verdict = Verdict(winner="A", p={"A": p_a, "B": 1 - p_a}, valid=3, invalid=0, blind=blind)
    cast = answers_of(*(make_vote(n, option) for n, option in enumerate(votes)))
    return DebateRecord(make_debate(number), (make_turn(1),), (), verdict, cast, ())


AGREE = [record(1, 0.8, "AAAAB"), record(8, 0.7, "AAABB")]
UNCLEAR = [
    record(2, 0.9, "BBBB"),  # people and jury differ by 0.9
    record(3, 0.5),  # the jury is undecided
    record(4, 0.8, "AABB"),  # they differ by 0.3
    record(5, 0.58),  # the jury's lead is 0.16
]
NO_PANEL = [record(6, 0.3, "A", blind=False), replace(record(7, 0.5), verdict=None)]
ALL = [*AGREE, *reversed(UNCLEAR), *NO_PANEL]


def ids(queue: tuple[Queued, ...]) -> list[str]:
    ranks = [one.rank for one in queue if one.known is None]
    assert ranks == list(range(len(ranks)))
    return [one.debate for one in queue if one.known is None]


def test_disagreement_is_what_review_offers_as_unclear_in_the_same_order() -> None:
    queue = queue_of(ALL, {}, "seed", disagreement=True)
    assert ids(queue) == [one.debate.id for one in UNCLEAR]
    offered = offer(map(doubt_of, ALL), date(2026, 3, 1))
    assert [one.debate for one in offered if one.why != "drawn"] == ids(queue)


def test_a_debate_with_a_known_answer_is_not_labelled() -> None:
    queue = queue_of(ALL, {id_of(2): "A", id_of(1): "tie"}, "seed", disagreement=True)
    assert ids(queue) == [id_of(3), id_of(4), id_of(5)]
    assert {one.debate: one.known for one in queue if one.known} == {id_of(1): "tie", id_of(2): "A"}
    with pytest.raises(UsageError, match="has a known answer, and cannot be labelled"):
        queue_of(UNCLEAR, {id_of(9): "A"}, "seed", disagreement=True)


def test_all_debates_come_in_an_order_that_the_seed_fixes() -> None:
    queue = queue_of(ALL, {}, "seed", disagreement=False)
    assert sorted(ids(queue)) == sorted(one.debate.id for one in ALL)
    assert queue == queue_of(reversed(ALL), {}, "seed", disagreement=False)
    assert ids(queue) != ids(queue_of(ALL, {}, "other", disagreement=False))
