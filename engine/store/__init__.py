"""The store: one module an aggregate, its values, statements and class, over the port `Database`.

Every method that takes a lease writes only while that lease is the newest of its name, checked
in the same transaction, and raises LeaseLostError otherwise. Every method may raise StoreError.
"""

from engine.store.archive import (
    Archive,
    CallRecord,
    DebateRecord,
    ExportFilter,
    StandingAnswer,
    count_rehearsals,
)
from engine.store.budgets import Caps, NewDebate
from engine.store.casting import Brought, Cast, Kept, Press, Pressed, Remark, Remarked, Revision
from engine.store.communities import Communities, HeldDebate, Holdings, Shown
from engine.store.debates import Debates, Stop
from engine.store.journal import AttemptStart, Journal, Journaled, Judging, Note, Step
from engine.store.leases import Lease, Leases
from engine.store.outbox import Backlog, DeliveryState, Gap, Intent, Outbox, Post
from engine.store.own import Guessed, OwnData, OwnRow, OwnVote
from engine.store.people import People, Traces
from engine.store.purge import Left
from engine.store.store import Store
from engine.store.targets import Asked, Target
from engine.store.vote_log import Act, Intervention, Outcome
from engine.store.votes import Closing, Votes

__all__ = [
    "Act",
    "Archive",
    "Asked",
    "AttemptStart",
    "Backlog",
    "Brought",
    "CallRecord",
    "Caps",
    "Cast",
    "Closing",
    "Communities",
    "DebateRecord",
    "Debates",
    "DeliveryState",
    "ExportFilter",
    "Gap",
    "Guessed",
    "HeldDebate",
    "Holdings",
    "Intent",
    "Intervention",
    "Journal",
    "Journaled",
    "Judging",
    "Kept",
    "Lease",
    "Leases",
    "Left",
    "NewDebate",
    "Note",
    "Outbox",
    "Outcome",
    "OwnData",
    "OwnRow",
    "OwnVote",
    "People",
    "Post",
    "Press",
    "Pressed",
    "Remark",
    "Remarked",
    "Revision",
    "Shown",
    "StandingAnswer",
    "Step",
    "Stop",
    "Store",
    "Target",
    "Traces",
    "Votes",
    "count_rehearsals",
]
