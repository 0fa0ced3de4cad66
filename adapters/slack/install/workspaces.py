"""The workspaces that Rostrum serves, each with its own client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from adapters.slack import texts
from adapters.slack.people import Profiles
from adapters.slack.rest import Rest
from engine.store.installs import Installs
from engine.store.people import People
from engine.values.errors import VenueGoneError


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace: its id, the bot's user, its API client, and its people."""

    team: str
    user: str
    rest: Rest
    people: Profiles


class Workspaces(Protocol):
    """All workspaces; `app` is the client for requests without a workspace's token.

    `shares` is how many parts of them processes divide among themselves.
    """

    app: Rest
    shares: int

    async def open(self, installs: Installs, people: People) -> None:
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

    def __init__(self, rest: Rest) -> None:
        self.app = rest
        self.people: People | None = None  # until `open`
        self._found: Workspace | None = None

    async def open(self, installs: Installs, people: People) -> None:
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
