"""Every fault of a model's backend at every step of a debate, over HTTP: see fault_cases.py."""

from __future__ import annotations

import asyncio
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.values.debate import Status
from engine.values.errors import failure_in, no_answer
from tests.doubles.deadlines import deadlines_by_event
from tests.scenario.conftest import PRICE
from tests.scenario.fault_cases import (
    AWAY,
    AWAY_S,
    LASTING,
    ONCE,
    PATIENT,
    SCALE,
    USUAL,
    Fault,
    Matrix,
    hold_all,
)
from tests.scenario.fault_stage import ROSTER, TURNS, UNREADABLE, Held, Step, Try

# One fault at one step is `make test`'s: see test_model_faults.py and test_ballots_http.py.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def matrix(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """What every debate came to; held once, because together they are a few hundred calls."""
    folder = tmp_path_factory.mktemp("matrix")
    paths = [folder / f"{number}.db" for number in range(4)]
    for path in paths:
        shutil.copy(migrated_file, path)
    with warnings.catch_warnings(), deadlines_by_event():
        # The history that holds an answer of 1 MB is sent in one piece, on purpose.
        warnings.filterwarnings("ignore", "Sending a large body", ResourceWarning)
        return asyncio.run(hold_all(paths))


# --- what must come of it ----------------------------------------------------------------


def steps_of(held: Held) -> list[str]:
    """Return the 17 steps of a debate whose panel needed three jurors."""
    jurors = [step for place in range(3) for step in held.readings(place)]
    return [*(step.name for step in TURNS), *jurors, *held.readings(0, again=True), "summary"]


def check_cost(fault: Fault, failed: Try) -> None:
    """Check what the journal says that a try without an answer cost."""
    assert failed.cost_max > PRICE.cost(0, 1000)
    if fault.cost == "something":
        assert failed.cost is not None
        assert 0 < failed.cost <= failed.cost_max
        assert failed.cost == PRICE.cost(failed.tokens_in or 0, failed.tokens_out or 0)
    else:
        assert failed.cost == (0.0 if fault.cost == "nothing" else None)
        assert failed.tokens_in is failed.tokens_out is None


def check_answered(done: Try) -> None:
    """Check that a try with an answer bears what it used, and what that cost."""
    assert (done.state, done.error) == ("done", "")
    assert done.tokens_in
    assert done.tokens_out
    assert done.cost == pytest.approx(PRICE.cost(done.tokens_in, done.tokens_out))


def check_sentence(sentence: str, fault: Fault, backend: str, model: str) -> None:
    """Check that a failure is one sentence, and names who failed, how, and what to do."""
    assert sentence.startswith(f"Backend “{backend}” ")
    assert sentence.count(". ") == 0
    assert sentence.endswith(".")
    tries = f", {fault.tries} tries" if fault.tries > 1 else ""
    assert f"(model “{model}”{tries}); " in sentence
    assert fault.what in sentence
    assert fault.advice in sentence.partition("); ")[2]


def check_problem(problem: str, tries: Sequence[Try], fault: Fault) -> None:
    """Check that a ballot names the kind of failure alone, and the journal has all of it."""
    kind = failure_in(tries[-1].error).partition(" (")[0]  # its status may be in none of the words
    assert no_answer(kind) in problem
    assert "Backend" not in problem
    waits = fault.what.startswith("asks to wait")  # which is of the call, not of a try
    assert {waits or fault.what in one.error for one in tries} == {True}


@pytest.mark.parametrize("name", ONCE)
def test_a_fault_at_every_step_changes_nothing_that_was_said(matrix: Matrix, name: str) -> None:
    held, clean = matrix.once[name], matrix.once["clean"]
    assert (held.debate.status, held.debate.reason) == (Status.VOTING, "")
    assert held.words == clean.words
    assert held.verdict == clean.verdict
    assert [ballot.valid for ballot in held.ballots] == [True] * 6


