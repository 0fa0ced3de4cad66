"""The workspaces that Rostrum is in, and what speaks for it in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from adapters.slack import texts
from adapters.slack.people import People
from adapters.slack.rest import Rest
from engine.errors import VenueGoneError
from engine.store.installs import Installs


@dataclass(frozen=True, slots=True)
class Workspace:
    """One workspace: its id, the bot's own user there, its requests, and who its people are."""

    team: str
    user: str
    rest: Rest
    people: People


class Workspaces(Protocol):
    """Every workspace; `app` makes the requests that need no workspace's token."""

    app: Rest

    async def open(self, installs: Installs) -> None:
        """Read what is stored of them. Raises SettingsError for a token that no key opens."""

    async def find(self, team: str) -> Workspace:
        """Return a workspace. Raises VenueGoneError where Rostrum is not installed."""

    async def of_bot(self, user: str) -> Workspace | None:
        """Return the workspace whose bot somebody is, None for anybody else."""

    async def teams(self) -> tuple[str, ...]:
        """Return the ids of all workspaces."""

    async def leave(self, team: str, told_at: float) -> bool:
        """Drop a workspace that removed Rostrum at a time, in seconds since 1970.

        False where that was before it installed Rostrum again. Raises VenueAwayError.
        """


class OneWorkspace:
    """The one workspace that a token belongs to."""

    def __init__(self, rest: Rest) -> None:
        self.app = rest
        self._found: Workspace | None = None

    async def open(self, installs: Installs) -> None:
        """Read nothing: the token is a setting."""

    async def find(self, team: str = "") -> Workspace:
        """Return the workspace, asking Slack the first time. Raises VenueError for any other."""
        if self._found is None:
            me = await self.app.identity()
            self._found = Workspace(me.team, me.user, self.app, People(self.app, me.team))
        if team not in ("", self._found.team):
            raise VenueGoneError(texts.OTHER_WORKSPACE)
        return self._found

    async def of_bot(self, user: str) -> Workspace | None:
        """Return the workspace whose bot somebody is, None for anybody else."""
        found = await self.find()
        return found if found.user == user else None

    async def teams(self) -> tuple[str, ...]:
        """Return the workspace's id."""
        return ((await self.find()).team,)

    async def leave(self, team: str, told_at: float) -> bool:
        """Keep the token, and whatever another workspace may tell."""
        return team == (await self.find()).team
