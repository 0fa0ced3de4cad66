"""A search endpoint as a model: the prompt is a query, and the answer is a list of results as JSON.

Search services name the same things differently; whatever holds a list of objects with a title and
a text is read. The journal, retries and deadlines are those of any other call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import orjson

from adapters.models.attempts import CallAnswer, CallFault, Next, Outcome, RetryPolicy, persist
from adapters.models.backends import Backend
from adapters.models.connection import ConnectionPool
from adapters.models.faults import status_fault
from adapters.models.pace import Gate
from engine.fleet.limits import Fleet
from engine.stage.steps import Pace
from engine.values.debate import Model, Origin, Price
from engine.values.ports import Call, FaultKind, Reply

if TYPE_CHECKING:
    from engine.values.protocols import AttemptLog

USUAL_S = 2.0
MOST_RESULTS = 20  # that are kept of an answer
LONGEST_TEXT = 20_000  # characters of one
PLACE = "{query}"
ADVICE = "check ROSTRUM_RETRIEVAL__URL and ROSTRUM_RETRIEVAL__KEY"
NO_RESULTS = "answered something that is no list of results"
UNREADABLE = CallFault(NO_RESULTS, ADVICE, Next.FINAL, kind=FaultKind.UNREADABLE)
_LISTS = ("results", "items", "data", "organic", "web", "hits", "documents", "value")
_TITLES = ("title", "name", "heading")
_TEXTS = ("content", "text", "snippet", "description", "body", "summary", "extract")
_ADDRESSES = ("url", "link", "href")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")


class SearchModels:
    """The Models port over one search endpoint; `url` has the place of the query, or takes `q`."""

    def __init__(
        self,
        backend: Backend,
        url: str,
        policy: RetryPolicy,
        pool: ConnectionPool,
        fleet: Fleet | None = None,
        secrets: Sequence[str] = (),
    ) -> None:
        self.backend, self._url = backend, url
        self._secrets = tuple({backend.secret, *secrets} - {""})
        self._policy, self._pool = policy, pool
        self._gate = Gate(backend, Pace(), fleet)

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        """Search for a call's last message. Raises ModelError."""
        await self._pool.open(self.backend)
        return await persist(call, log, self._policy, _Search(self, call))

    async def price(self, model: Model) -> Price | None:
        """Return a price of 0: what a search costs is between the operator and the service."""
        return Price(usd_in=0, usd_out=0, origin=Origin.SETTINGS)

    def pace(self, model: Model) -> float:
        """Return the usual seconds of a search."""
        return USUAL_S

    async def aclose(self) -> None:
        """Do nothing: the pool belongs to the other models."""

    def slot(self) -> AbstractAsyncContextManager[float]:
        """Hold a slot of the endpoint for one try."""
        return self._gate

    async def search(self, model: str, query: str) -> Outcome:
        """Ask once."""
        path = _path(self._url, query)
        response = await self._pool.get(self.backend, path, self.backend.timeout_s)
        if isinstance(response, CallFault):
            return response
        if response.status != 200:
            fault = status_fault(response.status, response.content, response.headers, self._secrets)
            what = f"refused the search ({response.status})"
            final = fault.then is Next.FINAL
            return replace(fault, what=what, advice=ADVICE, refused=False) if final else fault
        try:
            found = _found(orjson.loads(response.content))
        except orjson.JSONDecodeError:
            return UNREADABLE
        if found is None:
            return UNREADABLE
        results = [result for item in found if (result := _result(item))]
        text = orjson.dumps(results[:MOST_RESULTS]).decode()
        return CallAnswer(text, "stop", model, cost=0.0)


class _Search:
    """One search's tries."""

    free = True

    def __init__(self, models: SearchModels, call: Call) -> None:
        self._models, self._call = models, call

    def slot(self) -> AbstractAsyncContextManager[float]:
        """Hold a slot of the endpoint for one try."""
        return self._models.slot()

    async def send(self) -> Outcome:
        """Make one try."""
        return await self._models.search(self._call.model.name, self._call.messages[-1].content)


def origin_of(url: str) -> str:
    """Return the part of an address before its path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _path(url: str, query: str) -> str:
    path, said = url[len(origin_of(url)) :], quote(query, safe="")
    if PLACE in path:
        return path.replace(PLACE, said)
    return f"{path or '/'}{'&' if '?' in path else '?'}q={said}"


def _found(body: Any, depth: int = 0) -> list[Any] | None:
    """Return the list of results in an answer, however it is nested; None if it has none."""
    if isinstance(body, list):
        return body
    if not isinstance(body, dict) or depth > 3:
        return None
    inner = (_found(body[name], depth + 1) for name in _LISTS if name in body)
    return next((found for found in inner if found is not None), None)


def _result(item: Any) -> dict[str, str]:
    """Return a result's title, text and address; empty for one without a text."""
    if not isinstance(item, Mapping):
        return {}
    title, text, url = (next(_said(item, names), "") for names in (_TITLES, _TEXTS, _ADDRESSES))
    return {"title": title, "text": text[:LONGEST_TEXT], "url": url} if text else {}


def _said(item: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        said = item.get(name)
        if isinstance(said, str) and (plain := unescape(_TAG.sub("", said)).strip()):
            yield plain
