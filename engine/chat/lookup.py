"""Find the debate that a person refers to: by code, else by thread or channel."""

from __future__ import annotations

from collections.abc import Sequence

from engine.chat.person import Person
from engine.store import Store
from engine.store.debates import the_one
from engine.values.debate import Debate, Status
from engine.values.errors import NotFoundError, UsageError
from engine.values.language import Text
from engine.values.text import clean, headline

LOOKED_THROUGH = 100  # debates, for the one that is meant


async def find_held(
    store: Store, person: Person, statuses: Sequence[Status] = (), limit: int = LOOKED_THROUGH
) -> Sequence[Debate]:
    """Return the debates of a person's community, newest first."""
    return await store.debates.of_community(person.platform, person.community, statuses, limit)


async def find_named(store: Store, person: Person, code: str) -> Debate:
    """Return a debate of this community. Raises NotFoundError, also for a code of several.

    Other communities' debates count as unknown.
    """
    found = await store.debates.named(code, person.platform, person.community)
    if not found:
        raise NotFoundError(
            "There is no debate “{code}” here; the command list shows them.",
            code=headline(clean(code), 30),
        )
    return the_one(code, found)


async def find_newest(store: Store, person: Person, code: str | None) -> Debate:
    """Return the named debate, or the newest one here. Raises NotFoundError."""
    if code:
        return await find_named(store, person, code)
    here = held_here(person, await find_held(store, person))
    if not here:
        raise NotFoundError("No debates in this channel yet; give a debate's code.")
    return here[0]


async def find_only(
    store: Store, person: Person, code: str | None, statuses: Sequence[Status]
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


def held_here(person: Person, held: Sequence[Debate]) -> list[Debate]:
    """Return the debate of this thread, or else those of this channel."""
    inside = [debate for debate in held if person.thread and debate.thread == person.thread]
    return inside or [debate for debate in held if debate.place == person.place]
