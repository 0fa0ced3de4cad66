"""The person behind a command: where they asked, and whether they manage the community."""

from __future__ import annotations

from engine.line.intake import Ground
from engine.store import Store
from engine.store.community import CommunitySettings
from engine.store.served import OWN
from engine.values.debate import Value


class Trial(Value):
    """The limits of debates in a person's own direct messages: USD a day, None is no own cap."""

    daily_usd: float | None = None


class Person(Value):
    """A person and the place of their command; ids are the platform's own.

    `place` is the channel and `thread` its thread, if the command came from one; `channel` is the
    place's id in settings, if that differs. `ground` has the permissions in that place. A manager
    is one by the platform's word (`manager`) or by the community's manager role. `roles` are also
    groups of users; `roles_unknown` says why they could not be read. `max_bytes` is
    the largest file that can be sent there. `trial` is there in the person's own direct messages,
    which are a community of their own.
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
    ground: Ground = Ground()
    trial: Trial | None = None
    max_bytes: int = 0


def own_community(number: int) -> str:
    """Return the community of a person's direct messages, by their surrogate id."""
    return f"{OWN}{number}"


async def settings_of(store: Store, person: Person) -> CommunitySettings:
    """Return the settings of a person's community."""
    return await store.communities.get(person.platform, person.community)
