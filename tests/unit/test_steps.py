"""Steps: never called twice, never beyond the budget."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st

from engine.fleet.leases import LEASE_SECONDS, LeaseManager, Notifier
from engine.stage.steps import Pace, Steps, _CallAttempts, tokens_in
from engine.store import Store
from engine.store.journal import prompt_hash
from engine.values.debate import Debate, Model, Price, Sampling
from engine.values.errors import BudgetError, LeaseLostError, PausedError, RostrumError
from engine.values.limits import Caps
from engine.values.ports import AnswerSchema, Attempt, Call, ChatMessage, Reply
from engine.values.protocols import AttemptLog
from tests.kit import ID, create, new_debate, setup_of, some

MODEL = Model.parse("near/ana")
SAMPLING = Sampling(temperature=0.5, max_tokens=100_000)
ASK = (ChatMessage(role="user", content="Why tea?"),)
PRICE = Price(usd_in=0, usd_out=1)  # so a call costs 0.1 USD at most


class PricedModels:
    """A Models port whose tries cost what it is told, None for unknown."""

    def __init__(self, *costs: float | None) -> None:
        self.costs = list(costs)
        self.calls: list[Call] = []

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        await log.began(1)
        self.calls.append(call)
        await asyncio.sleep(0.001)
        cost = self.costs.pop(0)
        reply = Reply(text="Because.", finish="stop", model="ana", cost=cost)
        log.ended(Attempt(number=1, cost=cost), reply)
        return reply

    async def price(self, model: Model) -> Price | None:
        return PRICE

    def pace(self, model: Model) -> float:
        return 0.0

    async def aclose(self) -> None:
        """Hold nothing."""


Opens = Callable[..., asyncio.Future[Steps]]


def ask(step: str, text: str = "Why tea?", schema: AnswerSchema | None = None) -> Call:
    return Call(step, MODEL, (ChatMessage(role="user", content=text),), SAMPLING, schema)


@pytest.fixture
def lease_manager(store: Store) -> LeaseManager:
    return LeaseManager(store, Notifier(), "one")


@pytest.fixture
async def open_steps(store: Store, lease_manager: LeaseManager) -> AsyncIterator[Opens]:
    """Offer a way to open a debate's steps as a process does when it claims it."""
    setup = setup_of().model_copy(
        update={"cap_usd": 0.25, "prices": {MODEL.ref: PRICE}, "reserved_usd": 0.25}
    )
    new = new_debate(id=ID, user=None, setup=setup)
    debate: Debate = await create(store, new, Caps())
    opened: list[Steps] = []

    async def make(models: PricedModels, holder: str) -> Steps:
        lease = some(await store.leases.claim(f"debate/{debate.id}", holder, 9))
        journaled = await store.journal.load(debate.id)
        steps = Steps(debate, lease, journaled, store, models, lease_manager, Pace())
        opened.append(steps)
        return steps

    def start(models: PricedModels, holder: str = "one") -> asyncio.Future[Steps]:
        return asyncio.ensure_future(make(models, holder))

    yield start
    for steps in opened:
        with suppress(RostrumError):  # a lease that was lost on purpose
            await steps.flush()


async def test_a_stored_step_is_never_called_again(open_steps: Opens) -> None:
    models = PricedModels(0.01, 0.01)
    steps = await open_steps(models)
    first = await steps.call(ask("turn/opening/A"))
    await steps.flush()
    resumed = await open_steps(models, "two")
    assert await resumed.call(ask("turn/opening/A")) == first
    assert len(models.calls) == 1
    assert resumed.spent == pytest.approx(0.01)


