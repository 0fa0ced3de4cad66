"""The database, one property per part."""

from __future__ import annotations

from typing import Protocol

from engine.store.archive import Archive
from engine.store.asking import Asking
from engine.store.communities import Communities
from engine.store.debates import Debates
from engine.store.deletions import Deletions
from engine.store.guests import Guests
from engine.store.installs import Installs
from engine.store.journal import Journal
from engine.store.labelling import LabellingStore
from engine.store.learning import Learning
from engine.store.leases import Leases
from engine.store.listings import Listings
from engine.store.outbox import Outbox
from engine.store.people import People
from engine.store.retention import Retention
from engine.store.series import SeriesStore
from engine.store.suggestions import Suggestions
from engine.store.usage import UsageStore
from engine.store.votes import Votes


class Store(Protocol):
    """The database, one property per part."""

    @property
    def away(self) -> bool:
        """Whether the database does not answer now or is full, so that what asks it waits."""

    @property
    def leases(self) -> Leases:
        """Leases on debates and connections."""

    @property
    def debates(self) -> Debates:
        """Debates and their states."""

    @property
    def journal(self) -> Journal:
        """Steps and their results."""

    @property
    def outbox(self) -> Outbox:
        """Messages on their way to a thread."""

    @property
    def votes(self) -> Votes:
        """The log of votes."""

    @property
    def asking(self) -> Asking:
        """What audiences ask."""

    @property
    def guests(self) -> Guests:
        """People who argue a side."""

    @property
    def people(self) -> People:
        """Who is behind the surrogate ids."""

    @property
    def communities(self) -> Communities:
        """Communities and their settings."""

    @property
    def installs(self) -> Installs:
        """Tokens of communities that installed Rostrum by OAuth."""

    @property
    def archive(self) -> Archive:
        """Debates that have ended."""

    @property
    def listings(self) -> Listings:
        """Lists of debates."""

    @property
    def learning(self) -> Learning:
        """What was learned of jurors."""

    @property
    def series(self) -> SeriesStore:
        """Experiments of many debates."""

    @property
    def suggestions(self) -> Suggestions:
        """Topics that people suggested."""

    @property
    def deletions(self) -> Deletions:
        """Debates that people had deleted."""

    @property
    def labelling(self) -> LabellingStore:
        """What people are asked to label on pages."""

    @property
    def usage(self) -> UsageStore:
        """What calls took."""

    @property
    def retention(self) -> Retention:
        """What is deleted of debates that have ended."""
