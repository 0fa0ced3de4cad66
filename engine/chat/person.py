"""Who asks in a chat, where, and whether they manage the community there."""

from __future__ import annotations

from engine.debate import Value
from engine.line.intake import Ground
from engine.store import Store
from engine.store.community import CommunitySettings


class Person(Value):
    """Who asks, and where: ids are the platform's own.

    `place` is the channel, `thread` the thread of it that was asked in, if any; `channel` is what
    settings call the place, if that is another name. `ground` is what is known of that very spot.
    A manager is whom the platform says so (`manager`), or who holds the community's manager role.
    `max_bytes` is the size of the largest file that can be handed over there.
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
    max_bytes: int = 0


async def settings_of(store: Store, person: Person) -> CommunitySettings:
    """Return the settings of the community that a person asks in."""
    return await store.communities.get(person.platform, person.community)
