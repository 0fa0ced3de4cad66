"""Communities that installed Rostrum by themselves, and the token that each of them gave it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from pydantic import SecretStr

from engine.debate import Value


class Install(Value):
    """What a platform gave Rostrum when a community installed it.

    `name` is the community's, `account` the bot's own user there. `token` speaks for the bot; it
    is stored encrypted, and nowhere else.
    """

    platform: str
    community: str
    name: str
    account: str
    token: SecretStr
    installed_at: datetime


class Installs(Protocol):
    """The tokens of communities, and the installing that was begun."""

    async def keep(self, install: Install) -> None:
        """Store a token in place of an earlier one; from then on the community has Rostrum."""

    async def find(self, platform: str, community: str) -> Install | None:
        """Return what a community gave. Raises SettingsError where no key opens it."""

    async def every(self, platform: str) -> list[Install]:
        """Return all of a platform. Raises SettingsError that names those that no key opens."""

    async def drop(self, platform: str, community: str) -> bool:
        """Delete a community's token; False: there was none."""

    async def reseal(self) -> None:
        """Encrypt with the first key what another key encrypted, and leave what none opens."""

    async def begin(self, state: str, now: datetime, until: datetime) -> None:
        """Note that somebody began to install, who comes back with this state; kept as a hash."""

    async def redeem(self, state: str, now: datetime) -> bool:
        """Take a state that comes back, once and in time; False for any other."""
