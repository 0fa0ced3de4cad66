"""The workspaces that Rostrum serves, each with its own client."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import structlog

from adapters.slack import texts
from adapters.slack.errors import SlackAct
from adapters.slack.rest import SlackRest
from engine.store.installs import Installs
from engine.store.people import PeopleStore
from engine.values.errors import VenueAwayError, VenueError, VenueGoneError

# Slack's data on people: who is a bot, who is an admin, and in which language they read.


FRESH_SECONDS = 600.0
LANGUAGE_SECONDS = 5.0  # an answer waits at most as long for the language it is in
OF_MANY_SECONDS = 1.0  # the same, where many are answered at once
MOST_REMEMBERED = 10_000
PLATFORM = "slack"
log = structlog.get_logger(__name__)


class _Profile(NamedTuple):
    """A person's profile; `admin`: an admin or owner of the workspace.

    `language` is a BCP-47 code, empty if Slack did not say. `name` is what Slack calls them.
    """

    bot: bool = False
    admin: bool = False
    language: str = ""
    name: str = ""


class Profiles:
    """Looks up people of one workspace, with a cache.

    Who is a bot is stored too: without that, a process that starts during a large vote would ask
    about every voter again, 100 a minute.
    """

    def __init__(self, rest: SlackRest, team: str, people: PeopleStore | None) -> None:
        self._rest, self._team, self._people = rest, team, people
        self._known: dict[str, tuple[float, _Profile]] = {}
        self._asking: dict[str, asyncio.Future[_Profile]] = {}
        self._members: dict[str, tuple[float, frozenset[str]]] = {}  # of user groups
        self._stored: set[str] = set()  # those of whom the store knows whether they are bots
        self._silent_until = 0.0  # as a lookup for the language alone failed

    def is_bot(self, user: str) -> bool | None:
        """Return whether a user is a bot, None if not looked up yet."""
        found = self._known.get(user)
        return None if found is None else found[1].bot

    def known_language(self, user: str) -> str:
        """Return a person's language without asking Slack; empty if it is unknown."""
        found = self._known.get(user)
        return found[1].language if found else ""

    async def language(self, user: str, *, many: bool) -> str:
        """Return a person's language; empty if Slack does not say within seconds.

        `many` may ask at once, as voters do: they are looked up one at a time, and the others go
        without. Slack answers a hundred questions a minute, and some matter more.
        """
        known = self.known_language(user)
        if known or time.monotonic() < self._silent_until or (many and self._asking):
            return known
        asked = asyncio.ensure_future(self._learn_language(user))
        seconds = OF_MANY_SECONDS if many else LANGUAGE_SECONDS
        await asyncio.wait((asked,), timeout=seconds)
        return self.known_language(user)

    async def _learn_language(self, user: str) -> None:
        """Look a person up, and store whether it is a bot as for any voter."""
        try:
            await self.bots([user])
            if not self.known_language(user):  # stored by another process, which has no languages
                await self._look(user)
        except VenueError as error:
            log.info("person lookup failed", why=str(error))
        if user not in self._known:
            self._silent_until = time.monotonic() + FRESH_SECONDS

    async def profile(self, user: str) -> _Profile:
        """Return a profile; if Slack fails an expired one, without the rights of an admin."""
        found, until = self._known.get(user), time.monotonic()
        if found is not None and found[0] > until:
            return found[1]
        try:
            return await self._look(user)
        except VenueError as error:
            log.info("person lookup failed", why=str(error))
            return found[1]._replace(admin=False) if found is not None else _Profile()

    async def bots(self, users: Iterable[str]) -> frozenset[str]:
        """Return the bots among users; one who cannot be looked up counts as a person.

        Raises VenueAwayError for a temporary failure.
        """
        users, looked = tuple(users), dict[str, bool]()
        unknown = [user for user in users if self.is_bot(user) is None]
        if unknown and self._people is not None:
            # Whether they are admins is looked up when it matters.
            for user, bot in (await self._people.bots(PLATFORM, unknown)).items():
                self._remember(user, _Profile(bot), 0.0)
                self._stored.add(user)
        try:
            for user in users:
                if self.is_bot(user) is None:
                    try:
                        looked[user] = (await self._look(user)).bot
                    except VenueAwayError:
                        raise
                    except VenueError as error:
                        log.info("people lookup failed", why=str(error))
                elif user not in self._stored:  # looked up for a command meanwhile
                    looked[user] = bool(self.is_bot(user))
        finally:
            if self._people is not None:
                await self._people.note_bots(PLATFORM, looked)
                self._stored |= looked.keys()
        return frozenset(user for user in users if self.is_bot(user))

    async def groups(self, user: str, among: Iterable[str]) -> frozenset[str]:
        """Return which of these user groups a person is in. Raises VenueError."""
        return frozenset([one for one in among if user in await self._members_of(one)])

    async def _members_of(self, group: str) -> frozenset[str]:
        known, now = self._members.get(group), time.monotonic()
        if known is not None and known[0] > now:
            return known[1]
        asked = {"usergroup": group}
        read = self._rest.read(SlackAct.ASK, "usergroups.users.list", asked, place=group)
        members = frozenset((await read)["users"])
        if len(self._members) >= MOST_REMEMBERED:
            self._members.clear()
        self._members[group] = (now + FRESH_SECONDS, members)
        return members

    async def _look(self, user: str) -> _Profile:
        """Look a person up; concurrent callers share the answer."""

        def end(done: asyncio.Future[_Profile]) -> None:
            del self._asking[user]
            if not done.cancelled():
                done.exception()  # its waiters get it too

        asking = self._asking.get(user)
        if asking is None:
            asking = self._asking[user] = asyncio.ensure_future(self._ask(user))
            asking.add_done_callback(end)
        return await asyncio.shield(asking)

    async def _ask(self, user: str) -> _Profile:
        asked = {"user": user, "include_locale": "true"}
        read = self._rest.read(SlackAct.ASK, "users.info", asked, place=user)
        answer = (await read)["user"]
        # Shared channels have admins of other workspaces.
        own = answer.get("team_id", self._team) == self._team
        profile = _Profile(
            bot=bool(answer.get("is_bot")),
            admin=own and bool(answer.get("is_admin") or answer.get("is_owner")),
            language=str(answer.get("locale") or ""),
            name=str((answer.get("profile") or {}).get("display_name") or answer.get("name") or ""),
        )
        self._remember(user, profile, time.monotonic() + FRESH_SECONDS)
        return profile

    def _remember(self, user: str, profile: _Profile, until: float) -> None:
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
            self._stored.clear()
        self._known[user] = (until, profile)


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace: its id, the bot's user, its API client, and its people."""

    team: str
    user: str
    rest: SlackRest
    people: Profiles


