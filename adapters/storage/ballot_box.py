"""Collects the reactions of one moment, so that they are stored together."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from threading import Lock

from adapters.storage.casting import cast_all
from adapters.storage.connection import Connection
from adapters.storage.database import Database
from engine.store import Cast, Outcome


@dataclass(slots=True)
class Batch:
    """Reactions that wait for one write; what comes after it has begun waits for the next."""

    casts: list[Cast] = field(default_factory=list)
    _sealed: bool = False
    _lock: Lock = field(default_factory=Lock)

    def add(self, cast: Cast) -> int | None:
        """Take one more and return its place; None when the write has begun."""
        with self._lock:
            if self._sealed:
                return None
            self.casts.append(cast)
            return len(self.casts) - 1

    def store(self, connection: Connection) -> list[Outcome]:
        """Store them all, in the order of receipt."""
        with self._lock:  # the writer has a thread of its own
            self._sealed = True
        return cast_all(connection, self.casts)


class BallotBox:
    """Where reactions are thrown in."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._batch = Batch()
        self._written: asyncio.Future[list[Outcome]] | None = None

    async def cast(self, cast: Cast) -> Outcome:
        """Store a reaction, with those that come meanwhile."""
        place = self._batch.add(cast) if self._written is not None else None
        if place is None or self._written is None:
            self._batch = Batch([cast])
            place = 0
            self._written = self._database.enqueue(self._batch.store)
        batch, written = self._batch, self._written
        try:
            outcomes = await asyncio.shield(written)
        except Exception:
            if len(batch.casts) == 1:
                raise
            # One that cannot be stored must not take the others with it.
            return await self._database.write(lambda c: cast_all(c, [cast])[0])
        return outcomes[place]
