"""Who asks, where, about which debate, and whether they may; what every command needs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import NamedTuple
from weakref import WeakValueDictionary

from engine.run.order import Defaults, PlaceCapabilities
from engine.run.service import Service
from engine.store import Store
from engine.store.communities import CommunitySettings
from engine.store.debates import the_one
from engine.store.leases import OWN
from engine.values.debate import Debate, Status, Value
from engine.values.errors import NotAllowedError, NotFoundError, UsageError
from engine.values.language import N_, Text
from engine.values.text import clean, headline

# The person behind a command: where they asked, and whether they manage the community.


class Requester(Value):
    """A person and the place of their command; ids are the platform's own.

    `place` is the channel and `thread` its thread, if the command came from one; `channel` is the
    place's id in settings, if that differs. `ground` has the permissions in that place. A manager
    is one by the platform's word (`manager`) or by the community's manager role. `roles` are also
    groups of users; `roles_unknown` says why they could not be read. `max_bytes` is
    the largest file that can be sent there. `trial` is there in the person's own direct messages,
    which are a community of their own: the USD a day of its debates, infinite without a cap.
    """

    platform: str
    community: str
    place: str
    user: str
    thread: str | None = None
    channel: str | None = None
    manager: bool = False
    roles: frozenset[str] = frozenset()
    roles_unknown: str = ""
    capabilities: PlaceCapabilities = PlaceCapabilities()
    trial: float | None = None
    max_bytes: int = 0


def own_community(number: int) -> str:
    """Return the community of a person's direct messages, by their surrogate id."""
    return f"{OWN}{number}"


async def settings_of(store: Store, person: Requester) -> CommunitySettings:
    """Return the settings of a person's community."""
    return await store.communities.get(person.platform, person.community)


# How often a person may look up what takes long to read: a leaderboard, choices while typing.
#
# A process counts for itself, in memory: a restart forgets it, and several processes each allow it.


AT_ONCE = 5
SECONDS = 10  # after that many, until the next
MOST_REMEMBERED = 10_000  # people; those who asked longest ago are forgotten first


@dataclass(frozen=True, slots=True)
class _Cooldown:
    """Remembers until when each person has used up what they may look up (a leaky bucket).

    After `at_once` look-ups another is allowed every `seconds`.
    """

    at_once: int = AT_ONCE
    seconds: float = SECONDS
    remembered: dict[tuple[str, str], datetime] = field(default_factory=dict)

    def check(self, who: tuple[str, str], now: datetime) -> None:
        """Count one more look-up of a person. Raises NotAllowedError if that is too many."""
        each = timedelta(seconds=self.seconds)
        full = now + self.at_once * each  # a clock may have been set back
        used = min(max(self.remembered.pop(who, now), now), full)
        self.remembered[who] = used
        wait = (used + each - full).total_seconds()
        if wait > 0:
            raise NotAllowedError(
                "You looked up a lot in a short time. Try again in {n} seconds.",
                n=max(2, ceil(wait)),
            )  # never “1 seconds”
        self.remembered[who] = used + each
        if len(self.remembered) > MOST_REMEMBERED:
            del self.remembered[next(iter(self.remembered))]


READINGS = 4  # at once, of all communities