@pytest.mark.parametrize("name", ONCE)
def test_each_try_of_a_fault_that_passes_is_in_the_journal(matrix: Matrix, name: str) -> None:
    held, fault = matrix.once[name], ONCE[name]
    for step in steps_of(held):
        failed, done = held.tries(step)
        assert (failed.attempt, failed.state, done.attempt) == (1, "failed", 2)
        assert fault.what in failed.error
        check_cost(fault, failed)
        check_answered(done)
        wider = PRICE.cost(0, 1000) if name == "length without text" else 0.0
        assert done.cost_max == pytest.approx(failed.cost_max + wider)
    assert len(held.journal) == sum(held.asked.values()) == 34
    assert sum(one.cost or 0 for one in held.journal) == pytest.approx(held.billed)


@pytest.mark.parametrize("name", AWAY)
def test_a_backend_back_after_twenty_seconds_is_waited_for(matrix: Matrix, name: str) -> None:
    held, clean = matrix.once[name], matrix.once["clean"]
    assert held.debate.status is Status.VOTING
    assert held.words == clean.words
    assert held.verdict == clean.verdict
    assert set(held.asked.values()) == {1}
    for step in steps_of(held):
        *failed, done = held.tries(step)
        assert failed or step.endswith("/again")
        check_answered(done)
        for one in failed:
            assert AWAY[name].what in one.error
            assert one.cost == 0


@pytest.mark.parametrize("name", AWAY)
def test_a_juror_that_is_asked_again_is_waited_for_as_long(matrix: Matrix, name: str) -> None:
    held = matrix.once[f"{name}, for a while"]
    (again,) = held.readings(0, again=True)
    *failed, done = held.tries(again)
    assert failed
    check_answered(done)
    assert held.ballot(again).valid


@pytest.mark.parametrize("name", AWAY)
def test_a_juror_out_of_reach_when_asked_again_is_invalid(matrix: Matrix, name: str) -> None:
    held, fault = matrix.once[f"{name}, for good"], AWAY[name]._replace(tries=PATIENT.tries)
    (again,) = held.readings(0, again=True)
    ballot, tries = held.ballot(again), held.tries(again)
    assert (ballot.valid, ballot.scores, ballot.raw) == (False, None, UNREADABLE)
    check_problem(ballot.problem, tries, fault)
    assert [one.state for one in tries] == ["failed"] * PATIENT.tries
    assert {one.cost for one in tries} == {0.0}


def test_the_waits_of_the_usual_patience_are_those_here_but_for_their_scale() -> None:
    """Even the shortest waits that chance can give outlast a server that is away for 20 s."""
    scaled = [PATIENT.wait(n, 0.0) / SCALE for n in range(1, PATIENT.tries)]
    assert scaled == pytest.approx([USUAL.wait(n, 0.0) for n in range(1, USUAL.tries)])
    assert sum(scaled) > AWAY_S / SCALE == 20


def test_another_model_than_the_one_asked_is_recorded_at_every_step(matrix: Matrix) -> None:
    held, clean = matrix.once["another model"], matrix.once["clean"]
    assert held.debate.status is Status.VOTING
    assert held.words == clean.words
    assert {turn.model for turn in held.turns} == {"other-2"}
    assert {ballot.model for ballot in held.ballots} == {"other-2"}
    assert held.verdict == clean.verdict


def test_missing_usage_is_an_unknown_cost_at_every_step(matrix: Matrix) -> None:
    held, clean = matrix.once["missing usage"], matrix.once["clean"]
    assert held.words == clean.words
    assert held.verdict == clean.verdict
    assert [(one.state, one.cost) for one in held.journal] == [("done", None)] * 17
    known = sum(one.cost or 0 for one in clean.journal)
    assert known == pytest.approx(clean.billed)
    assert sum(one.cost_max for one in held.journal) > known


def test_json_by_another_name_is_read(matrix: Matrix) -> None:
    held, clean = matrix.once["JSON called text"], matrix.once["clean"]
    assert held.words == clean.words
    assert held.verdict == clean.verdict
    assert len(held.journal) == sum(held.asked.values()) == 17


