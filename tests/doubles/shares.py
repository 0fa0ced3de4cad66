"""The only share of a platform, as its only process holds it, without a database."""

from typing import Any

from engine.fleet.shares import PartitionLeases

NOBODY: Any = None


class EveryShard(PartitionLeases):
    """Shares of which the only one is held."""

    def __init__(self) -> None:
        super().__init__("discord", NOBODY, NOBODY, NOBODY, count=1)

    @property
    def held(self) -> frozenset[int]:
        return frozenset({0})

    async def turn(self, name: str, seconds: float) -> None:
        """Wait for no one."""
