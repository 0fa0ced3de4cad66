"""What Slack says of people: who is a bot, who an admin, and which language is theirs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple

import structlog

from adapters.slack.errors import Act
from adapters.slack.rest import Rest
from engine.errors import VenueError

FRESH_SECONDS = 600.0
MOST_REMEMBERED = 10_000
log = structlog.get_logger(__name__)


class Profile(NamedTuple):
    """What is known of somebody; `admin` is an admin or owner of the workspace."""

    bot: bool = False
    admin: bool = False


class People:
    """Looks people of one workspace up, and remembers them for a while."""

    def __init__(self, rest: Rest, team: str) -> None:
        self._rest, self._team = rest, team
        self._known: dict[str, tuple[float, Profile]] = {}

    async def profile(self, user: str) -> Profile:
        """Return what is known, if need be from before; else an ordinary person."""
        found, until = self._known.get(user), time.monotonic()
        if found is not None and found[0] > until:
            return found[1]
        try:
            return await self._look(user)
        except VenueError as error:
            log.info("person not looked up", why=str(error))
            return found[1] if found is not None else Profile()

    async def bots(self, users: Iterable[str]) -> frozenset[str]:
        """Return those who are bots; who cannot be looked up now counts as a person."""
        found = set()
        for user in users:
            if user not in self._known:
                try:
                    await self._look(user)
                except VenueError as error:
                    log.info("people not looked up", why=str(error))
                    break
            if self._known[user][1].bot:
                found.add(user)
        return frozenset(found)

    async def _look(self, user: str) -> Profile:
        read = self._rest.read(Act.ASK, "users.info", {"user": user}, place=user)
        answer = (await read)["user"]
        # In a channel that workspaces share there are admins of others too.
        own = answer.get("team_id", self._team) == self._team
        profile = Profile(
            bot=bool(answer.get("is_bot")),
            admin=own and bool(answer.get("is_admin") or answer.get("is_owner")),
        )
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        self._known[user] = (time.monotonic() + FRESH_SECONDS, profile)
        return profile
