"""Everything that can go wrong in Rostrum, as one tree.

```
RostrumError
├── UsageError            a request that cannot be carried out as given
├── NotAllowedError       a request that this person, or this channel, may not make
├── SettingsError         settings that contradict one another or name nothing
├── NotFoundError         no such debate
├── BudgetError           a cap would be passed, or a price is unknown
├── ModelError            a model call failed for good
├── VenueError            the platform refused
│   ├── VenueAwayError    … for now: try again later
│   ├── MessageGoneError  … because a message was deleted
│   └── VenueGoneError    … for good: thread deleted, bot removed, token revoked
├── LeaseLostError        somebody else holds the debate now
├── StoppedError          the debate was asked to stop
│   └── ThreadGoneError   … because there is nowhere left to post it
├── PausedError           this process is ending; the debate goes on in the next one
├── StoreError            the database cannot be used
└── ExportError           an export's folder cannot be written
```

The message of each is the sentence that a person may read: what happened, to what, and
what to do.
"""

from __future__ import annotations


class RostrumError(Exception):
    """Root of every error that Rostrum raises on purpose.

    `hint` is for the operator alone: a setting to change, which no chat shows.
    """

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(RostrumError):
    """The request cannot be carried out as given."""


class NotAllowedError(RostrumError):
    """This person may not do that, or not in this channel."""


class SettingsError(RostrumError):
    """The settings contradict one another, or name something that does not exist."""


class NotFoundError(RostrumError):
    """There is no such debate."""


class BudgetError(RostrumError):
    """A cap would be passed, or a price that the cap needs is unknown."""


class ModelError(RostrumError):
    """A model call failed for good; the message names the backend, the model and what to do."""


class VenueError(RostrumError):
    """The platform refused a request."""


class VenueAwayError(VenueError):
    """The platform cannot be reached or is overloaded; trying again later is right.

    `maybe_stored` says that a request was sent and its answer was not seen: the message
    may be on the platform, and has to be looked for before it is sent again.
    """

    def __init__(
        self, message: str, *, retry_after: float = 1.0, maybe_stored: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.maybe_stored = maybe_stored


class NotToldYetError(VenueAwayError):
    """A platform may still tell which of somebody's choices came last."""


class MessageGoneError(VenueError):
    """There is no such message any more; the thread that it was in may still be there."""


class VenueGoneError(VenueError):
    """The thread, the channel or the right to use it is gone for good."""


class LeaseLostError(RostrumError):
    """Another process holds this debate or connection now; nothing was written."""


class StoppedError(RostrumError):
    """The debate was asked to stop."""


class ThreadGoneError(StoppedError):
    """The debate stops because its thread, or the right to post there, is gone."""


class PausedError(RostrumError):
    """This process is ending and begins nothing new; the debate goes on in the next one."""


class StoreError(RostrumError):
    """The database cannot be used: locked by another runner, full, read-only or too new."""


class ExportError(RostrumError):
    """An export cannot be written where it was asked for; the folder there is unchanged."""
