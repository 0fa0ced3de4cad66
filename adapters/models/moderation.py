"""A moderation endpoint as OpenAI has it: `/moderations` says whether a text is harmful.

Only what says that a text was flagged decides anything: an endpoint that is busy or away is asked
again, and then nothing is started for now.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import orjson
import structlog
from pydantic import SecretStr

from adapters.models.attempts import CallFault, Next, RetryPolicy, wait_after
from adapters.models.backends import Backend
from adapters.models.connection import ConnectionPool
from adapters.models.faults import status_fault
from engine.values.debate import Moderation
from engine.values.errors import ModelError
from engine.values.language import N_
from engine.values.ports import FaultKind

PATH, NAME = "/moderations", "moderation"
TRIES = RetryPolicy(tries=3, first_wait=0.5, longest_wait=4.0, max_retry_after=10.0)
AT_ONCE = 8
ADVICE = "check ROSTRUM_MODERATION__MODEL, __BASE_URL and __KEY"
UNREADABLE = CallFault(
    "answered something that is no moderation", ADVICE, Next.FINAL, kind=FaultKind.UNREADABLE
)
AWAY = N_(
    "What people write is checked first, and the check cannot be reached at the moment, so nothing "
    "was done; try again in a minute."
)
BROKEN = (
    "What people write is checked first, and the check does not work, so nothing was done; ask "
    "the operator of Rostrum to look at ROSTRUM_MODERATION__MODEL and its log."
)
_CATEGORY = re.compile(r"[\w/ -]{1,60}")
log = structlog.get_logger(__name__)


class HttpModerator:
    """The Moderator port over an OpenAI-compatible endpoint; connects on the first call."""

    def __init__(
        self,
        model: str,
        base_url: str,
        key: SecretStr | None = None,
        timeout_s: float = 10.0,
        policy: RetryPolicy = TRIES,
    ) -> None:
        self._model, self._policy = model, policy
        given = {"base_url": base_url, "api_key": key, "timeout_s": timeout_s}
        self._backend = Backend.of(NAME, **given, max_concurrency=AT_ONCE)
        self._pool = ConnectionPool(AT_ONCE)
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def check(self, texts: Sequence[str]) -> Moderation:
        """Ask until there is an answer. Raises ModelError; `passing` for one that may come."""
        for failures in count(1):
            async with self._slots:
                outcome = await self.ask(texts)
            if isinstance(outcome, Moderation):
                return outcome
            wait = wait_after(outcome, failures, self._policy)
            if wait is None:
                passing = outcome.then is not Next.FINAL
                # Without the endpoint's own words, which may repeat the text.
                log.warning("moderation failed", kind=outcome.kind.value, passing=passing)
                raise ModelError(AWAY if passing else BROKEN, model=self._model, passing=passing)
            await asyncio.sleep(wait * random.uniform(0.75, 1.0))
        raise AssertionError  # it counts on

    async def ask(self, texts: Sequence[str]) -> Moderation | CallFault:
        """Ask once."""
        body = orjson.dumps({"model": self._model, "input": list(texts)})
        response = await self._pool.post(self._backend, PATH, body)
        if isinstance(response, CallFault):
            return response
        if response.status != 200:
            secrets = (self._backend.secret,)
            fault = status_fault(response.status, response.content, response.headers, secrets)
            return replace(fault, advice=ADVICE) if fault.then is Next.FINAL else fault
        try:
            return _read(orjson.loads(response.content), self._model, len(texts))
        except orjson.JSONDecodeError:
            return UNREADABLE

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()


def _read(body: Any, model: str, texts: int) -> Moderation | CallFault:
    results = body.get("results") if isinstance(body, dict) else None
    if not isinstance(results, list) or len(results) not in (1, texts):
        return UNREADABLE
    if not all(
        isinstance(one, dict)
        and (isinstance(one.get("flagged"), bool) or isinstance(one.get("categories"), dict))
        for one in results
    ):
        return UNREADABLE
    named = body.get("model")
    return Moderation(
        model=named if isinstance(named, str) else model,
        flagged=any(map(_is_flagged, results)),
        categories=tuple(dict.fromkeys(name for one in results for name in _categories(one))),
    )


def _is_flagged(result: dict[str, Any]) -> bool:
    """Return whether a text is flagged; some endpoints say so by its categories alone."""
    flagged = result.get("flagged")
    return flagged if isinstance(flagged, bool) else any(_categories(result))


def _categories(result: dict[str, Any]) -> Iterator[str]:
    found = result.get("categories")
    for name, holds in found.items() if isinstance(found, dict) else ():
        if holds is True and _CATEGORY.fullmatch(str(name)):
            yield str(name)
