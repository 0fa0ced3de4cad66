"""The workspaces that installed Rostrum by OAuth: slack-bolt's installation store over ours."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import NamedTuple

from pydantic import SecretStr
from slack_bolt.error import BoltError
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore

from adapters.slack import texts
from adapters.slack.install.workspaces import Profiles, Workspace
from adapters.slack.interactions import PLATFORM
from adapters.slack.rest import SlackRest
from engine.run.plan import NOT_ALLOWED
from engine.store.installs import Install, Installs
from engine.store.people import PeopleStore
from engine.values.errors import VenueAwayError, VenueError, VenueGoneError
from engine.values.text import clean, headline

LONGEST_NAME = 255  # characters; Slack's own limit is lower
BUCKETS = 16  # of workspaces, divided among processes; those of each version have to agree
FRESH_SECONDS = 10.0  # before stored tokens are read again: another process may change them


class _Known(NamedTuple):
    """A cached workspace with its token, and when it expires."""

    home: Workspace
    token: str
    until: float


class Installations(AsyncInstallationStore):
    """Every workspace that installed Rostrum, each with its own token.

    With some `allowed` no other one is served, whenever it was installed.

    They are cached for some seconds only: behind a load balancer, a workspace may leave or install
    again, with a new token, through another process.
    """

    shares = BUCKETS
    installs: Installs  # these two since `open`
    people: PeopleStore

    def __init__(self, app: SlackRest, allowed: frozenset[str] = frozenset()) -> None:
        self.app, self._allowed = app, allowed
        self._known: dict[str, _Known] = {}
        self._of_bot: dict[str, Workspace] = {}

    async def open(self, installs: Installs, people: PeopleStore) -> None:
        """Load all installations. Raises SettingsError for a token that no key decrypts."""
        self.installs, self.people = installs, people
        await installs.reseal()
        for install in await installs.every(PLATFORM):
            if self._is_allowed(install.community):
                self._know(_bot_of(install))

    # --- as the adapter sees it -------------------------------------------------------------

    async def teams(self) -> tuple[str, ...]:
        """Return the ids of all workspaces."""
        return tuple(self._known)

    async def find(self, team: str) -> Workspace:
        """Return a workspace. Raises VenueGoneError if Rostrum is not installed there."""
        if not self._is_allowed(team):
            raise VenueGoneError(NOT_ALLOWED)
        known = self._known.get(team)
        if known is None or known.until <= time.monotonic():
            bot = await self.async_find_bot(enterprise_id=None, team_id=team)
            if bot is None:
                self._forget(team)
                raise VenueGoneError(texts.NOT_INSTALLED)
            self._know(bot)
        return self._known[team].home

    async def of_bot(self, user: str) -> Workspace | None:
        """Return the workspace whose bot this user is, None for any other user."""
        return self._of_bot.get(user)

    async def leave(self, team: str, removed_at: float) -> bool:
        """Drop a workspace that removed Rostrum at a time in seconds since 1970.

        False if it has installed Rostrum again since. Raises VenueAwayError.
        """
        bot = await self.async_find_bot(enterprise_id=None, team_id=team)
        if bot is not None and removed_at < bot.installed_at and await self._works(bot):
            return False
        await self.async_delete_bot(enterprise_id=None, team_id=team)
        return True

    # --- as slack-bolt sees it --------------------------------------------------------------

    async def async_save(self, installation: Installation) -> None:
        """Store an installation. Raises BoltError saying what is wrong with it."""
        team, token = installation.team_id, installation.bot_token
        if installation.is_enterprise_install or team is None:
            raise BoltError(texts.WHOLE_ORGANISATION)
        if not self._is_allowed(team):
            raise BoltError(NOT_ALLOWED)
        if installation.bot_refresh_token is not None:
            raise BoltError(texts.ROTATES)
        if token is None or installation.bot_user_id is None:
            raise BoltError(texts.NO_BOT)
        install = Install(
            platform=PLATFORM,
            community=team,
            name=team_name(installation),
            account=installation.bot_user_id,
            token=SecretStr(token),
            installed_at=datetime.fromtimestamp(installation.installed_at, UTC),
        )
        await self.installs.keep(install)
        self._know(_bot_of(install))

    async def async_find_bot(
        self,
        *,
        enterprise_id: str | None,
        team_id: str | None,
        is_enterprise_install: bool | None = False,
    ) -> Bot | None:
        """Return a workspace's bot, None if Rostrum is not installed there."""
        install = await self.installs.find(PLATFORM, team_id or "")
        return None if install is None else _bot_of(install)

    async def async_delete_bot(self, *, enterprise_id: str | None, team_id: str | None) -> None:
        """Delete a workspace's token."""
        await self.installs.drop(PLATFORM, team_id or "")
        self._forget(team_id or "")

    # --- inside -----------------------------------------------------------------------------

    def _is_allowed(self, team: str) -> bool:
        return not self._allowed or team in self._allowed

    def _know(self, bot: Bot) -> None:
        """Cache a workspace; with the same token its known people are kept."""
        team, token, until = bot.team_id or "", bot.bot_token, time.monotonic() + FRESH_SECONDS
        known = self._known.get(team)
        if known is not None and (known.token, known.home.user) == (token, bot.bot_user_id):
            self._known[team] = known._replace(until=until)
            return
        self._forget(team)
        rest = self.app.speaking(SecretStr(token))
        home = Workspace(team, bot.bot_user_id, rest, Profiles(rest, team, self.people))
        self._known[team] = _Known(home, token, until)
        self._of_bot[home.user] = home

    def _forget(self, team: str) -> None:
        gone = self._known.pop(team, None)
        if gone is not None:
            del self._of_bot[gone.home.user]

    async def _works(self, bot: Bot) -> bool:
        """Return whether Slack accepts a token now: clocks differ, and events may be late."""
        try:
            await self.app.speaking(SecretStr(bot.bot_token)).identity()
        except VenueAwayError:
            raise
        except VenueError:
            return False
        return True


def team_name(installation: Installation) -> str:
    """Return a workspace's display name, or its id."""
    return headline(clean(installation.team_name or ""), LONGEST_NAME) or installation.team_id or ""


def _bot_of(install: Install) -> Bot:
    return Bot(
        team_id=install.community,
        team_name=install.name,
        bot_token=install.token.get_secret_value(),
        bot_id="",  # Slack does not give it here, and nothing needs it
        bot_user_id=install.account,
        installed_at=install.installed_at.timestamp(),
    )
