"""The whole store over one database."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from engine.store.archive import Archive
from engine.store.database import Database
from engine.store.debates import Debates
from engine.store.fits import Fits
from engine.store.journal import Journal
from engine.store.leases import Leases
from engine.store.outbox import Outbox
from engine.store.people import PeopleStore
from engine.store.votes import Votes

if TYPE_CHECKING:
    from engine.store.ballots import Ballots
    from engine.store.communities import Communities
    from engine.store.deliveries import Deliveries
    from engine.store.guests import GuestStore
    from engine.store.installs import Installs
    from engine.store.labels import LabellingStore
    from engine.store.learning import Learning
    from engine.store.listings import Listings
    from engine.store.privacy import Privacy
    from engine.store.queue import DebateQueue
    from engine.store.retention import Retention
    from engine.store.series import SeriesStore
    from engine.store.suggestions import Suggestions
    from engine.store.usage import UsageStore


class Store:
    """The whole store, a property per part, `keys` being those of stored tokens, the newest first.

    Open it after the database is migrated; close it at the end. A debate alone needs the parts that
    are made at once; those of a feature are imported when it first asks for them.
    """

    def __init__(self, database: Database, keys: Sequence[str] = ()) -> None:
        self.leases = Leases(database)
        self.debates = Debates(database)
        self.journal = Journal(database)
        self.outbox = Outbox(database)
        self.votes = Votes(database)
        self.people = PeopleStore(database)
        self.archive = Archive(database)
        self.fits = Fits(database)
        self.database = database
        self._keys = keys

    @cached_property
    def ballots(self) -> Ballots:
        """Answers by button and form."""
        from engine.store.ballots import Ballots

        return Ballots(self.database)

    @cached_property
    def learning(self) -> Learning:
        """What jurors are fitted to, and later judgings."""
        from engine.store.learning import Learning

        return Learning(self.database)

    @cached_property
    def queue(self) -> DebateQueue:
        """What is to be run."""
        from engine.store.queue import DebateQueue

        return DebateQueue(self.database)

    @cached_property
    def deliveries(self) -> Deliveries:
        """Deliveries that failed or wait."""
        from engine.store.deliveries import Deliveries

        return Deliveries(self.database)

    @cached_property
    def communities(self) -> Communities:
        """Communities: their settings, and how they begin and end."""
        from engine.store.communities import Communities

        return Communities(self.database)

    @cached_property
    def privacy(self) -> Privacy:
        """What people may ask about themselves."""
        from engine.store.privacy import Privacy

        return Privacy(self.database)

    @cached_property
    def installs(self) -> Installs:
        """The communities that installed Rostrum, with their tokens."""
        from engine.store.installs import Installs

        return Installs(self.database, self._keys)

    @cached_property
    def guests(self) -> GuestStore:
        """People who argue a side, and what audiences ask."""
        from engine.store.guests import GuestStore

        return GuestStore(self.database)

    @cached_property
    def listings(self) -> Listings:
        """Lists of debates."""
        from engine.store.listings import Listings

        return Listings(self.database)

    @cached_property
    def series(self) -> SeriesStore:
        """Series of debates."""
        from engine.store.series import SeriesStore

        return SeriesStore(self.database)

    @cached_property
    def retention(self) -> Retention:
        """What is deleted, after its time or because people asked."""
        from engine.store.retention import Retention

        return Retention(self.database)

    @cached_property
    def suggestions(self) -> Suggestions:
        """Topics that people suggest."""
        from engine.store.suggestions import Suggestions

        return Suggestions(self.database)

    @cached_property
    def labelling(self) -> LabellingStore:
        """Labelling tasks."""
        from engine.store.labels import LabellingStore

        return LabellingStore(self.database)

    @cached_property
    def usage(self) -> UsageStore:
        """What calls took, and their tries."""
        from engine.store.usage import UsageStore

        return UsageStore(self.database)

    @property
    def away(self) -> bool:
        """Whether the database does not answer now or is full, so that what asks it waits."""
        return self.database.away

    def fail_fast(self) -> None:
        """Wait no longer than a moment for a database that is away: the process ends."""
        self.database.fail_fast()

    async def close(self) -> None:
        """Finish the writes that wait, and close every connection."""
        await self.database.close()
