"""The whole store over one database."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.storage.archive import ArchiveTable
from adapters.storage.asking import AskingTable
from adapters.storage.communities import CommunityTable
from adapters.storage.database import Database
from adapters.storage.debates import DebateTable
from adapters.storage.deletions import DeletionTable
from adapters.storage.guests import GuestTable
from adapters.storage.installs import InstallTable
from adapters.storage.journal import JournalTable
from adapters.storage.labelling import LabellingTable
from adapters.storage.learning import LearningTable
from adapters.storage.leases import LeaseTable
from adapters.storage.listings import ListingTable
from adapters.storage.outbox import OutboxTable
from adapters.storage.people import PeopleTable
from adapters.storage.retention import RetentionTable
from adapters.storage.series import SeriesTable
from adapters.storage.suggestions import SuggestionTable
from adapters.storage.usage import UsageTable
from adapters.storage.vault import Vault
from adapters.storage.votes import VoteTable


class SqlStore:
    """The Store port, `keys` being those of its vault, the newest first.

    Open it after the database is migrated; close it at the end.
    """

    def __init__(self, database: Database, keys: Sequence[str] = ()) -> None:
        self.leases = LeaseTable(database)
        self.debates = DebateTable(database)
        self.journal = JournalTable(database)
        self.outbox = OutboxTable(database)
        self.votes = VoteTable(database)
        self.asking = AskingTable(database)
        self.guests = GuestTable(database)
        self.people = PeopleTable(database)
        self.communities = CommunityTable(database)
        self.installs = InstallTable(database, Vault(keys))
        self.archive = ArchiveTable(database)
        self.listings = ListingTable(database)
        self.learning = LearningTable(database)
        self.series = SeriesTable(database)
        self.deletions = DeletionTable(database)
        self.suggestions = SuggestionTable(database)
        self.labelling = LabellingTable(database)
        self.usage = UsageTable(database)
        self.retention = RetentionTable(database)
        self._database = database

    @property
    def away(self) -> bool:
        return self._database.away

    def hurry(self) -> None:
        """Wait no longer than a moment for a database that is away: the process ends."""
        self._database.hurry()

    async def close(self) -> None:
        """Finish the writes that wait, and close every connection."""
        await self._database.close()
