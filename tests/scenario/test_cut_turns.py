"""Turns that a token cap cuts off are asked for once more; these and ones that loop are marked."""

from __future__ import annotations

import orjson
import pytest

from adapters.models.attempts import RetryPolicy
from engine.dataset.entry import Pseudonyms, make_entry
from engine.dataset.turn_tables import TURNS
from engine.store import DebateRecord, ExportFilter
from engine.values.debate import CUT_SHORT, Violation
from engine.values.errors import BudgetError
from tests.doubles import model_server as acts
from tests.doubles.model_server import Act, ModelServer
from tests.kit import RecordedAttempts, opened_models
from tests.scenario.conftest import DEFAULTS, SIDES, Stage, judging
from tests.unit.test_models_providers import ask, call_of

CUT = "Tea is calmer, and"
MARK = Violation(kind=CUT_SHORT, measured=1, limit=0)


class Stingy(RecordedAttempts):
    """A log that has no money for a second try."""

    async def began(self, number: int) -> None:
        if number > 1:
            raise BudgetError("spent")
        await super().began(number)


async def held(stage: Stage) -> DebateRecord:
    """Hold a debate; return all that is kept of it."""
    async with stage.process() as line:
        return await line.record((await line.hold(DEFAULTS)).id)


async def test_a_cut_answer_is_asked_for_once_more_with_twice_the_room() -> None:
    log = RecordedAttempts()
    async with ModelServer() as server:
        server.script(acts.says(CUT, "length"))
        reply = await ask(server.base_url, log)
        assert [body["max_tokens"] for body in server.requests] == [500, 1000]
    assert (reply.text, reply.finish, reply.attempts) == ("An answer to 1 messages.", "stop", 2)
    assert [one.doubles_cap for one in log.attempts] == [True, False]
    assert [one.text for one in log.replies] == [CUT, reply.text]


@pytest.mark.each_case
@pytest.mark.parametrize(
    "then", [acts.says(CUT, "length"), acts.status(401), acts.status(503), acts.garbage()]
)
async def test_a_cut_answer_is_kept_where_there_is_no_other(then: Act) -> None:
    async with ModelServer() as server:
        server.script(acts.says(CUT, "MAX_TOKENS"), then)
        reply = await ask(server.base_url)
        assert len(server.requests) == 2
    assert (reply.text, reply.finish) == (CUT, "length")


async def test_more_room_is_taken_only_within_the_debates_budget() -> None:
    log = Stingy()
    async with ModelServer() as server:
        server.always(acts.says(CUT, "length"))
        assert (await ask(server.base_url, log)).text == CUT
        assert len(server.requests) == 1
    assert log.balanced()


async def test_no_more_room_is_asked_for_than_a_context_has() -> None:
    full = {"error": {"message": "`max_tokens` must be less than or equal to `400`"}}
    async with ModelServer() as server:
        server.script(Act(status=400, body=orjson.dumps(full)), acts.says(CUT, "length"))
        async with opened_models(server.base_url, RetryPolicy(first_wait=0.001)) as models:
            assert (await models.complete(call_of("m"), RecordedAttempts())).text == CUT
        assert [body["max_tokens"] for body in server.requests] == [500, 400]


async def test_twice_the_room_is_as_much_as_the_model_writes_at_most() -> None:
    most = {
        "error": {"message": "Invalid max_tokens value, the valid range of max_tokens is [1, 800]"}
    }
    async with ModelServer() as server:
        server.script(acts.says(CUT, "length"), Act(status=400, body=orjson.dumps(most)))
        reply = await ask(server.base_url)
        assert [body["max_tokens"] for body in server.requests] == [500, 1000, 800]
    assert (reply.finish, reply.attempts) == ("stop", 3)


async def test_a_longer_answer_takes_the_place_of_the_cut_one(stage: Stage) -> None:
    stage.server.script(acts.says(CUT, "length"), model=SIDES["A"].name)
    record = await held(stage)
    first = record.turns[0]
    assert CUT not in first.text
    assert MARK not in first.violations
    tries = [call for call in record.calls if call.step == first.step]
    assert [call.reply is not None for call in tries] == [False, True]
    assert tries[0].error == "was cut off at its token cap"


