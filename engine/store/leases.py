"""Leases: which process may write for a debate or a connection."""

from __future__ import annotations

from typing import Protocol

from engine.debate import Value


class Lease(Value):
    """The right to write for a debate or a connection; a higher epoch ends it."""

    name: str
    epoch: int


class Leases(Protocol):
    """Claims on debates (`debate/ID`) and on platform connections (`connection/NAME`)."""

    async def claim(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take a free or expired lease, raising its epoch; None if it is held."""

    async def renew(self, holder: str, seconds: float) -> dict[str, int]:
        """Renew all of a holder's leases from now; return their epochs by name."""

    async def release(self, lease: Lease) -> None:
        """Give a lease back if it is still ours; its epoch stays, so that none repeats."""