def test_a_megabyte_at_every_step_is_kept_whole_and_never_a_score(matrix: Matrix) -> None:
    held = matrix.once["an answer of 1 MB"]
    assert held.debate.status is Status.VOTING
    *others, closing = held.turns
    assert len(closing.text) > 999_000
    assert [violation.kind for violation in closing.violations] == ["unreadable"]
    assert not any(turn.violations or len(turn.text) > 1000 for turn in others)
    long = [one for one in held.journal if (one.tokens_out or 0) == 250_000]
    assert len(long) == 18
    assert all(one.state == "done" for one in held.journal)
    for step in held.readings(0):
        spoilt = held.ballot(step)
        assert (spoilt.valid, spoilt.scores, spoilt.verdict) == (False, None, None)
        assert len(spoilt.raw) == 1_000_000
    assert held.verdict is not None
    assert held.verdict.invalid == 2


@pytest.mark.parametrize("step", TURNS, ids=lambda step: step.name)
@pytest.mark.parametrize("name", LASTING)
def test_a_lasting_fault_ends_the_debate_at_any_step_and_says_what_to_do(
    matrix: Matrix, name: str, step: Step
) -> None:
    shared, fault, place = matrix.lasting[name], LASTING[name], TURNS.index(step)
    held = shared[place % len(shared)]
    failure = held.failures[place // len(shared)]
    backend = failure.request.sides["A"].backend
    assert failure.status is Status.FAILED
    check_sentence(failure.reason, fault, backend, step.model)
    *failed, done = held.tries(step.name)
    assert [one.attempt for one in (*failed, done)] == [*range(1, fault.tries + 2)]
    for one in failed:
        assert one.state == "failed"
        check_cost(fault, one)
    check_answered(done)
    assert done.cost_max == failed[0].cost_max
    assert held.asked[step.model, step.said] == (1 if fault.leaves else fault.tries + 1)


@pytest.mark.parametrize("name", LASTING)
def test_a_debate_that_failed_at_every_step_ends_as_one_that_never_did(
    matrix: Matrix, name: str
) -> None:
    for held in matrix.lasting[name]:
        assert (held.debate.status, held.debate.reason) == (Status.VOTING, "")
        assert held.words == matrix.once["clean"].words
        assert sum(one.cost or 0 for one in held.journal) == pytest.approx(held.billed)


@pytest.mark.parametrize("name", [name for name in LASTING if name not in AWAY])
def test_a_juror_that_fails_for_good_is_an_invalid_ballot_and_another_is_asked(
    matrix: Matrix, name: str
) -> None:
    held, fault, clean = matrix.lasting[name][0], LASTING[name], matrix.once["clean"]
    assert held.verdict is not None
    assert clean.verdict is not None
    assert (held.verdict.valid, held.verdict.invalid) == (6, 6)
    assert held.verdict.winner == clean.verdict.winner
    failed = [step for place in range(3) for step in held.readings(place, again=place == 2)]
    assert len(failed) == 6
    for step in failed:
        ballot, again = held.ballot(step), step.endswith("/again")
        assert (ballot.valid, ballot.scores, ballot.verdict) == (False, None, None)
        assert ballot.problem.startswith("no answer") is not again
        assert ballot.raw == (UNREADABLE if again else "")
        tries = held.tries(step)
        check_problem(ballot.problem, tries, fault)
        assert [one.state for one in tries] == ["failed"] * fault.tries
        for one in tries:
            check_cost(fault, one)


@pytest.mark.parametrize("name", AWAY)
def test_a_panel_that_cannot_be_reached_gives_no_verdict_and_says_why(
    matrix: Matrix, name: str
) -> None:
    held, fault = matrix.lasting[name][0], AWAY[name]
    assert held.verdict is not None
    assert (held.verdict.winner, held.verdict.p, held.verdict.z) == (None, {}, None)
    assert held.verdict.problem
    assert (held.verdict.valid, held.verdict.invalid) == (0, 2 * len(ROSTER))
    for place in range(len(ROSTER)):
        for step in held.readings(place):
            ballot, tries = held.ballot(step), held.tries(step)
            assert (ballot.valid, ballot.scores, ballot.verdict) == (False, None, None)
            check_problem(ballot.problem, tries, fault)
            assert [one.cost for one in tries] == [0.0, 0.0]
