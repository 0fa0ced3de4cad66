"""The whole store over one database."""

from __future__ import annotations

from adapters.storage.archive import ArchiveTable
from adapters.storage.communities import CommunityTable
from adapters.storage.database import Database
from adapters.storage.debates import DebateTable
from adapters.storage.journal import JournalTable
from adapters.storage.leases import LeaseTable
from adapters.storage.outbox import OutboxTable
from adapters.storage.people import PeopleTable
from adapters.storage.votes import VoteTable


class SqlStore:
    """The Store port. Open it after the database is migrated; close it at the end."""

    def __init__(self, database: Database) -> None:
        self.leases = LeaseTable(database)
        self.debates = DebateTable(database)
        self.journal = JournalTable(database)
        self.outbox = OutboxTable(database)
        self.votes = VoteTable(database)
        self.people = PeopleTable(database)
        self.communities = CommunityTable(database)
        self.archive = ArchiveTable(database)
        self._database = database

    async def close(self) -> None:
        """Finish the writes that wait, and close every connection."""
        await self._database.close()
