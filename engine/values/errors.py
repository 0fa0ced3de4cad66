"""All of Rostrum's errors, as one tree.

```
RostrumError
├── UsageError            an invalid request
│   └── FlaggedError      … with a blocked word, or that a moderation model flagged
├── NotAllowedError       not permitted for this person or in this channel
├── SettingsError         contradictory settings, or a setting that refers to nothing
├── NotFoundError         no such debate, or no single one
├── BudgetError           a cap would be exceeded, or a price is unknown
│   └── SeriesCapError    … the cap of a series
├── ModelError            a model call failed for good
├── VenueError            the platform refused
│   ├── VenueAwayError    … temporarily: retry later
│   ├── MessageGoneError  … because a message was deleted
│   └── VenueGoneError    … for good: thread deleted, bot removed, token revoked
│       └── VenueLockedError  … or until a moderator unlocks the thread
├── LeaseLostError        another process holds the debate now
├── StoppedError          the debate was stopped
├── PausedError           this process leaves the debate as it is, to be continued
└── StoreError            the database is unusable
```

Each message is written for the person who reads it: what happened, then what to do. One that chats
show is a template with its values (engine/values/language.py), so that people read it in their
language.
"""

from __future__ import annotations

from typing import Literal, Self

from engine.values.language import Text

# What reading a value from outside raises where it is not of the form that it should have.
MISFITS = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
)  # fmt: skip


def why_of(error: BaseException) -> str:
    """Return an error's message, or the name of its type if it has none."""
    return str(error) or type(error).__name__


class RostrumError(Exception):
    """Root of every error that Rostrum raises on purpose.

    `message` is in English; it may have blanks for `values`. `hint` names a setting to change;
    only the operator sees it, never a chat. A value `advice` is for members: an operator sees the
    hint in its place.
    """

    def __init__(self, message: str = "", /, *, hint: str = "", **values: object) -> None:
        # A sentence without blanks too, so that it is translated inside another one.
        said = message if isinstance(message, Text) and not values else Text(message, **values)
        super().__init__(said)
        self.hint = hint

    @property
    def text(self) -> str:
        """Its message, which can be said in other languages."""
        message: str = self.args[0]
        return message

    @property
    def for_operator(self) -> str:
        """Its message with the hint, as a terminal shows it."""
        said: Text = self.args[0]
        if "advice" in said.values:
            return Text(said.template, **{**said.values, "advice": self.hint})
        return f"{self} {self.hint}".rstrip()


class UsageError(RostrumError):
    """The request is invalid."""


class NotTextError(UsageError):
    """A file is no text that debaters can read."""


class FlaggedError(UsageError):
    """A text has a word that is blocked in its community, or a moderation model flagged it."""


class NotAllowedError(RostrumError):
    """Not permitted for this person or in this channel."""


class SettingsError(RostrumError):
    """The settings are contradictory, or refer to something that does not exist.

    `passing`: the same settings may do at a later start, such as a port that is in use.
    """

    def __init__(self, message: str = "", *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing


class NotFoundError(RostrumError):
    """There is no such debate, or several have that code."""


class BudgetError(RostrumError):
    """A cap would be exceeded, or a price that it depends on is unknown."""


class SeriesCapError(BudgetError):
    """Too little is left of a series' cap for its next debate."""


class ModelError(RostrumError):
    """A model call failed for good; the message names the backend, the model and what to do.

    `passing`: retries are used up, but a later call may succeed; `refused`: the model, or its
    backend's content filter, declined what it was asked. `model` is that of the call, and
    `failure` is the public name of a backend's failure. The message has the backend's own words:
    the journal and the log have it, chats and exports the `problem`.
    """

    def __init__(
        self,
        message: str = "",
        *,
        model: str = "",
        passing: bool = False,
        refused: bool = False,
        failure: str = "",
    ) -> None:
        super().__init__(message)
        self.model = model
        self.passing, self.refused = passing, refused
        self.failure = failure

    @property
    def problem(self) -> str:
        """Why there is no answer, as everyone may read it."""
        from engine.values.failures import no_answer, without_words  # of calls that failed

        return no_answer(self.failure) if self.failure else without_words(str(self))

    @property
    def text(self) -> str:
        """What chats say."""
        return self.problem if self.failure else super().text


class VenueError(RostrumError):
    """The platform refused a request.

    `detail` is the platform's own word for it, in its own language: logs have it, chats do not.
    """

    detail = ""

    def because(self, detail: str) -> Self:
        """Add the platform's own word for the refusal."""
        self.detail = detail
        return self

    def __str__(self) -> str:
        said = super().__str__()
        return f"{said} ({self.detail})" if self.detail else said


class VenueAwayError(VenueError):
    """The platform is unreachable or overloaded; retry later.

    `maybe_stored`: a request was sent but its response was lost. The message may be on the
    platform, so check before sending it again.
    """

    def __init__(
        self, message: str, *, retry_after: float = 1.0, maybe_stored: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.maybe_stored = maybe_stored


class NotToldYetError(VenueAwayError):
    """The platform may still report which of a person's choices came last."""


class MessageGoneError(VenueError):
    """The message was deleted; its thread may still exist."""


class VenueGoneError(VenueError):
    """The thread, the channel or the permission to use it is gone for good."""


class VenueLockedError(VenueGoneError):
    """The thread takes no messages until a moderator unlocks it."""


class LeaseLostError(RostrumError):
    """Another process holds this debate or connection; nothing was written."""


Ends = Literal["", "thread", "declined", "deserted"]
"""Why a debate stops that nobody stopped.

"thread": its thread, or the permission to post there, is gone; "declined": the person who was to
argue a side does not, or said nothing in time, and nothing was paid; "deserted": the person who
argues a side missed their turns, or left for good.
"""


class StoppedError(RostrumError):
    """The debate was stopped; `ends` says why if nobody did that."""

    def __init__(self, message: str = "", *, ends: Ends = "") -> None:
        super().__init__(message)
        self.ends = ends


class PausedError(RostrumError):
    """This process is exiting and starts nothing new; the next one continues the debate."""


class StoreError(RostrumError):
    """The database is unusable: locked by another process, full, read-only or too new.

    `passing`: the same write or read may succeed later. `misconfigured`: a setting has to be
    corrected first.
    """

    def __init__(
        self, message: str = "", *, passing: bool = False, misconfigured: bool = False
    ) -> None:
        super().__init__(message)
        self.passing, self.misconfigured = passing, misconfigured


class UnreadableError(RostrumError):
    """The answer holds no single complete JSON object; the message says why."""
