"""Who asks in a chat, where, and whether they manage the community there."""

from __future__ import annotations

from engine.debate import Value
from engine.errors import NotAllowedError
from engine.line.intake import Ground
from engine.store import Store
from engine.store.community import CommunitySettings


class Person(Value):
    """Who asks, and where: ids are the platform's own.

    `place` is the channel, `thread` the thread of it that was asked in, if any; `channel` is what
    settings call the place, if that is another name. `ground` is what is known of that very spot.
    A manager is whom the platform says so
    (`manager`), or who holds the community's manager role.
    """

    platform: str
    community: str
    place: str
    user: str
    thread: str | None = None
    channel: str | None = None
    manager: bool = False
    roles: frozenset[str] = frozenset()
    ground: Ground = Ground()


async def settings_of(store: Store, person: Person) -> CommunitySettings:
    """Return the settings of the community that a person asks in."""
    return await store.communities.get(person.platform, person.community)


async def manages(store: Store, person: Person) -> bool:
    """Tell whether a person is a manager of the community that they ask in."""
    return person.manager or (await settings_of(store, person)).manager_role in person.roles


async def require_manager(store: Store, person: Person, what: str) -> None:
    """Refuse whoever is no manager; `what` is what they want to do. Raises NotAllowedError."""
    if not await manages(store, person):
        raise NotAllowedError(f"Only a manager of this community can {what}; ask one.")
