"""Models on OpenAI-compatible backends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import orjson

from adapters.models.attempts import CallAnswer, CallFault, Next, Outcome, RetryPolicy, persist
from adapters.models.backends import Backend, Habits, Rung, request_body, streams
from adapters.models.completions import amount_in, read_answer
from adapters.models.connection import COST, ConnectionPool, HttpResponse
from adapters.models.discovery import FETCH_S, PriceBook, read_contexts, read_parameters
from adapters.models.events import MOST_TEXT, Completion
from adapters.models.faults import (
    TOO_LARGE,
    broken_fault,
    complaint,
    endless_fault,
    error_words,
    full_fault,
    room_in,
    status_fault,
)
from adapters.models.pace import Gate, Weighed
from engine.fleet.limits import Fleet
from engine.stage.steps import Pace, tokens_in
from engine.stage.structured import CUT_OFF
from engine.values.debate import Model, Origin, Price, Usage
from engine.values.errors import UsageError
from engine.values.language import N_
from engine.values.ports import Call, FaultKind, Reply

if TYPE_CHECKING:
    from engine.values.protocols import AttemptLog

# What a try counts at: a backend's figures are believed only where they can be true.


ABSURD = 10  # times the highest possible; some providers count tokens that no one asked for
SCANT = 40  # characters; no text has fewer tokens than one for so many
FEW = 1_000  # tokens; a provider's own instructions may be longer than a prompt
DEAREST = Price(usd_in=150, usd_out=600)  # of any model, where no price says what is possible


def bounded(outcome: Outcome, read: int, written: int) -> Outcome:
    """Return an outcome without token counts that are absurd: far too many, or too few for a text.

    `read` and `written` are the most tokens that the call may take.
    """
    usage = outcome.usage
    most_in = ABSURD * max(FEW, read)
    most_out = ABSURD * max(FEW, _longest(outcome, written))
    least_in = least_out = 0
    if isinstance(outcome, CallAnswer):
        # Some count what a cache held apart from the rest.
        elsewhere = (usage.tokens_cached or 0) + (usage.tokens_written or 0)
        least_in = read // SCANT - elsewhere
        least_out = max(1, len(outcome.text) // SCANT)
    possible = {
        "tokens_in": (least_in, most_in),
        "tokens_out": (least_out, most_out),
        "tokens_cached": (0, most_in),
        "tokens_written": (0, most_in),
        "tokens_reasoning": (0, most_out),
    }
    absurd = [
        name
        for name, (least, most) in possible.items()
        if (count := getattr(usage, name)) is not None and not least <= count <= most
    ]
    if not absurd:
        return outcome
    kept = usage.model_copy(update=dict.fromkeys(absurd))
    return replace(outcome, usage=kept, doubtful=True)


def billed(outcome: Outcome, price: Price | None, read: int, written: int) -> Outcome:
    """Return a bounded outcome with its cost: the greater of the stated one and price × tokens.

    None is unknown, and counts at its highest: where a figure is doubtful, or the cost absurd.
    """
    if outcome.cost is not None and outcome.origin is not Origin.REPLY:
        return outcome  # certainly not billed
    free = price is not None and price.free
    counted = _counted(outcome.usage, price)
    cost = max((one for one in (outcome.cost, counted) if one is not None), default=None)
    dear = DEAREST if price is None or free else price
    highest = dear.cost(read, _longest(outcome, written), written=read)
    gift = cost == 0 and counted is None and price is not None  # and no tokens can tell
    if outcome.doubtful or gift or cost is None or cost > ABSURD * highest:
        cost = 0.0 if free else None
    if cost is None or price is None:
        return replace(outcome, cost=cost, origin=None if cost is None else Origin.REPLY)
    return replace(outcome, cost=cost, origin=price.origin if cost == counted else Origin.REPLY)


def _longest(outcome: Outcome, written: int) -> int:
    """Return the most tokens that can have been written: some backends heed no cap."""
    return max(written, len(outcome.text)) if isinstance(outcome, CallAnswer) else written


def _counted(usage: Usage, price: Price | None) -> float | None:
    """Return price × tokens, None if one of them is unknown."""
    if price is None:
        return None
    if price.free:
        return 0.0
    if usage.tokens_in is None or usage.tokens_out is None:
        return None
    return price.cost(
        usage.tokens_in,
        usage.tokens_out,
        cached=usage.tokens_cached or 0,
        written=usage.tokens_written or 0,
    )


PATH = "/chat/completions"
# Faults that are about no parameter, whatever words are in them.
_SAYS_NOTHING = frozenset(
    {FaultKind.KEY, FaultKind.CREDIT, FaultKind.DECLINED, FaultKind.LIMITED, FaultKind.REDIRECTED}
    | {FaultKind.CAPPED, FaultKind.EMPTY, FaultKind.BROKEN, FaultKind.UNREADABLE}
)
AT_ONCE_S = 1.0  # a server that fails sooner has not let the model write
USUAL_S = 20.0  # a turn of a few hundred words at 30 tokens a second


class _ModelList(NamedTuple):
    """What a backend says of its models, by name: tokens of the context, and fields they take."""

    contexts: Mapping[str, int] = {}
    parameters: Mapping[str, frozenset[str]] = {}


class HttpModels:
    """The Models port over HTTP: every model of the given backends.

    What refusals teach is remembered per backend and model until the process exits. `secrets` are
    taken out of what backends say, beside their own keys.
    """

    def __init__(
        self,
        backends: Mapping[str, Backend],
        prices: Mapping[str, Price],
        policy: RetryPolicy,
        fleet: Fleet | None = None,
        secrets: Sequence[str] = (),
    ) -> None:
        self.backends = dict(backends)
        ours = (secret for backend in backends.values() for secret in backend.secrets)
        self.secrets = tuple({*secrets, *ours} - {""})
        self.policy = policy
        self.connection = ConnectionPool(sum(b.max_concurrency for b in backends.values()) + 8)
        self.prices = PriceBook(prices, self.connection)
        self._fleet = fleet or Fleet()
        self._gates: dict[str, Gate] = {}
        self._habits: dict[str, Habits] = {}
        self._lists: dict[str, _ModelList] = {}
        self._rungs: dict[str, tuple[Rung, ...]] = {}
        self._seconds: dict[str, float] = {}
        self._turns = Pace()

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        await self.connection.open(self.backends[call.model.backend])
        reply = await persist(call, log, self.policy, _BackendExchange(self, call))
        self._seconds[call.model.ref] = 0.7 * self.pace(call.model) + 0.3 * reply.latency
        return reply

    async def price(self, model: Model) -> Price | None:
        """Return a model's price. Raises UsageError for a setting that its backend refuses.

        Whatever is paid is priced before, so that nothing is paid where that is known.
        """
        if model.configuration is not None:
            # What no list names may go.
            taken = (await self._list(self.backends[model.backend])).parameters
            told = frozenset().union(*taken.values()) - taken.get(model.name, frozenset())
            refused = tuple(name for name in model.configuration.request_fields if name in told)
            if refused and model.name in taken:
                raise UsageError(
                    N_(
                        "{model} does not take {settings:and}, by the list of its backend; leave "
                        "that out, or choose another model."
                    ),
                    model=model.ref,
                    settings=refused,
                )
        return await self.prices.price(model, self.backends[model.backend])

    async def context(self, model: Model) -> int | None:
        """Return how many tokens a prompt and its answer may have together; None if unknown."""
        return (await self._list(self.backends[model.backend])).contexts.get(model.name)

    async def _list(self, backend: Backend) -> _ModelList:
        """Return what a backend says of its models; read again where it could not be reached."""
        if backend.name not in self._lists:
            response = await self.connection.get(backend, "/models", FETCH_S)
            if isinstance(response, CallFault):
                return _ModelList()
            content = response.content
            listed = _ModelList(read_contexts(content), read_parameters(content))
            self._lists[backend.name] = listed
        return self._lists[backend.name]

    def pace(self, model: Model) -> float:
        """Return a model's mean seconds per call, in this process so far."""
        return self._seconds.get(model.ref, USUAL_S)

    def gate(self, backend: Backend) -> Gate:
        """Return a backend's rate limiter."""
        if backend.name not in self._gates:
            self._gates[backend.name] = Gate(backend, self._turns, self._fleet)
        return self._gates[backend.name]

    def habits(self, model: Model) -> Habits:
        """Return the parameters that a model is known to accept."""
        backend = self.backends[model.backend]
        known = self._habits.get(model.ref)
        if known is None:
            known = self._habits[model.ref] = backend.habits(model.name)
        rungs = self._rungs.get(_server(backend, model))
        return known if rungs is None else replace(known, rungs=rungs)

    def learn(self, model: Model, used: Habits, refusal: str) -> bool:
        """Learn from the refusal of a request made with `used`; False if it teaches nothing."""
        if used != self.habits(model):
            return True  # a concurrent call has learned it already
        if model.configuration and any(
            name in refusal for name in model.configuration.request_fields
        ):
            return False  # what is compared would change without a word
        learned = used.without(refusal)
        if learned is not None:
            self._habits[model.ref] = learned
        return learned is not None

    def step_down(self, model: Model, used: Habits, refusal: str) -> bool:
        """Learn from a refusal of the form of an answer, for every model of a server."""
        if used.rungs != self.habits(model).rungs:
            return True
        learned = used.below(refusal)
        if learned is not None:
            self._rungs[_server(self.backends[model.backend], model)] = learned.rungs
        return learned is not None

    def stop_streaming(self, model: Model) -> None:
        """Ask a model for whole answers from now on."""
        self._habits[model.ref] = replace(self.habits(model), streams=False)

    async def aclose(self) -> None:
        """Close every connection."""
        await self.connection.aclose()