@dataclass(slots=True)
class Context:
    """The engine as commands use it; `defaults` are the operator's."""

    service: Service
    store: Store
    defaults: Defaults
    version: str
    export_key: bytes | None = None
    cooldown: _Cooldown = field(default_factory=_Cooldown)
    typing: _Cooldown = field(default_factory=lambda: _Cooldown(at_once=20, seconds=1))
    # Each keeps a thread busy with Python, and debates need the interpreter too: a community has
    # one at a time, and threads are left for everything else.
    _readings: WeakValueDictionary[tuple[str, str], asyncio.Lock] = field(
        default_factory=WeakValueDictionary
    )
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(READINGS))
    # Per thread: the second of two concurrent starts must see the first.
    starts: WeakValueDictionary[object, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    @asynccontextmanager
    async def reading(self, person: Requester) -> AsyncIterator[None]:
        """Wait until a person's community may read many debates; others do not wait for it."""
        community = person.platform, person.community
        async with self._readings.setdefault(community, asyncio.Lock()), self._room:
            yield


# Who may use a command.


class Who(NamedTuple):
    """Who may use a command: `note` goes into its help, `task` into the refusal."""

    note: str = ""
    task: str = ""


EVERYONE = Who()
LEAGUE_STARTERS = Who(N_(" (managers start and stop it)"))  # checked once it is known what to do
DELETERS = Who(N_(" (its starter before anyone has voted, or a manager)"))
LISTERS = Who(N_(" (managers approve and remove)"))  # checked once it is known what to do
SCHEDULERS = Who(N_(" (managers set and end it)"))
STARTER = Who(N_(" (its starter or a manager)"))  # checked once the debate is known


def managers(task: str) -> Who:
    """Restrict a task such as “close a vote early” to managers."""
    return Who(N_(" (managers)"), task)


async def check(who: Who, store: Store, person: Requester) -> None:
    """Refuse a person who may not use a command. Raises NotAllowedError."""
    if who.task and not await manages(store, person):
        raise NotAllowedError(
            "Only a manager of this community can {task}; please ask one.",
            task=Text(who.task),
        )


async def check_started(store: Store, person: Requester, debate: Debate) -> bool:
    """Return whether a person started a debate. Raises NotAllowedError for anyone but managers."""
    if await store.listings.is_starter(debate.id, person.user):
        return True
    if not await manages(store, person):
        raise NotAllowedError(
            "Only its starter or a manager can stop debate {code}; please ask them.",
            code=debate.code,
        )
    return False


async def check_may_start(store: Store, person: Requester) -> None:
    """Refuse someone outside the groups that may start debates. Raises NotAllowedError."""
    allowed = (await settings_of(store, person)).starters
    if allowed and not person.roles.intersection(allowed) and not await manages(store, person):
        if person.roles_unknown:
            raise NotAllowedError(
                "Only some groups may start debates here, and who is in them cannot be read now. "
                "Ask a manager. {why}",
                why=person.roles_unknown,
            )
        raise NotAllowedError(
            "Only some roles or groups may start debates here, and you are in none of them; "
            "suggest the topic instead, or ask a manager."
        )


async def manages(store: Store, person: Requester) -> bool:
    """Return whether a person manages the community."""
    return person.manager or (await settings_of(store, person)).manager_role in person.roles


# Find the debate that a person refers to: by code, else by thread or channel.


LOOKED_THROUGH = 100  # debates, for the one that is meant


async def find_held(
    store: Store, person: Requester, statuses: Sequence[Status] = (), limit: int = LOOKED_THROUGH
) -> Sequence[Debate]:
    """Return the debates of a person's community, newest first."""
    return await store.listings.of_community(person.platform, person.community, statuses, limit)


async def find_named(store: Store, person: Requester, code: str) -> Debate:
    """Return a debate of this community. Raises NotFoundError, also for a code of several.

    Other communities' debates count as unknown.
    """
    found = await store.listings.named(code, person.platform, person.community)
    if not found:
        raise NotFoundError(
            "There is no debate “{code}” here; the command list shows them.",
            code=headline(clean(code), 30),
        )
    return the_one(code, found)


async def find_newest(store: Store, person: Requester, code: str | None) -> Debate:
    """Return the named debate, or the newest one here. Raises NotFoundError."""
    if code:
        return await find_named(store, person, code)
    here = held_here(person, await find_held(store, person))
    if not here:
        raise NotFoundError("No debates in this channel yet; give a debate's code.")
    return here[0]


async def find_only(
    store: Store, person: Requester, code: str | None, statuses: Sequence[Status]
) -> Debate:
    """Return the named debate, or the only one here in one of the wanted states.

    Raises NotFoundError, and UsageError when there are several.
    """
    if code:
        return await find_named(store, person, code)
    here = held_here(person, await find_held(store, person, statuses))
    if not here:
        raise NotFoundError(
            "No debate is {wanted:or} in this channel; give a debate's code.",
            wanted=tuple(Text(status) for status in statuses),
        )
    if len(here) > 1:
        raise UsageError(
            "There are several such debates here; choose one of {codes}.",
            codes=tuple(debate.code for debate in here),
        )
    return here[0]


def held_here(person: Requester, held: Sequence[Debate]) -> list[Debate]:
    """Return the debate of this thread, or else those of this channel."""
    inside = [debate for debate in held if person.thread and debate.thread == person.thread]
    return inside or [debate for debate in held if debate.place == person.place]
