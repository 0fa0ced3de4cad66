"""A backend that misbehaves in mid-debate, over HTTP: the debate waits, completes, or says why."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from adapters.models.attempts import LIMITED_TRIES, RetryPolicy
from engine.store import CallRecord, DebateRecord
from engine.values.debate import Cause, Debate, Model, Status
from tests.doubles import model_server as acts
from tests.doubles.archive import export_rows
from tests.doubles.deadlines import deadlines_by_event
from tests.doubles.model_server import Act, ModelServer
from tests.kit import some
from tests.scenario.conftest import JURORS, NO_CAPS, PRICE, QUICK, SIDES, Running, Stage, play
from tests.scenario.test_fault_matrix import FINAL as REFUSALS, PASSING as TROUBLES, Fault

STEP = "turn/rebuttal/B"  # the second that this model is asked for


PASSING = TROUBLES | {
    "429 with Retry-After": Fault(acts.status(429, retry_after=0.05), "for now (429)"),
    "500 after a while": Fault(replace(acts.status(500), wait=1.2), "failed", cost="unknown"),
}
LATE = "429, Retry-After 130 s"
FINAL = {
    **REFUSALS,
    LATE: REFUSALS[LATE]._replace(what="asks to wait 130 s"),
    **{f"{name}, for ever": fault for name, fault in TROUBLES.items()},
}


class Held(NamedTuple):
    """A debate on a backend that misbehaved: as it ended, and as it went on if it had to."""

    debate: Debate
    record: DebateRecord
    after: Debate
    calls: tuple[CallRecord, ...]


def side_b(name: str) -> Model:
    """Return the model that misbehaves as a case says."""
    return Model.parse(f"near/ben-{[*PASSING, *FINAL].index(name)}#ben")


def tries(calls: Sequence[CallRecord]) -> list[CallRecord]:
    """Return every try of the step that was disturbed."""
    return [call for call in calls if call.step == STEP]


async def hold_every_case(url: str) -> dict[str, Held]:
    """Hold a debate for each case, all at once; resume those that failed, on a better backend."""
    models = {name: side_b(name) for name in (*PASSING, *FINAL)}
    priced = (*SIDES.values(), *JURORS, *models.values())
    started, ended = dict[str, str](), dict[str, tuple[Debate, DebateRecord]]()
    async with ModelServer(play) as bad, Stage(url, bad, priced=priced).process() as line:
        for name, model in models.items():
            lasting = QUICK.tries + (LIMITED_TRIES if "429" in name else 0)
            acted = [PASSING[name].act] if name in PASSING else [FINAL[name].act] * lasting
            bad.script(Act(), *acted, model=model.name)
            order = {"A": SIDES["A"], "B": model}
            started[name] = (await line.start(models=order)).debate.id
        for name, debate_id in started.items():
            debate = await line.ended(debate_id)
            ended[name] = debate, await line.record(debate_id)
    async with ModelServer(play) as good, Stage(url, good, priced=priced).process() as line:
        for name in FINAL:
            await line.service.resume(started[name], NO_CAPS)
        held = {}
        for name, (debate, record) in ended.items():
            after = await line.ended(debate.id)
            held[name] = Held(debate, record, after, (await line.record(debate.id)).calls)
        return held


@pytest.fixture(scope="module")
def held(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Held]:
    """What every case came to; held once, because each takes a whole debate."""
    path = tmp_path_factory.mktemp("faults") / "rostrum.db"
    shutil.copy(migrated_file, path)
    return asyncio.run(hold_every_case(f"sqlite+aiosqlite:///{path}"))


@pytest.mark.each_case
@pytest.mark.parametrize("name", PASSING)
def test_a_passing_fault_is_survived_and_its_cost_is_kept(held: dict[str, Held], name: str) -> None:
    fault, debate, record = PASSING[name], held[name].debate, held[name].record
    first, second = tries(record.calls)
    assert debate.status is Status.CLOSED
    assert (first.attempt, second.attempt) == (1, 2)
    assert first.error
    assert first.reply is None
    assert second.reply is not None
    assert second.cost is not None
    if fault.cost == "something":
        assert 0.0001 <= some(first.cost) <= first.cost_max
    else:
        assert first.cost == {"nothing": 0.0, "unknown": None}[fault.cost]
    assert len(record.calls) == 16


@pytest.mark.each_case
@pytest.mark.parametrize("name", FINAL)
def test_a_lasting_fault_says_what_to_do_and_the_debate_goes_on_where_it_was(
    held: dict[str, Held], name: str
) -> None:
    fault = FINAL[name]
    debate, record, after, calls = held[name]
    assert debate.status is Status.FAILED
    assert debate.reason.count(". ") == 0
    assert "Backend “near”" in debate.reason
    assert f"model “{side_b(name).name}”" in debate.reason
    assert fault.what in debate.reason
    assert fault.advice in debate.reason
    assert [turn.step for turn in record.turns] == [
        "turn/opening/A",
        "turn/opening/B",
        "turn/rebuttal/A",
    ]
    assert all(call.error for call in tries(record.calls))
    assert debate.cause is (Cause.REFUSED if name == "content filter" else Cause.MODEL)
    assert debate.cause_model == side_b(name).ref
    (row,) = export_rows("debates", record)
    assert (row["cause"], row["cause_model"]) == (debate.cause, debate.cause_model)
    assert (after.status, after.reason) == (Status.CLOSED, "")
    assert after.cause is after.cause_model is None
    *failed, last = tries(calls)
    assert [call.attempt for call in (*failed, last)] == list(range(1, len(failed) + 2))
    assert last.reply is not None
    assert len(calls) == len(record.calls) + 12
    steps = [call.step for call in calls if call.reply is not None]
    assert len(steps) == len(set(steps)) == 15


async def test_a_backend_that_hangs_is_given_up_at_its_deadline(stage: Stage) -> None:
    stage.timeout_s = 20
    stage.server.always(acts.hang(), model="ben")
    with deadlines_by_event():
        async with stage.process() as line:
            debate = await line.hold()
            calls = (await line.record(debate.id)).calls
    assert debate.status is Status.FAILED
    assert "did not answer within 20 s" in debate.reason
    assert "choose a faster model" in debate.reason
    assert [call.cost for call in calls if call.step == "turn/opening/B"] == [None] * QUICK.tries


async def test_a_backend_that_comes_back_is_waited_for(stage: Stage) -> None:
    patience = RetryPolicy(tries=6, first_wait=0.05, longest_wait=0.4)
    async with stage.process(patience=patience) as line:
        started = await line.start()
        await line.until(started.debate.id, lambda _: len(stage.server.requests) >= 3)
        await stage.server.down(0.3)
        debate = await line.ended(started.debate.id)
        record = await line.record(debate.id)
    assert debate.status is Status.CLOSED
    assert any(call.error for call in record.calls)
    assert sum(call.reply is not None for call in record.calls) == 15


async def test_a_backend_that_is_not_there_is_named_with_its_address(stage: Stage) -> None:
    async with stage.process() as line:
        started = await line.start()
        await line.until(started.debate.id, lambda _: stage.server.requests)
        await stage.server.down(60)
        debate = await line.ended(started.debate.id)
    assert debate.status is Status.FAILED
    assert "could not be reached at http://127.0.0.1" in debate.reason
    assert "BASE_URL in ROSTRUM_BACKENDS" in debate.reason


async def test_another_model_no_usage_and_a_megabyte_are_recorded_as_they_came(
    line: Running, stage: Stage
) -> None:
    odd = Act(model="ben-mini-2"), Act(usage=False), acts.big(1_000_000)
    stage.server.script(*odd, model="ben")
    debate = await line.hold()
    record = await line.record(debate.id)
    assert debate.status is Status.CLOSED
    assert next(turn.model for turn in record.turns if turn.side == "B") == "ben-mini-2"
    (unstated,) = tries(record.calls)
    assert unstated.cost is None
    assert unstated.cost_max > PRICE.cost(0, 1000)
    assert (await line.store.journal.spending(debate.id))[1] is None
    long = next(call for call in record.calls if call.step == "turn/assumptions/B")
    assert len(some(long.reply).text) == 1_000_000


@pytest.mark.parametrize("amount", [1e300, 1e12, 3_000_000_000, 0, -7])
async def test_a_usage_that_cannot_be_true_neither_ends_a_debate_nor_spends_a_day(
    line: Running, stage: Stage, amount: float
) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": amount}
    stage.server.script(Act(), Act(usage_extra=usage), model="ben")
    debate = await line.hold()
    (call,) = tries((await line.record(debate.id)).calls)
    assert debate.status is Status.CLOSED
    assert call.reply is not None
    assert call.cost is None
    assert 0 < call.cost_max < 0.01
    assert (await line.store.journal.spending(debate.id))[1] is None
