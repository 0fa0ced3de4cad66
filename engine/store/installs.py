"""Communities that installed Rostrum by OAuth, and their tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from pydantic import SecretStr

from engine.values.debate import Value


class Install(Value):
    """What a platform returned when a community installed Rostrum.

    `name` is the community's, `account` the bot's own user there. `token` acts for the bot; it is
    stored only here, encrypted.
    """

    platform: str
    community: str
    name: str
    account: str
    token: SecretStr
    installed_at: datetime


class Installs(Protocol):
    """The tokens of communities, and installations in progress."""

    async def keep(self, install: Install) -> None:
        """Store a token in place of an earlier one; the community then has Rostrum."""

    async def find(self, platform: str, community: str) -> Install | None:
        """Return a community's install. Raises SettingsError if no key decrypts it."""

    async def every(self, platform: str) -> list[Install]:
        """Return all of a platform. Raises SettingsError naming those that no key decrypts."""

    async def drop(self, platform: str, community: str) -> bool:
        """Delete a community's token; False if there was none."""

    async def reseal(self) -> None:
        """Encrypt every token with the first key; leaves those that no key decrypts."""

    async def begin(self, state: str, now: datetime, until: datetime) -> None:
        """Record that an installation began with this state, as a hash; deletes expired ones."""

    async def redeem(self, state: str, now: datetime) -> bool:
        """Accept a returning state, once and in time; False for any other."""
