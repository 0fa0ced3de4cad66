"""The store: one module an aggregate, its values, statements and class, over the port `Database`.

Every method that takes a lease writes only while that lease is the newest of its name, checked
in the same transaction, and raises LeaseLostError otherwise. Every method may raise StoreError.
"""

from engine.store.archive import Archive, CallRecord, DebateRecord, ExportFilter, count_rehearsals
from engine.store.budgets import NewDebate
from engine.store.debates import Debates
from engine.store.journal import AttemptStart, Journal, Journaled, Judging, Note
from engine.store.leases import Lease, Leases
from engine.store.outbox import DeliveryState, Intent, Outbox, Post
from engine.store.people import PeopleStore
from engine.store.store import Store
from engine.store.targets import OpenQuestion, Target
from engine.store.vote_log import Act, Intervention, Outcome
from engine.store.votes import Cast, Closing, Votes

__all__ = [
    "Act",
    "Archive",
    "AttemptStart",
    "CallRecord",
    "Cast",
    "Closing",
    "DebateRecord",
    "Debates",
    "DeliveryState",
    "ExportFilter",
    "Intent",
    "Intervention",
    "Journal",
    "Journaled",
    "Judging",
    "Lease",
    "Leases",
    "NewDebate",
    "Note",
    "OpenQuestion",
    "Outbox",
    "Outcome",
    "PeopleStore",
    "Post",
    "Store",
    "Target",
    "Votes",
    "count_rehearsals",
]
