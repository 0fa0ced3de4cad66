"""How a test drives Slack's double in a process of its own."""

from __future__ import annotations

from typing import Any

from tests.doubles.faults import Fault
from tests.doubles.remote import RemoteDouble


class Remote(RemoteDouble):
    """A client of `/control`."""

    package = "tests.doubles.slack"
    api = "/api"

    async def socket(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Do what its socket has a method for."""
        await self._act("socket", name, args, kwargs)

    async def fail(self, fault: Fault, method: str = "**", **which: int | str) -> None:
        """Let a fault happen, as `SlackServer.fail` does."""
        await self._fail(fault, method=method, **which)