async def test_a_lease_that_runs_out_while_a_try_is_stored_sends_nothing(
    shared: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may hold the debate by then, and pay for the same call."""
    store, models, now = shared, PricedModels(0.01), [1_000.0]
    lease_manager = LeaseManager(store, Notifier(), "one", lambda: now[0])
    debate = await create(store, new_debate(id=ID, user=None), Caps())
    began = store.journal.began

    async def stand_still(*given: Any) -> None:
        await began(*given)
        now[0] += LEASE_SECONDS + 0.1

    async with lease_manager.hold(f"debate/{debate.id}") as lease:
        journaled = await store.journal.load(debate.id)
        steps = Steps(debate, lease, journaled, store, models, lease_manager, Pace())
        monkeypatch.setattr(store.journal, "began", stand_still)
        with pytest.raises(LeaseLostError, match="could not renew"):
            await steps.call(ask("turn/opening/A"))
    assert models.calls == []


async def test_a_call_that_may_pass_the_cap_is_never_made_and_no_model_named(
    open_steps: Opens,
) -> None:
    models = PricedModels(0.09, 0.09, 0.09)
    steps = await open_steps(models)
    await steps.call(ask("turn/opening/A"))
    await steps.call(ask("turn/opening/B"))
    said = r"has used 0\.1800 USD.*cap of 0\.25 USD allows\.$"
    with pytest.raises(BudgetError, match=said) as caught:
        await steps.call(ask("turn/rebuttal/A"))
    assert MODEL.name not in str(caught.value)
    assert len(models.calls) == 2


async def test_calls_side_by_side_do_not_pass_the_cap_together(open_steps: Opens) -> None:
    models = PricedModels(0.01, 0.01, 0.01)
    steps = await open_steps(models)
    asked = [steps.call(ask(f"jury/{n}")) for n in range(3)]
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert [isinstance(result, BudgetError) for result in results] == [False, False, True]
    assert len(models.calls) == 2
    assert steps.spent == pytest.approx(0.02)


async def test_a_cost_unknown_counts_at_its_maximum(open_steps: Opens) -> None:
    models = PricedModels(None, None, None)
    steps = await open_steps(models)
    await steps.call(ask("turn/opening/A"))
    await steps.call(ask("turn/opening/B"))
    assert steps.spent == pytest.approx(0.2)
    await steps.flush()
    assert (await open_steps(models, "two")).spent == pytest.approx(0.2)
    with pytest.raises(BudgetError):
        await steps.call(ask("turn/rebuttal/A"))


async def test_only_a_try_that_may_write_twice_as_much_is_covered_for_it(open_steps: Opens) -> None:
    steps = await open_steps(PricedModels(0.09, 0.0))
    log = _CallAttempts(steps, Call("turn/opening/A", MODEL, ASK, SAMPLING, price=PRICE))
    covered = []
    for number, doubles_cap in ((1, False), (2, True), (3, False)):
        await log.began(number)
        covered.append(steps.spent)
        log.ended(Attempt(number=number, error="no", cost=0.0, doubles_cap=doubles_cap))
    assert covered == pytest.approx([0.1, 0.1, 0.2])
    await steps.call(ask("turn/rebuttal/A"))
    log = _CallAttempts(steps, Call("turn/opening/B", MODEL, ASK, SAMPLING, price=PRICE))
    await log.began(1)
    log.ended(Attempt(number=1, error="no more calls for now", cost=0.0))
    await log.began(2)  # the cap of 0.25 has 0.16 left: enough for 0.1, and not for 0.2
    assert steps.spent == pytest.approx(0.19)


async def test_a_process_that_ends_sends_no_further_call(
    open_steps: Opens, lease_manager: LeaseManager
) -> None:
    models = PricedModels(0.01)
    steps = await open_steps(models)
    lease_manager.draining = True
    with pytest.raises(PausedError):
        await steps.call(ask("turn/opening/A"))
    assert models.calls == []


def test_the_most_that_a_prompt_and_its_schema_can_cost_is_counted_in_every_script() -> None:
    for text in ("Tea beats coffee. " * 50, "茶胜过咖啡。" * 50, "الشاي أفضل من القهوة. " * 50):
        assert tokens_in(ask("x", text)) >= len(text) / 4
        assert tokens_in(ask("x", text)) >= len(text.encode()) / 3
    schema = AnswerSchema("Price", Price.model_json_schema())
    written = len(json.dumps(schema.json_schema, separators=(",", ":")))
    assert tokens_in(ask("x", schema=schema)) >= tokens_in(ask("x")) + written / 2.5


def test_a_prompt_hash_changes_with_anything_in_it() -> None:
    other = (ChatMessage(role="system", content="Why tea?"),)
    assert prompt_hash(ASK) == prompt_hash(ASK)
    assert len({prompt_hash(ASK), prompt_hash(other), prompt_hash((*ASK, *ASK))}) == 3


@given(text=st.text())
def test_a_prompt_of_digits_or_of_another_script_is_never_counted_short(text: str) -> None:
    """Two and a half bytes a token is true of words only: a digit may be a token of its own."""
    dense = sum(len(char.encode()) for char in text if char.isdecimal() or not char.isascii())
    assert tokens_in(ask("x", text)) >= dense
    assert tokens_in(ask("x", text + "7" * 100)) >= tokens_in(ask("x", text)) + 100