class Workspaces(Protocol):
    """All workspaces; `app` is the client for requests without a workspace's token.

    `shares` is how many parts of them processes divide among themselves.
    """

    app: SlackRest
    shares: int

    async def open(self, installs: Installs, people: PeopleStore) -> None:
        """Load them from the store. Raises SettingsError for a token that no key decrypts."""

    async def find(self, team: str) -> Workspace:
        """Return a workspace. Raises VenueGoneError if Rostrum is not installed there."""

    async def of_bot(self, user: str) -> Workspace | None:
        """Return the workspace whose bot this user is, None for any other user."""

    async def teams(self) -> tuple[str, ...]:
        """Return the ids of all workspaces."""

    async def leave(self, team: str, removed_at: float) -> bool:
        """Drop a workspace that removed Rostrum at a time in seconds since 1970.

        False if it has installed Rostrum again since. Raises VenueAwayError.
        """


class OneWorkspace:
    """The one workspace that a token belongs to."""

    shares = 1

    def __init__(self, rest: SlackRest) -> None:
        self.app = rest
        self.people: PeopleStore | None = None  # until `open`
        self._found: Workspace | None = None

    async def open(self, installs: Installs, people: PeopleStore) -> None:
        """Keep the store of people; the token is a setting."""
        self.people = people

    async def find(self, team: str = "") -> Workspace:
        """Return the workspace; asks Slack once. Raises VenueError for any other."""
        if self._found is None:
            me = await self.app.identity()
            people = Profiles(self.app, me.team, self.people)
            self._found = Workspace(me.team, me.user, self.app, people)
        if team not in ("", self._found.team):
            raise VenueGoneError(texts.OTHER_WORKSPACE)
        return self._found

    async def of_bot(self, user: str) -> Workspace | None:
        """Return the workspace whose bot this user is, None for any other user."""
        found = await self.find()
        return found if found.user == user else None

    async def teams(self) -> tuple[str, ...]:
        """Return the workspace's id."""
        return ((await self.find()).team,)

    async def leave(self, team: str, removed_at: float) -> bool:
        """Keep the token; return whether it was this workspace."""
        return team == (await self.find()).team


# The managers whom the operator has listed, each of one workspace.


async def managers_in(workspaces: Workspaces, listed: Sequence[str], team: str) -> tuple[str, ...]:
    """Return the users who manage in a workspace beside its admins.

    They are listed as `TEAM/USER`, or `USER` of the installation's own workspace: the only one
    there is; of several that installed Rostrum by OAuth, none.
    """
    return managers_of(listed, team, own=await workspaces.teams() == (team,)) if listed else ()


def managers_of(listed: Sequence[str], team: str, *, own: bool) -> tuple[str, ...]:
    """Return the users of a list who manage in a workspace, the installation's `own` or not."""
    parted = [entry.rpartition("/") for entry in listed]
    return tuple(user for of, _, user in parted if of == team or (own and not of))
