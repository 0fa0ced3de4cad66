"""Creates every part and joins them; nothing else knows them all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

from adapters.database.database import START_SECONDS
from adapters.database.migrate import make_ready
from adapters.dispatch import LocalDispatcher
from adapters.models.router import ModelRouter, open_models
from bot import __version__, exits
from bot.database import Role, Sharing, open_database, open_sharing, read_store
from bot.log import about
from bot.settings.settings import STOP_SECONDS, Settings
from engine.delivery.outbox import Delivery
from engine.fleet.leases import LeaseManager, Services
from engine.prompts import Prompts, load_prompts
from engine.run.order import Defaults
from engine.run.run import Runner
from engine.run.service import Service
from engine.store import Store
from engine.values.debate import Debate
from engine.values.ports import UNWATCHED, Audience, Clock, Permalinks, SystemClock
from engine.votes.window import VoteWindow

if TYPE_CHECKING:
    from adapters.metrics import Counts
    from engine.chat.commands import Commands
    from engine.fleet.limits import Fleet
    from engine.series.runner import SeriesProgress, SeriesRunner
    from engine.series.schedule import Schedule
    from engine.series.spec import Series
    from engine.values.protocols import Dispatcher, Models, Moderator, Venue

SUBMITTED_TOGETHER = 50


@dataclass(frozen=True)
class App:
    """A running Rostrum: what its front ends use."""

    service: Service
    open_commands: Callable[[], Commands]
    store: Store
    defaults: Defaults
    deliveries: Mapping[str, Delivery]
    reconcile: Callable[..., Awaitable[None]]
    open_series: Callable[[Series, Callable[[SeriesProgress], None]], SeriesRunner]
    open_schedule: Callable[[], Schedule]
    drain: Callable[[], None]

    @cached_property
    def commands(self) -> Commands:
        """The chat commands; a terminal does not load them."""
        return self.open_commands()


def defaults_of(settings: Settings) -> Defaults:
    """Return the settings that apply to every debate."""
    sides = {"A": settings.default_a, "B": settings.default_b}
    return Defaults(
        **settings.options.given(),
        panel=settings.panel.mode,
        models=settings.models,
        jurors=settings.jurors,
        own_judges=settings.default_judges,
        seats=settings.default_seats,
        sides={side: model for side, model in sides.items() if model is not None},
        sampling=settings.sampling.roles(),
        limits=settings.limits(),
        chars_per_word=settings.chars_per_word,
        reply_chars=settings.reply_chars,
        topics=settings.topic_list().topics,
        rubric=settings.panel.rubric,
        value_per_usd=settings.panel.value_per_usd,
        sources=settings.sources,
        retrieval=settings.retrieval.plan(),
        caps=settings.budget,
        web_url=settings.web.url or "",
        allowed=settings.allowed(),
    )


def open_configured_models(settings: Settings, fleet: Fleet | None = None) -> ModelRouter:
    """Return the models of all configured backends, and the rehearsal models.

    `fleet` is what the backends' limits are divided among.
    """
    endpoints = {backend.name: backend for backend in settings.endpoints()}
    if endpoints or settings.retrieval.url:
        # Import it while the database is opened, so that the first call need not wait.
        Thread(target=import_module, args=("aiohttp",), name="aiohttp", daemon=True).start()
    search = settings.retrieval.endpoint()
    secrets = tuple(settings.secrets())
    return open_models(endpoints, settings.prices, search=search, fleet=fleet, secrets=secrets)


def open_moderator(settings: Settings) -> Moderator | None:
    """Return what asks the moderation model; None where none is set."""
    if not settings.moderation.model:
        return None
    from adapters.models.moderation import HttpModerator  # few set one

    return HttpModerator(**dict(settings.moderation))


def _open_counts(settings: Settings) -> Counts:
    from bot.serve.health import open_counts  # few set traces

    return open_counts(settings)


async def find_debate(settings: Settings, debate_id: str) -> Debate:
    """Return a stored debate by its id or code. Raises NotFoundError or StoreError."""
    async with read_store(settings) as store:
        return await store.debates.get(debate_id)


@asynccontextmanager
async def run_app(
    settings: Settings,
    venues: Sequence[Venue],
    *,
    role: Role = Role.COMMAND,
    counts: Counts | None = None,
    audience: Audience | None = None,
    prepare: Callable[[Store], Awaitable[None]] | None = None,
    start_seconds: float = START_SECONDS,
) -> AsyncIterator[App]:
    """Run a role on a migrated database until the body ends, then stop it in order.

    `counts` watches it, `audience` turns being written, and `prepare` reads the store first. A
    server that is away is waited for, for `start_seconds`. A background task that fails ends the
    body with its exception. Raises SettingsError or StoreError before anything runs.
    """
    prompts = load_prompts(settings.templates_dir)
    counts = counts or (_open_counts(settings) if settings.traces else None)
    database = open_database(settings, start_seconds=start_seconds)
    store = Store(database, settings.vault_keys())
    sharing = open_sharing(settings, database, role)
    models = open_configured_models(settings, sharing.fleet)
    moderator = open_moderator(settings)
    try:
        await make_ready(database)
        if prepare is not None:
            await prepare(store)
        line = MainLine(
            store,
            models,
            prompts,
            venues,
            audience=audience,
            counts=counts,
            role=role,
            sharing=sharing,
            moderator=moderator,
            permalinks=Permalinks(settings.web.url or ""),
            stop_seconds=settings.stop_seconds,
        )
        async with line.running():
            yield _offer(settings, line, store)
    except BaseExceptionGroup as group:
        raise first_error(group) from group
    finally:
        asked = {"moderation": moderator.aclose} if moderator else {}
        watching = {"traces": counts.aclose} if counts else {}
        await exits.close_in_time(models=models.aclose, **asked, database=store.close, **watching)


def _offer(settings: Settings, line: MainLine, store: Store) -> App:
    """Return what front ends use of a line that runs."""
    defaults = defaults_of(settings)
    return App(
        service=line.service,
        open_commands=partial(_open_commands, settings, line.service, store),
        store=store,
        defaults=defaults,
        deliveries=line.deliveries,
        reconcile=line.reconcile,
        open_series=partial(line.open_series, defaults),
        open_schedule=partial(line.open_schedule, defaults),
        drain=line.drain,
    )


def _open_commands(settings: Settings, service: Service, store: Store) -> Commands:
    from engine.chat.commands import Commands  # and with it exports and statistics

    key = settings.export.hmac_key
    secret = key.get_secret_value().encode() if key else None
    return Commands(service, store, defaults_of(settings), __version__, secret)


def first_error(error: BaseException) -> BaseException:
    """Return the first error in a task group's: a person needs one sentence."""
    return first_error(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


class MainLine:
    """The main line, joined: from the service to the dispatcher, runner, delivery and window."""

    def __init__(
        self,
        store: Store,
        models: Models,
        prompts: Prompts,
        venues: Sequence[Venue],
        dispatcher: Dispatcher | None = None,
        audience: Audience | None = None,
        clock: Clock | None = None,
        role: Role = Role.COMMAND,
        counts: Counts | None = None,
        sharing: Sharing | None = None,
        moderator: Moderator | None = None,
        permalinks: Permalinks = Permalinks(),  # noqa: B008 - a frozen value
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        self._role, self._sharing = role, sharing or Sharing()
        self._calls_seconds, self._stop_by = exits.calls_seconds(stop_seconds), 0.0
        notifier, clock, watch = self._sharing.notifier, clock or SystemClock(), counts or UNWATCHED
        models = counts.over(models) if counts else models
        lease_manager = LeaseManager(store, notifier, self._sharing.holder, watch=watch)
        self._services = services = Services(store, lease_manager, notifier, clock)
        self._dispatcher = dispatcher or self._sharing.dispatcher or LocalDispatcher()
        # A debate that waits for a person is left, and `reconcile` submits it again.
        self._leaves = self._sharing.dispatcher is not None
        self._runner = Runner(store, models, lease_manager, notifier, audience, self._leaves)
        self._venues = {venue.platform: venue for venue in venues}
        self.deliveries = {
            name: Delivery(venue, services, permalinks) for name, venue in self._venues.items()
        }
        self._windows = {
            venue.platform: VoteWindow(
                venue, services, self.deliveries[venue.platform].shares, moderator
            )
            for venue in venues
        }
        self.service = Service(
            store, models, self._dispatcher, prompts, notifier, clock, self._windows, moderator
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run every background task around the body, each owned by one group."""
        for window in self._windows.values():
            await window.listen()
        async with asyncio.TaskGroup() as group:
            lease_manager = self._services.lease_manager
            jobs = [lease_manager.run(), *self._sharing.jobs(self._services.store, lease_manager)]
            if self._role.thinks:
                jobs.append(self._dispatcher.run(self._think))
            jobs += [delivery.run() for delivery in self.deliveries.values()]
            jobs += [window.run() for window in self._windows.values()]
            tasks = [group.create_task(work) for work in jobs]
            try:
                yield
            finally:
                # Calls in flight are journaled first, as they are paid for.
                self.drain()
                left = self._stop_by - asyncio.get_running_loop().time()
                await self._dispatcher.stop(max(left, 0.0))
                self._services.store.fail_fast()
                for task in tasks:
                    task.cancel()

    def drain(self) -> None:
        """Begin nothing new; from now on calls in flight have their time to end."""
        if not self._services.lease_manager.draining:
            self._services.lease_manager.draining = True
            loop = asyncio.get_running_loop()
            self._stop_by = loop.time() + self._calls_seconds
            # Then debates are cancelled, and none may wait for a database that is away.
            loop.call_at(self._stop_by, self._services.store.fail_fast)

    def open_series(
        self, defaults: Defaults, series: Series, watch: Callable[[SeriesProgress], None]
    ) -> SeriesRunner:
        """Return what holds a series on this line."""
        from engine.series.runner import SeriesRunner  # one command needs it

        return SeriesRunner(series, self.service, self._services, defaults, watch)

    def open_schedule(self, defaults: Defaults) -> Schedule:
        """Return what holds the series on this line's platforms that people watch."""
        from engine.chat import schedules  # a terminal needs none of them
        from engine.chat.context import Context
        from engine.chat.settings import overlay
        from engine.series.recurrence import Recurrences
        from engine.series.schedule import Schedule

        store, _, notifier, clock = self._services
        hold = partial(schedules.hold, Context(self.service, store, defaults, __version__))
        recurrences = Recurrences(self._venues, store, notifier, clock, hold)
        return Schedule(
            self._venues, self.service, self._services, defaults, overlay, recurrences=recurrences
        )

    async def reconcile(self, *only: str) -> None:
        """Submit every unfinished debate that no process runs, or of these, if this one thinks."""
        if not self._role.thinks:
            return
        found = await self._services.store.queue.unheld(waiting=not self._leaves)
        unheld = [one for one in found if not only or one in only]
        free = [one for one in unheld if not self._services.lease_manager.holds(f"debate/{one}")]
        # Side by side, as each may wait for a commit, which they can share.
        for start in range(0, len(free), SUBMITTED_TOGETHER):
            together = free[start : start + SUBMITTED_TOGETHER]
            await asyncio.gather(*map(self._dispatcher.submit, together))

    async def _think(self, debate_id: str) -> None:
        """Run a debate, with its id on every log line about it."""
        with about(debate_id):
            await self._runner.run_debate(debate_id)
