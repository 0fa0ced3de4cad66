"""Turns that a cap cuts off, that loop or that never end: asked for once more, marked, kept."""

import orjson
import pytest

from adapters.models.attempts import RetryPolicy
from engine.store import DebateRecord
from engine.values.debate import CUT_SHORT, Debate, Violation
from engine.values.errors import BudgetError
from tests.doubles import model_server as acts
from tests.doubles.archive import export_rows
from tests.doubles.model_server import Act, ModelServer
from tests.kit import RecordedAttempts, opened_models, some
from tests.scenario.conftest import DEFAULTS, SIDES, Running, Stage, ballot, judging, play, shown
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
    async with stage.process() as line:
        return await line.record((await line.hold(DEFAULTS)).id)


async def test_a_cut_answer_is_asked_for_once_more_with_twice_the_room_within_the_budget() -> None:
    log, stingy = RecordedAttempts(), Stingy()
    async with ModelServer() as server:
        server.script(acts.says(CUT, "length"))
        reply = await ask(server.base_url, log)
        server.always(acts.says(CUT, "length"))
        assert (await ask(server.base_url, stingy)).text == CUT
        assert [body["max_tokens"] for body in server.requests] == [500, 1000, 500]
    assert (reply.text, reply.finish, reply.attempts) == ("An answer to 1 messages.", "stop", 2)
    assert [one.doubles_cap for one in log.attempts] == [True, False]
    assert [one.text for one in log.replies] == [CUT, reply.text]
    assert stingy.balanced()


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


async def test_twice_the_room_is_as_much_as_a_context_has_and_the_model_writes_at_most() -> None:
    full = {"error": {"message": "`max_tokens` must be less than or equal to `400`"}}
    most = {
        "error": {"message": "Invalid max_tokens value, the valid range of max_tokens is [1, 800]"}
    }
    async with ModelServer() as server:
        server.script(Act(status=400, body=orjson.dumps(full)), acts.says(CUT, "length"))
        async with opened_models(server.base_url, RetryPolicy(first_wait=0.001)) as models:
            assert (await models.complete(call_of("m"), RecordedAttempts())).text == CUT
        server.script(acts.says(CUT, "length"), Act(status=400, body=orjson.dumps(most)))
        reply = await ask(server.base_url)
        asked = [body["max_tokens"] for body in server.requests]
    assert asked == [500, 400, 500, 1000, 800]
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


@pytest.mark.parametrize(
    ("cut", "shown"),
    [
        (
            '{"synthesis": "Tea has won on calm.", "why": "We choose tea, as it',
            ["Tea has won on calm.", "We choose tea, as it"],
        ),
        ('{"synthesis": "Tea has won.\nOn calm.", "why": "We', ["Tea has won.", "On calm.", "We"]),
        ("{'synthesis': 'Tea has won.', 'why': 'We", ["Tea has won.", "We"]),
        ('{"synthesis": "Tea is "calm", and', ['Tea is "calm", and']),
        ('{"synthesis":  ' + "\n" * 90, ["…"]),
        ("```json\n{", ["…"]),
        ("Tea has won, as", ["Tea has won, as"]),
    ],
)
async def test_a_structured_turn_that_stays_cut_shows_its_readable_part_and_no_brace(
    stage: Stage, cut: str, shown: list[str]
) -> None:
    closing = acts.says(cut, "length", names="Conclusion")
    stage.server.always(closing, model=SIDES["A"].name)
    record = await held(stage)
    last = [turn for turn in record.turns if turn.side == "A"][-1]
    assert (last.text.splitlines(), MARK in last.violations) == (shown, True)


async def test_a_turn_that_loops_is_marked_in_thread_record_and_jurors_prompt(stage: Stage) -> None:
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
    (first, *_) = export_rows("turns", record)
    assert {"kind": "repeats", "measured": 40.0, "limit": 0.0} in first["violations"]


async def test_a_structured_turn_that_loops_is_marked(stage: Stage) -> None:
    said = {"synthesis": "Tea calms us. " * 9, "why": "It is so.", "decision": "maintains"}
    answer = acts.says(orjson.dumps(said).decode(), names="Conclusion")
    stage.server.always(answer, model=SIDES["A"].name)
    record = await held(stage)
    last = [turn for turn in record.turns if turn.side == "A"][-1]
    assert Violation(kind="repeats", measured=9, limit=0) in last.violations


MILLION = 1_000_000
CAP = 20_000
CAPPED = DEFAULTS.model_copy(update={"reply_chars": CAP})
ENDLESS = "word " * (MILLION // 5)


async def hold_endless(stage: Stage) -> tuple[Debate, DebateRecord, Running]:
    async with stage.process() as line:
        debate = await line.hold(CAPPED)
        return debate, await line.record(debate.id), line


async def test_a_reply_of_a_megabyte_is_a_few_messages_and_the_thread_says_so(stage: Stage) -> None:
    stage.server.always(acts.says(ENDLESS), model=SIDES["A"].name)
    _, record, line = await hold_endless(stage)
    first = record.turns[0]
    cut = Violation(kind="long_reply", measured=MILLION, limit=CAP)
    assert cut in first.violations
    assert len(first.text) <= CAP
    [thread] = line.venue.threads.values()
    of_first = [m for m in thread.messages if m.reference.split("·")[1] == "2"]
    assert len(of_first) <= 12
    assert "long_reply, 1e+06 of 20000" in of_first[-1].body
    original = next(call for call in record.calls if call.step == first.step)
    assert len(some(original.reply).text) == MILLION
    # Nor does a later prompt carry what was cut; a juror reads both sides' turns.
    longest = max(len(m["content"]) for body in stage.server.requests for m in body["messages"])
    assert longest < 6 * CAP


async def test_a_resumed_debate_reads_the_same_of_it(stage: Stage) -> None:
    stage.server.script(acts.says(ENDLESS), acts.says(ENDLESS), model=SIDES["A"].name)
    stage.server.script(acts.status(401), model=SIDES["B"].name)
    async with stage.process() as line:
        started = await line.start(CAPPED)
        failed = await line.ended(started.debate.id)
    async with stage.process() as line:
        await line.service.resume(failed.id, CAPPED.caps)
        await line.ended(failed.id)
        record = await line.record(failed.id)
    assert [violation.kind for violation in record.turns[0].violations] == [
        "too_many_words",
        "long_reply",
    ]
    assert len(record.turns) == 8


async def test_an_endless_ballot_is_invalid_and_kept_as_it_came(stage: Stage) -> None:
    def answer(body: acts.Body) -> str:
        if judging(body) and body["model"] == "j1":
            scores = {name: 8 - place for place, name in enumerate(shown(body))}
            return ballot(scores, shown(body)[0], reasons="because " * 10_000)
        return play(body)

    async with ModelServer(answer) as server:
        stage.server = server
        _, record, _ = await hold_endless(stage)
    both = [ballot for ballot in record.ballots if ballot.juror == "near/j1"]
    assert len(both) == 2  # in both orders
    for endless in both:
        assert not endless.valid
        assert "longer than a reply may be" in endless.problem
        assert endless.raw.endswith("}")
        assert len(endless.raw) > 80_000


async def test_no_turn_within_its_limits_is_ever_cut(stage: Stage) -> None:
    wordy = {"classic": dict(CAPPED.limits["classic"]) | {"words": 5_000}}
    limits = CAPPED.model_copy(update={"limits": wordy, "reply_chars": 1_000})
    async with stage.process() as line:
        started = await line.start(limits)
        assert started.debate.setup.reply_chars == 150_000
        await line.ended(started.debate.id)
