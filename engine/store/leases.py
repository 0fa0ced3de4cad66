"""Leases: which process may write for a debate or a connection."""

from __future__ import annotations

from typing import Protocol

from engine.values.debate import Value


class Lease(Value):
    """The right to write for a debate or a connection; a higher epoch ends it."""

    name: str
    epoch: int


class Leases(Protocol):
    """Claims on debates (`debate/ID`) and on shares of platforms (`connection/NAME/K`)."""

    @property
    def alone(self) -> bool:
        """Whether no other process can hold leases here."""

    async def claim(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take a free or expired lease, raising its epoch; None if it is held."""

    async def renew(self, holder: str, seconds: float) -> dict[str, int]:
        """Renew all of a holder's leases from now; return their epochs by name."""

    async def held(self, prefix: str, holder: str) -> dict[str, str]:
        """Return who holds each live lease whose name begins with `prefix`.

        Where `holder` is the only process there can be, only its own are live.
        """

    async def release(self, lease: Lease) -> None:
        """Give a lease back if it is still ours; its epoch stays, so that none repeats."""
