"""A debate from its command to the reveal, on real parts: interrupted, resumed, cancelled."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.prompts import Prompts, load_prompts
from engine.run.order import Defaults
from engine.values.debate import Debate, Model, Price, Status, TurnOrder
from engine.values.errors import BudgetError, UsageError
from engine.values.verdicts import Summary
from tests.doubles import model_server as acts
from tests.doubles.model_server import Body
from tests.kit import beside, conclude, some, until
from tests.scenario.conftest import (
    DEFAULTS,
    JURORS,
    NO_CAPS,
    PRICE,
    SIDES,
    SUMMARY,
    Running,
    Stage,
    fair_ballot,
    in_thread,
    is_closing,
    judging,
    prompt,
)

ROUNDS = ("opening", "rebuttal", "assumptions", "closing")
TURNS = [f"turn/{name}/{side}" for name in ROUNDS for side in "AB"]


async def transcript(line: Running, debate: Debate) -> list[tuple[str, str, int]]:
    record = await line.record(debate.id)
    return [(turn.step, turn.text, turn.number) for turn in record.turns]


@pytest.mark.postgresql
async def test_a_debate_goes_from_its_command_to_the_reveal(line: Running, stage: Stage) -> None:
    started = await line.start(conditions="Consider only breakfast.")
    assert started.estimate.calls == 15
    debate = await line.ended(started.debate.id)
    assert debate.status is Status.CLOSED
    record = await line.record(debate.id)
    assert [turn.step for turn in record.turns] == TURNS
    assert [turn.words for turn in record.turns] == [6] * 6 + [19] * 2
    assert record.verdict is not None
    assert (record.verdict.valid, record.verdict.invalid) == (6, 0)
    assert record.verdict.summary == Summary(text=SUMMARY)
    decided = {one.name: one.body["decision"] for one in record.artifacts}
    assert decided == {f"decision/turn/closing/{side}": "maintains" for side in "AB"}
    said = [message.body for message in in_thread(stage)]
    assert [f"turn {number} of 8" in text for number, text in enumerate(said[:8], 1)] == [True] * 8
    assert "The vote closed" in said[8]
    assert "A: near/ana" in said[9]
    assert "Jury: " in said[9]
    # The record holds what every call took.
    assert len(record.calls) == len(stage.server.requests) == 15
    for call in record.calls:
        assert (call.attempt, call.error) == (1, "")
        assert call.reply is not None
        assert 0 < some(call.cost) <= call.cost_max
        assert len(call.prompt_hash) == 64
    tries, usd = await line.store.journal.spending(debate.id)
    assert tries == 15
    assert usd == pytest.approx(sum(call.cost or 0 for call in record.calls))


async def test_simultaneous_sides_are_asked_together_and_posted_in_order(
    line: Running, stage: Stage
) -> None:
    stage.server.always(acts.Act(wait=0.2), model="ana")  # so that B always answers first
    debate = await line.hold(turn_order=TurnOrder.SIMULTANEOUS)
    assert stage.server.most_in_flight >= 2
    assert [step for step, _, _ in await transcript(line, debate)] == TURNS
    shown = [message.body for message in in_thread(stage)[:8]]
    assert [text[0] for text in shown] == list("ABABABAB")


async def test_thinking_waits_for_a_slow_platform_and_catches_up_in_order(
    line: Running, stage: Stage
) -> None:
    """Both sides of a simultaneous round wait for room at once, which once ended the process."""
    started = await line.start(turn_order=TurnOrder.SIMULTANEOUS)

    def two_rounds_are_asked(debate: Debate) -> bool:
        if debate.thread is None:  # nothing is asked before there is one
            return False
        stage.venue.go_away(0.8)  # for as long as that takes
        return len(stage.turns_asked) >= 4

    await line.until(started.debate.id, two_rounds_are_asked)
    await asyncio.sleep(0.3)  # in which a side that does not wait asks for more
    assert 4 <= len(stage.turns_asked) <= 6
    debate = await line.ended(started.debate.id)
    assert debate.status is Status.CLOSED
    assert [step for step, _, _ in await transcript(line, debate)] == TURNS
    assert [message.body[0] for message in in_thread(stage)[:8]] == list("ABABABAB")


class Interruptions:
    """Ends a process whenever all it asks at once is out, unanswered, and begins another."""

    def __init__(self, stage: Stage, changed: Callable[[int], Prompts]) -> None:
        self.stage = stage
        self.changed = changed
        self.processes = 0

    async def hold(self, order: TurnOrder) -> Debate:
        debate_id, ended = "", None
        gate = self.stage.server.gate
        while ended is None:
            gate.clear()
            price = Price(usd_in=self.processes, usd_out=1) if self.processes else PRICE
            prompts = self.changed(self.processes)
            async with self.stage.process(prompts=prompts, price=price) as line:
                if debate_id:
                    await line.service.resume(debate_id, NO_CAPS)
                else:
                    debate_id = (await line.start(turn_order=order)).debate.id
                ended = await self._ended_without_asking(line, debate_id, order)
                # As soon as the process has begun to stop.
                asyncio.get_running_loop().call_soon(gate.set)
            self.processes += 1
            assert self.processes < 20, "steps that are stored are called again"
        return ended

    async def _ended_without_asking(
        self, line: Running, debate_id: str, order: TurnOrder
    ) -> Debate | None:
        tasks = asyncio.create_task(line.ended(debate_id)), asyncio.create_task(self._asked(order))
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        ended, _ = await asyncio.gather(*tasks, return_exceptions=True)
        return ended if isinstance(ended, Debate) else None

    async def _asked(self, order: TurnOrder) -> None:
        """Wait until a speech, both of a round, or three ballots and the summary are asked for."""
        server, speeches = self.stage.server, 1 if order is TurnOrder.SEQUENTIAL else 2

        def out() -> bool:
            most = 4 if server.requests and judging(server.requests[-1]) else speeches
            return server.in_flight >= most

        while not out():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("order", list(TurnOrder))
async def test_a_process_that_ends_at_every_step_changes_nothing(
    stage: Stage, order: TurnOrder, tmp_path: Path
) -> None:
    """Not even when templates, prices and the roster change in between."""
    stage.server.respond = lambda body: fair_ballot(body) if judging(body) else tell(body)
    async with stage.process() as line:
        whole = await line.hold(turn_order=order)
        expected = await transcript(line, whole)
    asked_once = [prompt(body) for body in stage.turns_asked]
    stage.server.requests.clear()
    stage.venue.seen.clear()

    def edited(process: int) -> Prompts:
        texts = load_prompts().texts
        return Prompts(dict.fromkeys(texts, f"Edited {process} times.") if process else texts)

    pieces = Interruptions(stage, edited)
    pieced = await pieces.hold(order)
    # One for each call that waits for another, one for the panel, one to close the vote.
    assert pieces.processes == (10 if order is TurnOrder.SEQUENTIAL else 6)
    async with stage.process() as line:
        assert await transcript(line, pieced) == expected
        record, first = await line.record(pieced.id), await line.record(whole.id)
    assert pieced.setup.prices == whole.setup.prices
    assert sorted(prompt(body) for body in stage.turns_asked) == sorted(asked_once)
    assert len(stage.jurors_asked) == 6
    assert all(call.attempt == 1 and call.reply for call in record.calls)
    assert len(record.calls) == len(first.calls) == 15
    assert [ballot.juror for ballot in record.ballots] == [ballot.juror for ballot in first.ballots]
    posts = [call.said for call in stage.venue.seen if call.method == "post"]
    assert len(posts) == len(set(posts)) == 11


def tell(body: Body) -> str:
    """Speak by side and round alone, so that two debates are alike."""
    said = f"Number {len(body['messages'])} of {'one' if body['model'] == 'ana' else 'other'}."
    return conclude(said, said) if is_closing(body) else said


async def test_defaults_that_change_meanwhile_change_no_debate_that_has_begun(stage: Stage) -> None:
    async with stage.process() as line:
        started = await line.start()
        await line.until(started.debate.id, lambda debate: debate.thread)
    others = DEFAULTS.model_copy(
        update={"sides": {"A": SIDES["B"], "B": SIDES["A"]}, "jurors": JURORS[3:], "limits": {}}
    )
    async with stage.process() as line:
        await line.line.reconcile()
        second = await line.start(others, topic="Cocoa beats both")
        debate = await line.ended(started.debate.id)
        await line.ended(second.debate.id)
    assert debate.request.sides == SIDES
    assert debate.setup == started.debate.setup


async def test_debates_learn_of_jurors_from_their_own_kind_alone(stage: Stage) -> None:
    """What rehearsals say of jurors is made up, and a real debate must not go by it."""
    rehearsal = DEFAULTS.model_copy(
        update={"sides": {side: Model.parse(f"rehearsal/{side}") for side in "AB"}}
    )
    for held, others in ((rehearsal, DEFAULTS), (DEFAULTS, rehearsal)):
        async with stage.process() as line:
            await line.hold(held)
        async with stage.process() as line:  # which has fitted nothing yet
            learned = (await line.start(held)).debate.setup.panel.history
            assert {item.ballots for item in learned.values()} == {2}
            if others is DEFAULTS:
                assert not (await line.start(others)).debate.setup.panel.history


async def test_a_sibling_that_was_paid_for_is_not_asked_again(stage: Stage) -> None:
    stage.server.script(acts.status(401), model="ana")
    stage.server.script(acts.Act(wait=0.05), model="ben")
    async with stage.process() as line:
        started = await line.start(turn_order=TurnOrder.SIMULTANEOUS)
        failed = await line.ended(started.debate.id)
        assert failed.status is Status.FAILED
        assert [body["model"] for body in stage.turns_asked].count("ben") == 1
    async with stage.process() as line:
        await line.service.resume(started.debate.id, NO_CAPS)
        debate = await line.ended(started.debate.id)
        record = await line.record(debate.id)
    assert debate.status is Status.CLOSED
    assert [body["model"] for body in stage.turns_asked].count("ben") == 4
    openings = [call for call in record.calls if call.step == "turn/opening/A"]
    assert [(call.attempt, bool(call.reply)) for call in openings] == [(1, False), (2, True)]


@pytest.mark.postgresql
async def test_a_process_that_ends_lets_the_call_in_flight_be_journaled(stage: Stage) -> None:
    stage.server.gate.clear()
    async with stage.process() as line:
        started = await line.start()
        await line.until(started.debate.id, lambda _: stage.server.in_flight)
        asyncio.get_running_loop().call_later(0.15, stage.server.gate.set)  # while it ends
    assert len(stage.server.requests) == 1
    async with stage.process() as line:
        stored = await line.store.journal.load(started.debate.id)
        assert list(stored.steps) == ["turn/opening/A"]
        await line.line.reconcile()
        assert (await line.ended(started.debate.id)).status is Status.CLOSED
    assert len(stage.server.requests) == 15


async def test_a_process_that_is_broken_off_pays_again_only_for_the_call_in_flight(
    stage: Stage,
) -> None:
    stage.server.script(acts.Act(), acts.Act(), acts.Act(), acts.hang())

    async def run() -> None:
        async with stage.process() as line:
            await line.start()
            await asyncio.sleep(60)

    task = asyncio.create_task(run())
    await until(lambda: len(stage.server.requests) >= 4)
    task.cancel()
    await asyncio.sleep(0.05)
    task.cancel()  # whoever does not want to wait asks twice
    with pytest.raises(asyncio.CancelledError):
        await task
    async with stage.process() as line:
        (debate_id,) = await line.store.queue.unfinished()
        await line.line.reconcile()
        debate = await line.ended(debate_id)
        record = await line.record(debate_id)
    assert debate.status is Status.CLOSED
    again = [call for call in record.calls if call.attempt > 1]
    assert [call.step for call in again] == ["turn/rebuttal/B"]
    assert len(stage.server.requests) == 16
    assert [turn.step for turn in record.turns] == TURNS


async def test_cancel_interrupts_the_call_that_is_out(line: Running, stage: Stage) -> None:
    stage.server.script(acts.Act(), acts.hang())
    started = await line.start()
    await line.until(started.debate.id, lambda _: stage.server.in_flight and stage.turns_asked[1:])
    await line.service.cancel(started.debate.id, "Stopped by its starter.")
    await line.service.cancel(started.debate.id, "Stopped by its starter.")
    debate = await line.ended(started.debate.id)
    assert (debate.status, debate.reason) == (Status.CANCELLED, "Stopped by its starter.")
    record = await line.record(debate.id)
    assert [turn.step for turn in record.turns] == TURNS[:1]
    interrupted = record.calls[-1]
    assert (interrupted.error, interrupted.cost) == ("cancelled", None)
    assert "The debate was stopped. Stopped by its starter." in in_thread(stage)[-1].body
    with pytest.raises(UsageError, match="only a running debate can be stopped"):
        await line.service.cancel(debate.id, "again")
    with pytest.raises(UsageError, match="nothing to resume"):
        await line.service.resume(debate.id, NO_CAPS)


@pytest.mark.postgresql
async def test_many_cancels_at_once_stop_one_debate_and_nothing_else(
    line: Running, stage: Stage
) -> None:
    """A second wish that arrives while the first is carried out once ended the process."""
    stage.server.always(acts.Act(wait=0.05))
    other = await line.start()
    started = await line.start()
    await line.until(started.debate.id, lambda _: stage.server.in_flight == 2)
    for _ in range(40):
        try:
            await line.service.cancel(started.debate.id, "Enough.")
        except UsageError:
            break
        await asyncio.sleep(0.001)
    assert (await line.ended(started.debate.id)).status is Status.CANCELLED
    assert (await line.ended(other.debate.id)).status is Status.CLOSED


def capped(usd: float) -> Defaults:
    return DEFAULTS.model_copy(update={"caps": NO_CAPS.model_copy(update={"debate_usd": usd})})


async def test_a_cap_with_an_unknown_price_refuses_unless_the_models_are_local(
    stage: Stage,
) -> None:
    async with stage.process(price=None) as line:
        with pytest.raises(BudgetError, match="price of near/ana") as refused:
            await line.start(capped(1.0))
        assert refused.value.hint.startswith("Set ROSTRUM_PRICES")
        assert await line.store.listings.recent() == []
        debate = await line.hold()
        assert debate.status is Status.CLOSED
        assert (await line.store.journal.spending(debate.id))[1] is None
    assert "None USD" in stage.venue.said()
    stage.local = True
    async with stage.process(price=None) as line:
        started = await line.start(capped(0.0))
        debate = await line.ended(started.debate.id)
        assert (started.estimate.usd, started.estimate.usd_max) == (0, 0)
        assert debate.status is Status.CLOSED
        assert (await line.store.journal.spending(debate.id))[1] == 0


@pytest.mark.postgresql
async def test_a_cap_reached_in_mid_debate_keeps_what_was_paid_for(stage: Stage) -> None:
    stage.server.always(acts.Act(usage_extra={"completion_tokens": 900}))
    price = Price(usd_in=0, usd_out=100)  # a call costs 0.09 USD, and at most 0.1
    async with stage.process(price=price) as line:
        with pytest.raises(BudgetError, match="choose cheaper models"):
            await line.start(capped(0.001))
        assert stage.server.requests == []
        debate = await line.hold(capped(0.6))
        record = await line.record(debate.id)
        assert debate.status is Status.PARTIAL
        assert "has used 0.5400 USD" in debate.reason
        assert "more than its cap of 0.6 USD allows." in debate.reason
        assert not any("ROSTRUM_" in post.body for post in in_thread(stage))
        assert [turn.step for turn in record.turns] == TURNS[:6]
        assert sum(call.cost or 0 for call in record.calls) == pytest.approx(0.54)
        assert "The debate ends here, incomplete." in in_thread(stage)[-1].body
        same = await line.service.resume(debate.id, capped(0.6).caps)
        await line.ended(same.id)
        assert len(stage.server.requests) == 6
        await line.service.resume(debate.id, NO_CAPS)
        ended = await line.ended(debate.id)
        assert [turn.step for turn in (await line.record(debate.id)).turns] == TURNS
    assert ended.status is Status.CLOSED


async def test_calls_of_unknown_cost_count_at_their_maximum(stage: Stage) -> None:
    stage.server.always(acts.Act(usage=False))
    price = Price(usd_in=0, usd_out=100)  # 0.1 USD a call at most
    defaults = capped(0.75)
    async with stage.process(price=price) as line:
        debate = await line.hold(defaults)
    assert debate.status is Status.PARTIAL
    assert len(stage.server.requests) == 7


@pytest.mark.parametrize(
    ("language", "topic"),
    [
        ("en", "Remote work is more productive than working from an office"),
        ("tr", "Uzaktan çalışmak ofiste çalışmaktan daha verimlidir"),
        ("de", "Fernarbeit ist produktiver als die Arbeit im Büro"),
        ("zh", "远程办公比在办公室工作更有效率"),
    ],
)
async def test_an_estimate_is_near_what_a_rehearsal_debate_took(
    line: Running, language: str, topic: str
) -> None:
    sides = {
        side: Model.parse(f"rehearsal/{name}")
        for side, name in zip("AB", ("oak", "elm"), strict=True)
    }
    jurors = tuple(Model.parse(f"rehearsal/{name}") for name in ("ash", "fir", "yew", "bay"))
    defaults = DEFAULTS.model_copy(update={"sides": sides, "jurors": jurors})
    for rounds, order in ((1, TurnOrder.SEQUENTIAL), (3, TurnOrder.SIMULTANEOUS)):
        started = await line.start(
            defaults, topic=topic, language=language, rounds=rounds, turn_order=order
        )
        debate = await line.ended(started.debate.id)
        calls = (await line.record(debate.id)).calls
        usages = [call.reply.usage for call in calls if call.reply]
        expected = started.estimate
        assert expected.calls == pytest.approx(len(calls), rel=0.25)
        read = sum(usage.tokens_in or 0 for usage in usages)
        assert expected.tokens_in == pytest.approx(read, rel=0.25)
        written = sum(usage.tokens_out or 0 for usage in usages)
        assert expected.tokens_out == pytest.approx(written, rel=0.25)
        assert expected.usd == 0


async def test_starts_that_come_at_once_hold_the_loop_for_one_of_them_at_most(
    line: Running,
) -> None:
    turn, begun, priced = 0, list[int](), list[int]()
    seed, identify = line.service.new_seed, line.service.new_id

    async def count() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    def draw() -> int:
        begun.append(turn)
        return seed()

    def name() -> str:
        priced.append(turn)
        return identify()

    line.service.new_seed, line.service.new_id = draw, name
    async with beside(count()):
        await asyncio.gather(*(line.start() for _ in range(30)))
    assert len(set(begun)) == 30
    assert len(set(priced)) == 30
