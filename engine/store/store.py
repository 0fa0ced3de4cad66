"""The whole store over one database."""

from __future__ import annotations

from collections.abc import Sequence

from engine.store.archive import Archive
from engine.store.asking import AudienceQuestions
from engine.store.communities import Communities
from engine.store.database import Database
from engine.store.debates import Debates
from engine.store.guests import GuestStore
from engine.store.installs import Installs, Vault
from engine.store.journal import Journal
from engine.store.labelling import LabellingStore
from engine.store.learning import Learning
from engine.store.leases import Leases
from engine.store.listings import Listings
from engine.store.outbox import Outbox
from engine.store.people import PeopleStore
from engine.store.retention import Deletions, Retention
from engine.store.series import SeriesStore
from engine.store.suggestions import Suggestions
from engine.store.usage import UsageStore
from engine.store.votes import Votes


class Store:
    """The whole store, a property per part, `keys` being those of its vault, the newest first.

    Open it after the database is migrated; close it at the end.
    """

    def __init__(self, database: Database, keys: Sequence[str] = ()) -> None:
        self.leases = Leases(database)
        self.debates = Debates(database)
        self.journal = Journal(database)
        self.outbox = Outbox(database)
        self.votes = Votes(database)
        self.asking = AudienceQuestions(database)
        self.guests = GuestStore(database)
        self.people = PeopleStore(database)
        self.communities = Communities(database)
        self.installs = Installs(database, Vault(keys))
        self.archive = Archive(database)
        self.listings = Listings(database)
        self.learning = Learning(database)
        self.series = SeriesStore(database)
        self.deletions = Deletions(database)
        self.suggestions = Suggestions(database)
        self.labelling = LabellingStore(database)
        self.usage = UsageStore(database)
        self.retention = Retention(database)
        self.database = database

    @property
    def away(self) -> bool:
        """Whether the database does not answer now or is full, so that what asks it waits."""
        return self.database.away

    def hurry(self) -> None:
        """Wait no longer than a moment for a database that is away: the process ends."""
        self.database.hurry()

    async def close(self) -> None:
        """Finish the writes that wait, and close every connection."""
        await self.database.close()
