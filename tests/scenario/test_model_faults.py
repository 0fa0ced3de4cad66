"""A backend that misbehaves in mid-debate, over HTTP: the debate waits, completes, or says why."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from adapters.models.attempts import Patience
from engine.debate import Debate, Status
from engine.store import CallRecord
from tests.doubles import model_server as acts
from tests.doubles.model_server import Act
from tests.scenario.conftest import NO_CAPS, PRICE, QUICK, Running, Stage

STEP = "turn/rebuttal/B"  # the second that this model is asked for


class Fault(NamedTuple):
    """How a backend misbehaves, and the price of one such try: 0, None (unknown) or more."""

    act: Act
    cost: float | None = 0.0


PASSING = {
    "429": Fault(acts.status(429)),
    "429 with Retry-After": Fault(acts.status(429, retry_after=0.05)),
    "500": Fault(acts.status(500), None),
    "503": Fault(acts.status(503)),
    "reset in mid-answer": Fault(acts.reset(), None),
    "reset before the answer": Fault(acts.reset("before"), None),
    "a page": Fault(acts.page(), None),
    "half of a JSON": Fault(acts.garbage(), None),
    "200 with an error body": Fault(acts.error_body(), None),
    "empty": Fault(acts.empty(), 0.0001),
    "length without text": Fault(acts.empty("length"), 0.0001),
}
FINAL = {
    "401": (acts.status(401), "refused the key (401)", "check its key in ROSTRUM_BACKENDS"),
    "402": (acts.status(402), "has no credit left (402)", "add credit to the account"),
    "404": (acts.status(404), "does not know the model (404)", "check ROSTRUM_MODELS"),
    "429 for long": (acts.status(429, retry_after=130), "asks to wait 130 s", "try again later"),
    "429 for ever": (acts.status(429), "no more calls for now (429)", "try again later"),
    "500 for ever": (acts.status(500), "failed (500)", "try again later"),
    "pages for ever": (acts.page(), "something that is not JSON", "try again later"),
    "error bodies": (acts.error_body(), "an error: upstream failed", "try again later"),
    "empty for ever": (acts.empty(), "answered without any text", "try again later"),
    "length for ever": (acts.empty("length"), "used up the token cap", "raise the token cap"),
    "content filter": (acts.empty("content_filter"), "declined to answer", "reword the topic"),
    "resets for ever": (acts.reset(), "broke the connection", "try again later"),
    "hanging": (acts.hang(), "did not answer within 0.1 s", "choose a faster model"),
}


async def tries(line: Running, debate: Debate) -> list[CallRecord]:
    """Return every try of the step that was disturbed."""
    return [call for call in (await line.record(debate.id)).calls if call.step == STEP]


@pytest.mark.parametrize("name", PASSING)
async def test_a_passing_fault_is_survived_and_its_cost_is_kept(stage: Stage, name: str) -> None:
    fault = PASSING[name]
    stage.server.script(Act(), fault.act, model="ben")
    async with stage.process() as line:
        debate = await line.hold()
        first, second = await tries(line, debate)
    assert debate.status is Status.CLOSED
    assert (first.attempt, second.attempt) == (1, 2)
    assert first.error
    assert first.reply is None
    assert second.reply is not None
    assert second.cost is not None
    if fault.cost:
        assert first.cost is not None
        assert fault.cost <= first.cost <= first.cost_max
    else:
        assert first.cost == fault.cost
    assert len(stage.server.requests) == 12


@pytest.mark.parametrize("name", FINAL)
async def test_a_lasting_fault_ends_the_debate_with_what_to_do_and_it_can_go_on(
    stage: Stage, name: str
) -> None:
    act, what, advice = FINAL[name]
    stage.timeout_s = 0.1 if act.wait else 10.0
    stage.server.script(Act(), *[act] * QUICK.tries, model="ben")
    async with stage.process() as line:
        debate = await line.hold()
        record = await line.record(debate.id)
    assert debate.status is Status.FAILED
    assert debate.reason.count(". ") == 0
    assert "Backend “near”" in debate.reason
    assert "model “ben”" in debate.reason
    assert what in debate.reason
    assert advice in debate.reason
    assert [turn.step for turn in record.turns] == [
        "turn/opening/A",
        "turn/opening/B",
        "turn/rebuttal/A",
    ]
    await go_on(stage, debate, 1 + sum(call.step == STEP for call in record.calls))


async def go_on(stage: Stage, debate: Debate, attempt: int) -> None:
    """Resume a debate on a backend that works again, and look at how it went on."""
    asked = len(stage.server.requests)
    stage.timeout_s = 10.0
    stage.server._scripts.clear()
    async with stage.process() as line:
        await line.service.resume(debate.id, NO_CAPS)
        debate = await line.ended(debate.id)
        last = (await tries(line, debate))[-1]
    assert debate.status is Status.CLOSED
    assert debate.reason == ""
    assert (last.attempt, last.error) == (attempt, "")
    assert len(stage.server.requests) - asked == 8


async def test_a_backend_that_comes_back_is_waited_for(stage: Stage) -> None:
    patience = Patience(tries=6, first_wait=0.05, longest_wait=0.4)
    async with stage.process(patience=patience) as line:
        started = await line.start()
        await line.until(started.debate.id, lambda _: len(stage.server.requests) >= 3)
        await stage.server.down(0.3)
        debate = await line.ended(started.debate.id)
        record = await line.record(debate.id)
    assert debate.status is Status.CLOSED
    assert any(call.error for call in record.calls)
    assert sum(call.reply is not None for call in record.calls) == 11


async def test_a_backend_that_is_not_there_is_named_with_its_address(stage: Stage) -> None:
    async with stage.process() as line:
        started = await line.start()
        await line.until(started.debate.id, lambda _: stage.server.requests)
        await stage.server.down(60)
        debate = await line.ended(started.debate.id)
    assert debate.status is Status.FAILED
    assert "could not be reached at http://127.0.0.1" in debate.reason
    assert "BASE_URL in ROSTRUM_BACKENDS" in debate.reason


async def test_another_model_than_the_one_asked_is_recorded(line: Running, stage: Stage) -> None:
    stage.server.always(Act(model="ben-mini-2"), model="ben")
    debate = await line.hold()
    record = await line.record(debate.id)
    assert {turn.model for turn in record.turns if turn.side == "B"} == {"ben-mini-2"}


async def test_an_answer_without_usage_is_kept_at_its_maximum(line: Running, stage: Stage) -> None:
    stage.server.script(Act(), Act(usage=False), model="ben")
    debate = await line.hold()
    (call,) = await tries(line, debate)
    assert call.cost is None
    assert call.cost_max > PRICE.cost(0, 1000)
    assert (await line.store.journal.spending(debate.id))[1] is None


async def test_an_answer_of_a_megabyte_is_kept_whole(line: Running, stage: Stage) -> None:
    stage.server.script(Act(), acts.big(1_000_000), model="ben")
    debate = await line.hold()
    record = await line.record(debate.id)
    long = next(call for call in record.calls if call.step == STEP)
    assert long.reply is not None
    assert len(long.reply.text) == 1_000_000
    assert debate.status is Status.CLOSED
