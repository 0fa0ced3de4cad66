"""While people vote, one juror says why the panel decided so; nothing waits for it in vain."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

import engine.run.run
from engine.values.debate import Status
from engine.values.messages import Reveal
from tests.doubles import model_server as acts
from tests.kit import HANG_SECONDS, cancelled, some, until
from tests.scenario.conftest import DEFAULTS, EXPLAINED, Running, Stage, explaining, play

ASKED = DEFAULTS.model_copy(update={"why": True, "vote_minutes": 30})


def asked(stage: Stage) -> int:
    return sum(map(explaining, stage.server.requests))


async def open_vote(line: Running, **options: Any) -> str:
    started = await line.start(ASKED, **options)
    await line.until(started.debate.id, lambda debate: debate.vote_opened_at)
    return started.debate.id


async def close(line: Running, debate_id: str) -> Reveal:
    await line.service.close_vote(debate_id)
    await line.ended(debate_id)
    post = some(await line.store.outbox.find(debate_id, "reveal"))
    assert isinstance(post.message, Reveal)
    return post.message


async def test_the_reveal_says_it_and_the_record_who_wrote_it_or_a_juror_is_quoted(
    stage: Stage, line: Running
) -> None:
    debate_id = await open_vote(line)
    reveal = await close(line, debate_id)
    assert reveal.why is not None
    assert reveal.why.text == EXPLAINED["decisive"]
    assert asked(stage) == 1
    record = await line.record(debate_id)
    (kept,) = [one for one in record.artifacts if one.kind == "why"]
    (call,) = [one for one in record.calls if one.step == "why"]
    assert kept.body["juror"] == call.model == reveal.why.juror
    assert reveal.calls == len(record.calls) == len(stage.server.requests)
    # Off saves the call.
    reveal = await close(line, await open_vote(line, why=False))
    assert asked(stage) == 1
    assert reveal.why is not None
    assert (reveal.why.text, reveal.why.quoted) == ("Both were heard.", True)
    # A failure leaves a juror's own words.
    stage.server.respond = lambda body: "No." if explaining(body) else play(body)
    debate_id = await open_vote(line)
    reveal = await close(line, debate_id)
    assert some(reveal.why).quoted
    record = await line.record(debate_id)
    (kept,) = [one for one in record.artifacts if one.kind == "why"]
    assert not kept.valid
    assert kept.body["problem"]


async def test_an_estimate_has_the_call_and_debates_that_no_one_watches_do_not_ask(
    line: Running,
) -> None:
    dear, cheap = [await line.start(ASKED, why=why) for why in (True, False)]
    assert dear.estimate.calls == cheap.estimate.calls + 1
    assert dear.estimate.calls_max == cheap.estimate.calls_max + 2
    assert (dear.estimate.usd or 0) > (cheap.estimate.usd or 0)
    unwatched = await line.start(ASKED, platform="series")
    assert not unwatched.debate.request.why


async def test_the_vote_opens_while_the_juror_writes_and_closes_without_it_in_time(
    stage: Stage, line: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.run.run, "WHY_SECONDS", 0.2)
    stage.server.always(replace(acts.hang(), names="why"))
    debate_id = await open_vote(line)
    await until(lambda: asked(stage))
    began = asyncio.get_running_loop().time()
    reveal = await close(line, debate_id)
    assert asyncio.get_running_loop().time() - began < 5
    assert some(reveal.why).quoted
    record = await line.record(debate_id)
    assert [call.error for call in record.calls if call.step == "why"] == ["cancelled"]
    assert [one.body["problem"] for one in record.artifacts if one.kind == "why"] == [
        "The vote closed first."
    ]


async def test_it_goes_on_after_a_kill_and_is_paid_for_once(stage: Stage) -> None:
    stage.server.always(replace(acts.hang(), names="why"))

    async def run() -> None:
        async with stage.process() as line:
            await line.start(ASKED)
            await asyncio.sleep(60)

    task = asyncio.create_task(run())
    await until(lambda: asked(stage))
    task.cancel()
    await asyncio.sleep(0.05)
    await cancelled(task)
    stage.server.behave()
    async with stage.process() as line:
        (debate_id,) = await line.store.queue.unfinished()
        assert (await line.store.debates.get(debate_id)).status is Status.VOTING
        await line.line.reconcile()
        # On a server the dead one's lease has to run out first.
        async with asyncio.timeout(HANG_SECONDS):
            while not (await line.store.journal.read(debate_id, artifacts="why")).artifacts:
                await asyncio.sleep(0.1)
                await line.line.reconcile()
        assert await line.store.queue.unfinished() == []
        await line.line.reconcile()
        await line.until(debate_id, lambda debate: debate.vote_opened_at)
        reveal = await close(line, debate_id)
        record = await line.record(debate_id)
    assert some(reveal.why).text == EXPLAINED["decisive"]
    again = [call for call in record.calls if call.attempt > 1]
    assert [call.step for call in again] == ["why"]
    assert asked(stage) == 2