async def test_a_turn_that_stays_cut_is_marked_in_thread_record_and_jurors_prompt(
    stage: Stage,
) -> None:
    stage.server.script(*[acts.says(CUT, "length")] * 2, model=SIDES["A"].name)
    record = await held(stage)
    first = record.turns[0]
    assert first.text == CUT
    assert MARK in first.violations
    assert [MARK in turn.violations for turn in record.turns[1:]] == [False] * 7
    [thread] = stage.venue.threads.values()
    assert any(CUT in m.body and CUT_SHORT in m.body for m in thread.messages)
    jurors = [str(body["messages"]) for body in stage.server.requests if judging(body)]
    assert jurors
    assert all(prompt.count("cut off at a limit of tokens") == 1 for prompt in jurors)


async def test_a_structured_turn_that_stays_cut_shows_its_readable_part(stage: Stage) -> None:
    cut = '{"synthesis": "Tea has won on calm.", "why": "We choose tea, as it'
    closing = acts.says(cut, "length", names="Conclusion")
    stage.server.always(closing, model=SIDES["A"].name)
    record = await held(stage)
    last = [turn for turn in record.turns if turn.side == "A"][-1]
    assert (last.text.splitlines(), MARK in last.violations) == (
        ["Tea has won on calm.", "We choose tea, as it"],
        True,
    )


@pytest.mark.parametrize(
    ("cut", "shown"),
    [
        ('{"synthesis": "Tea has won.\nOn calm.", "why": "We', ["Tea has won.", "On calm.", "We"]),
        ("{'synthesis': 'Tea has won.', 'why': 'We", ["Tea has won.", "We"]),
        ('{"synthesis": "Tea is "calm", and', ['Tea is "calm", and']),
        ('{"synthesis":  ' + "\n" * 90, ["…"]),
        ("```json\n{", ["…"]),
        ("Tea has won, as", ["Tea has won, as"]),
    ],
)
async def test_no_brace_of_a_structured_turn_that_stays_cut_is_shown(
    stage: Stage, cut: str, shown: list[str]
) -> None:
    closing = acts.says(cut, "length", names="Conclusion")
    stage.server.always(closing, model=SIDES["A"].name)
    record = await held(stage)
    last = [turn for turn in record.turns if turn.side == "A"][-1]
    assert (last.text.splitlines(), MARK in last.violations) == (shown, True)


async def test_a_turn_that_loops_is_marked_in_thread_record_and_jurors_prompt(
    stage: Stage,
) -> None:
    loop = "The debate is over. " * 40
    stage.server.script(acts.says(loop), model=SIDES["A"].name)
    record = await held(stage)
    mark = Violation(kind="repeats", measured=40, limit=0)
    assert [mark in turn.violations for turn in record.turns] == [True] + [False] * 7
    [thread] = stage.venue.threads.values()
    assert any("over." in m.body and "repeats" in m.body for m in thread.messages)
    jurors = [str(body["messages"]) for body in stage.server.requests if judging(body)]
    assert jurors
    assert all(prompt.count("says one sentence 40 times, spoke first") == 1 for prompt in jurors)
    entry = make_entry(record, Pseudonyms(b"master", ExportFilter(), None), b"salt")
    (first, *_) = TURNS.rows(entry)
    assert {"kind": "repeats", "measured": 40.0, "limit": 0.0} in first["violations"]


async def test_a_structured_turn_that_loops_is_marked(stage: Stage) -> None:
    said = {"synthesis": "Tea calms us. " * 9, "why": "It is so.", "decision": "maintains"}
    answer = acts.says(orjson.dumps(said).decode(), names="Conclusion")
    stage.server.always(answer, model=SIDES["A"].name)
    record = await held(stage)
    last = [turn for turn in record.turns if turn.side == "A"][-1]
    assert Violation(kind="repeats", measured=9, limit=0) in last.violations
