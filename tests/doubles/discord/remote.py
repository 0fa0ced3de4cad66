"""How a test drives Discord's double in a process of its own."""

from __future__ import annotations

from typing import Any

from tests.doubles.faults import Fault
from tests.doubles.remote import RemoteDouble


class Remote(RemoteDouble):
    """A client of `/control`."""

    package = "tests.doubles.discord"
    api = "/api/v10"

    async def gateway(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Do what its gateway has a method for."""
        await self._act("gateway", name, args, kwargs)

    async def fail(
        self, fault: Fault, method: str = "*", path: str = "/**", **which: int | str
    ) -> None:
        """Let a fault happen, as `DiscordServer.fail` does."""
        await self._fail(fault, method=method, path=path, **which)