def _server(backend: Backend, model: Model) -> str:
    """Return what answers for a model: the backend, or the model's own server behind a gateway."""
    return model.ref if backend.known.gateway else backend.name


class _BackendExchange:
    """One call's tries on one backend."""

    def __init__(self, models: HttpModels, call: Call) -> None:
        self._models = models
        self._call = call
        self._backend = models.backends[call.model.backend]
        self._cap = call.sampling.max_tokens
        self._doubled = self._lowered = False
        self._weighed: Weighed | None = None

    @property
    def free(self) -> bool:
        """Whether the model costs nothing."""
        price = self._call.price
        return self._backend.local or (price is not None and price.free)

    def slot(self) -> AbstractAsyncContextManager[float]:
        """Hold a slot of the backend for one try."""
        gate = self._models.gate(self._backend)
        slot = gate.slot(lambda: tokens_in(self._call) + self._cap)  # the most that it may take
        self._weighed = slot if isinstance(slot, Weighed) else None
        return slot

    async def send(self) -> Outcome:
        """Make one try, and learn from a refusal."""
        habits, began = self._models.habits(self._call.model), perf_counter()
        hear = self._call.on_text
        if hear is not None:
            hear("", self._call.model.name)
        if hear is not None and streams(self._call, habits):
            response = await self._stream(habits, hear)
        else:
            response = await self._models.connection.post(self._backend, PATH, self._body(habits))
        outcome = self._judge(response, habits)
        late = isinstance(outcome, CallFault) and outcome.kind is FaultKind.TIMEOUT
        if late or isinstance(outcome, CallAnswer):
            self._models.gate(self._backend).ended(began, late=late)
        elif (outcome.status or 0) >= 500 and perf_counter() - began < AT_ONCE_S:
            outcome = replace(outcome, cost=0.0)
        read = tokens_in(self._call)
        outcome = bounded(outcome, read, self._cap)
        taken = (outcome.usage.tokens_in, outcome.usage.tokens_out)
        if self._weighed is not None and (None not in taken or outcome.cost == 0.0):
            self._weighed.used(sum(tokens or 0 for tokens in taken))
        if self._backend.local:
            return replace(outcome, cost=0.0, origin=Origin.LOCAL)
        price, usage = self._call.price, outcome.usage
        stated = outcome.origin is Origin.REPLY
        if price is None and (stated or None not in (usage.tokens_in, usage.tokens_out)):
            price = await self._models.prices.price(self._call.model, self._backend)
        return billed(outcome, price, read, self._cap)

    async def _stream(
        self, habits: Habits, hear: Callable[[str, str], None]
    ) -> HttpResponse | CallFault:
        """Make a streamed try, and return it as a whole response."""
        model = self._call.model
        completion = Completion(model.name, hear)
        response = await self._models.connection.stream(
            self._backend, PATH, self._body(habits), completion.take, lambda: completion.complete
        )
        if not completion.begun:
            return response
        if completion.endless:
            return endless_fault(completion.size)
        if completion.stopped:
            self._models.stop_streaming(model)
            return replace(broken_fault(), then=Next.NOW)
        broke = isinstance(response, CallFault)
        if not completion.complete:
            return response if broke else broken_fault()
        # Where a model bills, knowing the cost matters more than showing the text early.
        uncounted = completion.answered and not (completion.usage or broke or self._backend.local)
        if completion.misheard or uncounted:
            self._models.stop_streaming(model)
        status = 200 if isinstance(response, CallFault) else response.status
        return HttpResponse(status, {}, completion.body())

    def _body(self, habits: Habits) -> bytes:
        body = request_body(self._call, habits, self._cap)
        if self._backend.known.session and habits.session:
            body[self._backend.known.session] = self._call.session
        if self._backend.known.costs:
            body["usage"] = {"include": True}
        return orjson.dumps(body)

    def _judge(self, response: HttpResponse | CallFault, habits: Habits) -> Outcome:
        if isinstance(response, CallFault):
            return response
        secrets = self._models.secrets
        if response.status >= 300:
            outcome: Outcome = status_fault(
                response.status, response.content, response.headers, secrets
            )
        else:
            outcome = read_answer(response.content, self._call.model.name, secrets)
            stated = amount_in(response.headers.get(COST, ""))
            if outcome.cost is None and stated:
                outcome = replace(outcome, cost=stated, origin=Origin.REPLY)
        if isinstance(outcome, CallAnswer):
            cut = outcome.finish == CUT_OFF and len(outcome.text) <= MOST_TEXT
            return replace(outcome, then=Next.WIDER) if cut and self._doubles() else outcome
        if self._learns(outcome, response, habits):
            return replace(outcome, then=Next.NOW)
        # The token cap doubles, once, for a model that used all of it for reasoning.
        if outcome.kind is not FaultKind.CAPPED:
            return outcome
        if self._lowered:
            full = full_fault()
            return replace(
                outcome, what=full.what, advice=full.advice, then=full.then, kind=full.kind
            )
        if not self._doubles():
            return replace(outcome, then=Next.FINAL)
        return replace(outcome, then=Next.WIDER)

    def _learns(self, fault: CallFault, response: HttpResponse, habits: Habits) -> bool:
        """Whether a refusal taught what a model accepts: then the next try is made at once.

        Of the form of an answer any refusal teaches: llama-cpp-python answers 500, some gateways
        200 with an error in it.
        """
        if fault.kind in _SAYS_NOTHING:
            return False
        message, _ = error_words(response.content)
        room = room_in(message, self._cap)
        if room is not None:
            self._cap, self._lowered = room, True
            return True
        model, words = self._call.model, complaint(response.content)
        formed = self._call.schema is not None and habits.rung(self._call) is not Rung.PROMPT
        if formed and self._models.step_down(model, habits, words):
            return True
        refused = response.status in (400, 422) and fault.kind is not FaultKind.CONTEXT
        too_large = habits.cap in message and TOO_LARGE.search(message)
        return refused and not too_large and self._models.learn(model, habits, words)

    def _doubles(self) -> bool:
        """Double the token cap, if it was not yet, and the model's context has room for that."""
        if self._doubled or self._lowered:
            return False
        self._doubled = True
        self._cap *= 2
        return True
