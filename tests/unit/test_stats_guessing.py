"""Whether guesses at the models beat chance, and what decided for people and jurors."""

from __future__ import annotations

import pytest

from bot.stats import _guessing
from engine.stats.agreement import measure_agreement
from engine.stats.row import Guessed, Row, leads_in, measure_guesses, row_of
from engine.store import DebateRecord
from engine.tally.tally import wilson
from engine.values.judging import Question, Vote
from tests.kit import BIRCH, MAPLE, make_ballot, make_debate, make_record, make_vote

MENU = (BIRCH.ref, MAPLE.ref, "near/cleo", "near/dora")
SIDES = {"A": MAPLE, "B": BIRCH}


def guess(person: int, side: str, model: str, **fields: object) -> Vote:
    return make_vote(person, model, question=Question.GUESS, step=side, **fields)


def record(*votes: Vote, menu: tuple[str, ...] = MENU) -> DebateRecord:
    debate = make_debate(1, sides=SIDES)
    setup = debate.setup.model_copy(update={"menu": menu})
    return make_record(debate.model_copy(update={"setup": setup}), votes=votes)


def row(found: DebateRecord) -> Row:
    made = row_of(found)
    assert made is not None
    return made


def test_blind_guesses_that_could_be_right_count() -> None:
    known = guess(3, "A", MAPLE.ref, gold=False, reason="starter")
    told = guess(4, "A", MAPLE.ref, gold=False, reason="mirror")
    found = record(guess(1, "A", MAPLE.ref), guess(2, "B", "near/cleo"), known, told)
    assert row(found).guesses == (Guessed(True, 4), Guessed(False, 4))
    # A model that was not on the menu could not be guessed.
    elsewhere = record(guess(1, "A", "near/cleo"), menu=("near/cleo", "near/dora"))
    assert row(elsewhere).guesses == ()


@pytest.mark.parametrize(("right", "above"), [(10, False), (15, False), (17, True), (40, True)])
def test_guesses_beat_chance_once_their_interval_lies_above_it(right: int, above: bool) -> None:
    found = measure_guesses(Guessed(i < right, 4) for i in range(40))
    assert (found.chance, found.above) == (0.25, above)
    assert (found.share.low, found.share.high) == wilson(right, 40)
    assert str(next(iter(_guessing(found).columns[0].cells))).startswith("they")


def test_few_guesses_have_no_share_and_none_no_row() -> None:
    few = measure_guesses([Guessed(True, 2)])
    assert (few.share.value, few.share.n, few.chance) == (None, 1, 0.5)
    assert not _guessing(measure_guesses([])).row_count


def test_what_decided_for_people_stands_beside_what_did_for_jurors() -> None:
    said = [make_vote(n, "A", ground="logic" if n < 25 else "rebuttal") for n in range(40)]
    found = measure_agreement([row(record(*said))]).grounds
    people = {one.name: one.people.value for one in found}
    assert people == {
        **{"logic": 25 / 40, "rebuttal": 15 / 40},
        **dict.fromkeys(("evidence", "style", "other"), 0.0),
    }
    jurors = {one.name: one.jurors for one in found if one.criterion}
    assert set(jurors) == {"logic", "evidence", "rebuttal"}


def test_a_tie_of_criteria_counts_for_each_in_part() -> None:
    sheet = {"A": {"logic": 8, "evidence": 8, "honesty": 5}, "B": {"logic": 5, "evidence": 5}}
    sheet["B"]["honesty"] = 5
    found = make_record(ballots=[make_ballot().model_copy(update={"scores": sheet})])
    assert leads_in(found) == {"logic": 0.5, "evidence": 0.5}
