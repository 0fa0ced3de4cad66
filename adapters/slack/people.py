"""What Slack says of people: who is a bot, who an admin, and which language is theirs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import NamedTuple

import structlog

from adapters.slack.errors import Act
from adapters.slack.rest import Rest
from engine.errors import VenueAwayError, VenueError

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
        self._asking: dict[str, asyncio.Future[Profile]] = {}

    def is_bot(self, user: str) -> bool | None:
        """Say whether somebody is a bot, None where that was not looked up."""
        found = self._known.get(user)
        return None if found is None else found[1].bot

    async def profile(self, user: str) -> Profile:
        """Return what is known, if need be from before; else an ordinary person."""
        found, until = self._known.get(user), time.monotonic()
        if found is not None and found[0] > until:
            return found[1]
        try:
            return await self._look(user)
        except VenueError as error:
            log.info("person lookup failed", why=str(error))
            return found[1] if found is not None else Profile()

    async def bots(self, users: Iterable[str]) -> frozenset[str]:
        """Return those who are bots; who may never be looked up counts as a person.

        Raises VenueAwayError where that cannot be told now.
        """
        found = set()
        for user in users:
            bot = self.is_bot(user)
            if bot is None:
                try:
                    bot = (await self._look(user)).bot
                except VenueAwayError:
                    raise
                except VenueError as error:
                    log.info("people lookup failed", why=str(error))
            if bot:
                found.add(user)
        return frozenset(found)

    async def _look(self, user: str) -> Profile:
        """Look a person up; concurrent callers share the answer."""
        asking = self._asking.get(user)
        if asking is None:
            asking = self._asking[user] = asyncio.ensure_future(self._ask(user))
            asking.add_done_callback(lambda done: self._asked(user, done))
        return await asyncio.shield(asking)

    def _asked(self, user: str, done: asyncio.Future[Profile]) -> None:
        del self._asking[user]
        if not done.cancelled():
            done.exception()  # those who wait have it too

    async def _ask(self, user: str) -> Profile:
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
