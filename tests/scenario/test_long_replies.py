"""A model that writes without end: what is read of it, what the thread says, what is kept."""

from __future__ import annotations

from engine.store import DebateRecord
from engine.values.debate import Debate, Violation
from tests.doubles import model_server as acts
from tests.doubles.model_server import ModelServer
from tests.scenario.conftest import DEFAULTS, SIDES, Running, Stage, ballot, judging, play, shown

MILLION = 1_000_000
CAP = 20_000
CAPPED = DEFAULTS.model_copy(update={"reply_chars": CAP})
ENDLESS = "word " * (MILLION // 5)


async def hold(stage: Stage) -> tuple[Debate, DebateRecord, Running]:
    async with stage.process() as line:
        debate = await line.hold(CAPPED)
        return debate, await line.record(debate.id), line


async def test_a_reply_of_a_megabyte_is_a_few_messages_and_the_thread_says_so(
    stage: Stage,
) -> None:
    stage.server.always(acts.says(ENDLESS), model=SIDES["A"].name)
    _, record, line = await hold(stage)
    first = record.turns[0]
    cut = Violation(kind="long_reply", measured=MILLION, limit=CAP)
    assert cut in first.violations
    assert len(first.text) <= CAP
    [thread] = line.venue.threads.values()
    of_first = [m for m in thread.messages if m.reference.split("·")[1] == "2"]
    assert len(of_first) <= 12
    assert "long_reply, 1e+06 of 20000" in of_first[-1].body
    original = next(call for call in record.calls if call.step == first.step)
    assert original.reply is not None
    assert len(original.reply.text) == MILLION


async def test_no_later_prompt_carries_what_was_cut(stage: Stage) -> None:
    stage.server.always(acts.says(ENDLESS), model=SIDES["A"].name)
    await hold(stage)
    longest = max(len(m["content"]) for body in stage.server.requests for m in body["messages"])
    assert longest < 6 * CAP  # a juror reads both sides' turns


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
        _, record, _ = await hold(stage)
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
