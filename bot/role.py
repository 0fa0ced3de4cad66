"""What a process is of a running Rostrum."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Which part of Rostrum a process is; each value but the last is its command.

    A gateway holds the platforms' connections and all that answers people, and a worker thinks:
    formats and panels. A process that runs alone is both, and so is a command, for what it began.
    """

    ALL = "run"
    GATEWAY = "gateway"
    WORKER = "worker"
    COMMAND = "command"

    @property
    def serves(self) -> bool:
        """Whether it holds connections to platforms."""
        return self is not Role.WORKER

    @property
    def thinks(self) -> bool:
        """Whether it runs debates."""
        return self is not Role.GATEWAY

    @property
    def queues(self) -> bool:
        """Whether debates that it stores are for any process that thinks."""
        return self is not Role.COMMAND
