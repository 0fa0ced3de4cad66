"""The Models port of the whole process: routes each call to its model's backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from adapters.models.attempts import RetryPolicy
from engine.values.debate import REHEARSAL, RETRIEVAL, Model, Price
from engine.values.errors import SettingsError, UsageError
from engine.values.options import hint
from engine.values.ports import Call, Reply

if TYPE_CHECKING:
    from adapters.models.backends import Backend, SearchEndpoint
    from adapters.models.client import HttpModels
    from adapters.models.rehearsal import RehearsalModels
    from adapters.models.search import SearchModels
    from engine.fleet.limits import Fleet
    from engine.values.protocols import AttemptLog, Models

_REHEARSAL_WAIT_S = 0.05  # offline, waiting does not help


class ModelRouter:
    """Every model of every backend, the built-in rehearsal one included."""

    def __init__(
        self,
        policy: RetryPolicy,
        online: HttpModels | None = None,
        search: SearchModels | None = None,
    ) -> None:
        self._policy = policy
        self._online = online
        self._search = search

    @property
    def backends(self) -> tuple[str, ...]:
        """The names of all backends."""
        return (REHEARSAL, *(self._online.backends if self._online else ()))

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        """Ask a model. Raises ModelError, or UsageError for an unknown backend."""
        return await self._route(call.model).complete(call, log)

    async def price(self, model: Model) -> Price | None:
        """Return a model's price, None if unknown; raises UsageError as `complete` does."""
        return await self._route(model).price(model)

    async def context(self, model: Model) -> int | None:
        """Return how many tokens a prompt and its answer may have together; None if unknown."""
        online = self._online
        if online is None or self._route(model) is not online:
            return None
        return await online.context(model)

    def pace(self, model: Model) -> float:
        """Return a model's usual seconds per call; raises UsageError as `complete` does."""
        return self._route(model).pace(model)

    async def aclose(self) -> None:
        """Close every connection."""
        if self._online is not None:
            await self._online.aclose()

    @cached_property
    def _rehearsal(self) -> RehearsalModels:
        from adapters.models.rehearsal import RehearsalModels  # texts that few debates need

        wait = min(self._policy.first_wait, _REHEARSAL_WAIT_S)
        return RehearsalModels(self._policy.model_copy(update={"first_wait": wait}))

    def _route(self, model: Model) -> Models:
        if model.backend == REHEARSAL:
            return self._rehearsal
        if model.backend == RETRIEVAL and self._search is not None:
            return self._search
        if self._online is not None and model.backend in self._online.backends:
            return self._online
        near = hint(model.backend, self.backends) or f"known are {', '.join(self.backends)}."
        raise UsageError(f"There is no backend “{model.backend}” (asked for {model.ref}); {near}")


def open_models(
    backends: Mapping[str, Backend],
    prices: Mapping[str, Price] | None = None,
    policy: RetryPolicy | None = None,
    search: SearchEndpoint | None = None,
    fleet: Fleet | None = None,
    secrets: Sequence[str] = (),
) -> ModelRouter:
    """Return the models of the given backends; connects on the first call.

    `prices` is by `backend/model` or model, in USD per million tokens. `search` is where debaters
    may look things up; `fleet` divides the backends' limits among processes; `secrets` are taken
    out of what backends say. Raises SettingsError if a backend has the built-in one's name.
    """
    if REHEARSAL in backends:
        raise SettingsError("“rehearsal” is built in; give that backend another name.")
    policy = policy or RetryPolicy()
    named = {backend.name: backend for backend in backends.values()}
    if search is not None and RETRIEVAL in named:
        raise SettingsError(
            "ROSTRUM_RETRIEVAL__URL makes a backend “retrieval”, and ROSTRUM_BACKENDS has one too; "
            "give that one another name."
        )
    if search is not None and search.model:  # a model that searches is a backend like others
        named[RETRIEVAL] = search.backend(search.url)
    if not named and search is None:
        return ModelRouter(policy)
    from adapters.models.client import HttpModels  # only now: a rehearsal has no use for HTTP

    online = HttpModels(named, prices or {}, policy, fleet, secrets)
    if search is None or search.model:
        return ModelRouter(policy, online)
    from adapters.models.search import SearchModels, origin_of

    at = search.backend(origin_of(search.url))
    services = (policy, online.connection, fleet, online.secrets)
    return ModelRouter(policy, online, SearchModels(at, search.url, *services))
