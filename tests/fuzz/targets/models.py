"""What models, search endpoints and classifiers answer."""

import math
from typing import Any

import orjson

from adapters.models.attempts import CallAnswer, CallFault, Outcome, RetryPolicy
from adapters.models.backends import Backend
from adapters.models.completions import read_answer
from adapters.models.connection import HttpResponse
from adapters.models.discovery import model_entries, read_prices
from adapters.models.events import Completion
from adapters.models.faults import complaint, status_fault
from adapters.models.moderation import HttpModerator
from adapters.models.search import SearchModels
from engine.formats.audited.judge import _Pairwise, absolute_shape
from engine.formats.structured.answers import cross_shape, judgment_shape
from engine.jury.ballot import read_ballot
from engine.jury.rubric import DEBATE, RUBRICS
from engine.stage.forms import form
from engine.stage.research import read_results
from engine.stage.shapes import read_shape
from engine.stage.structured import MAX_CHARS
from engine.values.debate import Model
from engine.values.ports import Reply
from engine.values.verdicts import TIE
from tests.fuzz.target import Target, wait

SECRET = "sk-fuzz-0123456789"
NAMES = {"A": "Maple", "B": "Cedar"}
SHAPES = (
    absolute_shape(3, [1]),
    form(_Pairwise),
    cross_shape(("A1", "A2"), 2),
    judgment_shape(("A1", "B1"), DEBATE),
)


def storable(value: object) -> None:
    """Assert that a value can be stored, and read back as it is."""
    assert orjson.loads(orjson.dumps(value)) is not None


def sound(outcome: Outcome) -> None:
    """Assert that an outcome's numbers are amounts, and its texts such that can be stored."""
    amounts = [outcome.cost, *dict(outcome.usage).values()]
    assert all(one is None or (math.isfinite(one) and one >= 0) for one in amounts)
    if isinstance(outcome, CallAnswer):
        storable([outcome.text, outcome.finish, outcome.model])
        assert outcome.text.strip()
    else:
        storable([outcome.what, outcome.advice, outcome.model])
        assert SECRET not in outcome.what


def answer(data: bytes) -> None:
    sound(read_answer(data, "asked", SECRET))


def stream(data: bytes) -> None:
    """Read an event stream: the same in whatever pieces it arrives."""
    bodies = set()
    for size in (len(data) or 1, 7, 1) if len(data) < 5_000 else (len(data), 997):
        completion = Completion("asked", lambda text, model: storable([text, model]))
        for start in range(0, len(data), size):
            if not completion.take(data[start : start + size]):
                break
        bodies.add(completion.body())
    assert len(bodies) == 1
    sound(read_answer(bodies.pop(), "asked", SECRET))


def refusal(data: bytes) -> None:
    """Read a response with an error status: status, Retry-After, then the body, a line each."""
    status, _, rest = data.partition(b"\n")
    after, _, body = rest.partition(b"\n")
    number = 400 + sum(status) % 200
    found = status_fault(number, body, {"retry-after": after.decode("latin-1")}, SECRET)
    sound(found)
    assert found.wait is None or 0 <= found.wait < math.inf
    complaint(body)


def ballot(data: bytes) -> None:
    """Read a juror's reply: a valid ballot is whole, and any other has no score."""
    text = data.decode("utf-8", "replace")
    for rubric in (DEBATE, *list(RUBRICS.values())[1:2]):
        found = read_ballot(text, "stop", NAMES, rubric)
        storable(found.problem)
        if not found.valid:
            assert found.problem
            assert not found.scores
            assert found.verdict is None
            assert found.confidence is None
            continue
        assert found.scores is not None
        assert found.scores.keys() == NAMES.keys()
        for sheet in found.scores.values():
            for one in rubric.criteria:
                assert one.lowest <= sheet[one.name] <= one.highest
        assert found.verdict in (*NAMES, TIE)
        assert found.confidence is not None
        assert 0 <= found.confidence <= 1
        storable([found.reasons, found.scores, found.confidence])


def shape(data: bytes) -> None:
    """Read a structured answer of a speaker or judge; only a readable one has a value."""
    text = data.decode("utf-8", "replace")[:MAX_CHARS]
    for one in SHAPES:
        found: Any = read_shape(Reply(text=text, finish="stop", model="m"), one)
        storable([fault.what for fault in found.faults])
        if found.value is None:
            assert found.faults
        else:
            storable(found.value.model_dump(mode="json"))


def prices(data: bytes) -> None:
    model_entries(data)
    for price in read_prices(data).values():
        if price is not None:
            assert all(math.isfinite(usd) and usd >= 0 for usd in (price.usd_in, price.usd_out))


class Answering:
    """A pool of connections on which everything is answered with one body."""

    def __init__(self, body: bytes) -> None:
        self._response = HttpResponse(200, {}, body)

    async def open(self) -> None:
        """Do nothing."""

    async def get(self, *_: object) -> HttpResponse:
        return self._response

    post = get


def search(data: bytes) -> None:
    """Read what a search endpoint found, and what a side makes of it."""
    pool: Any = Answering(data)
    backend = Backend.of("search", base_url="http://127.0.0.1:1")
    found = wait(
        SearchModels(backend, "http://127.0.0.1:1/s", RetryPolicy(), pool).search("m", "q")
    )
    if isinstance(found, CallFault):
        assert found.kind
        return
    for result in read_results(found.text, "q"):
        storable(result.model_dump())


def results(data: bytes) -> None:
    for result in read_results(data.decode("utf-8", "replace"), "q"):
        storable(result.model_dump())


def moderation(data: bytes) -> None:
    """Read what a classifier answered: what cannot be read lets nothing through."""
    moderator = HttpModerator("m", "http://127.0.0.1:1")
    pool: Any = Answering(data)
    moderator._pool = pool
    found = wait(moderator.ask(["one", "two"]))
    if not isinstance(found, CallFault):
        storable([found.model, found.flagged, found.categories])


def name(data: bytes) -> None:
    """Read a model's name as people and files write it."""
    Model.parse(data.decode("utf-8", "replace"))


MODELS = (
    Target("model-answer", answer, ()),
    Target("model-stream", stream, ()),
    Target("model-refusal", refusal, ()),
    Target("model-ballot", ballot, ()),
    Target("model-shape", shape, ()),
    Target("model-prices", prices, ()),
    Target("model-search", search, ()),
    Target("model-results", results, ()),
    Target("model-moderation", moderation, ()),
    Target("model-name", name),
)
