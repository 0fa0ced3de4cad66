"""The Store port: what the engine needs from a database, in small parts.

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
from engine.store.communities import Communities, HeldDebate, Holdings, Left, Shown
from engine.store.debates import Caps, Debates, NewDebate, Stop
from engine.store.journal import AttemptStart, Journal, Journaled, Judging, Note, Step
from engine.store.leases import Lease, Leases
from engine.store.outbox import Backlog, DeliveryState, Gap, Intent, Outbox, Post
from engine.store.people import Guessed, OwnData, OwnRow, OwnVote, People, Traces
from engine.store.store import Store
from engine.store.votes import (
    Act,
    Asked,
    Brought,
    Cast,
    Closing,
    Intervention,
    Kept,
    Outcome,
    Press,
    Pressed,
    Remark,
    Remarked,
    Revision,
    Target,
    Votes,
)

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
