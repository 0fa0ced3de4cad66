"""What the engine needs from outside, in its own words.

An adapter implements one of these protocols and passes its contract suite; the engine never
knows which one it uses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal, NamedTuple, Protocol

import orjson
from pydantic import Field

from engine.values.debate import Cause, Debate, Model, Origin, Price, Sampling, Status, Usage, Value
from engine.values.text import split_variant

# Where debates and communities are on the web.


class Permalinks(NamedTuple):
    """Addresses below a `url`; without one, pages are served nowhere, and each address is empty."""

    url: str = ""

    def debate(self, debate_id: str) -> str:
        """Return where a debate is, by its id, as its code could be guessed."""
        return f"{self.url}/d/{debate_id.lower()}" if self.url else ""

    def community(self, page: str | None) -> str:
        """Return where a community is; empty for one without a page."""
        return f"{self.url}/c/{page}" if self.url and page else ""


# What happens in this process, for metrics and traces.


class Watch(Protocol):
    """Hears what happens, to count or trace it: quick, never waits and never raises."""

    def debate(self, debate: Debate, *, resumed: bool) -> AbstractContextManager[None]:
        """Watch a debate's script and panel, which are the body; its errors pass through."""

    def ended(self, status: Status, cause: Cause | None = None) -> None:
        """Hear that this process ended a debate; `cause` is of an early end."""

    def answered(self, platform: str, question: str, how: str, outcome: str, number: int) -> None:
        """Hear what became of `number` answers of people (engine/store/votes.py)."""

    def lease_lost(self, name: str) -> None:
        """Hear that another process took over a lease that this one held."""


class _Unwatched:
    """The watch of a process that has none."""

    def debate(self, debate: Debate, *, resumed: bool) -> AbstractContextManager[None]:
        """Do nothing."""
        return nullcontext()

    def ended(self, status: Status, cause: Cause | None = None) -> None:
        """Do nothing."""

    def answered(self, platform: str, question: str, how: str, outcome: str, number: int) -> None:
        """Do nothing."""

    def lease_lost(self, name: str) -> None:
        """Do nothing."""


UNWATCHED = _Unwatched()


# --- time ------------------------------------------------------------------------------


def machine_now() -> datetime:
    """Return this machine's time in UTC, which may differ from another machine's."""
    return datetime.now(UTC)


@dataclass
class _SharedTime:
    """How far the clock that all processes share is ahead of this machine's.

    Processes of several machines share that of their database, which says what it is now and then;
    a process alone has its machine's.
    """

    ahead: timedelta = timedelta()

    def tell(self, now: datetime, asked_at: datetime, answered_at: datetime) -> None:
        """Take over the shared clock's time, as it was told between two moments of this machine.

        A difference that the way there explains changes nothing, so that time stays even.
        """
        middle = asked_at + (answered_at - asked_at) / 2
        ahead, doubt = now - middle, (answered_at - asked_at) / 2 + EVEN
        if abs(ahead - self.ahead) > doubt:
            self.ahead = ahead


EVEN = timedelta(milliseconds=20)
SHARED_TIME = _SharedTime()
"""This process's."""


def utc_now() -> datetime:
    """Return the time in UTC that all processes share, to the microsecond."""
    return machine_now() + SHARED_TIME.ahead


class Clock(Protocol):
    """Time as the engine sees it; tests have their own."""

    def now(self) -> datetime:
        """Return the time in UTC."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


# --- dispatch --------------------------------------------------------------------------


# --- models ----------------------------------------------------------------------------


# In a rendered prompt: later prompts repeat it up to here. No other text holds control characters.
KEPT = "\x1f"


class ChatMessage(Value):
    """One chat message, as OpenAI-compatible endpoints take it.

    `kept` are places in `content` up to which later prompts to this model repeat this one, in
    order: where a provider that asks for marks should cache. They are not stored.
    """

    role: Literal["system", "user", "assistant"]
    content: str
    kept: tuple[int, ...] = Field((), exclude=True, repr=False)

    @classmethod
    def of(cls, role: Literal["system", "user", "assistant"], text: str) -> ChatMessage:
        """Return a message; wherever `text` has `KEPT`, that is a place up to which it is kept."""
        if KEPT not in text:
            return cls(role=role, content=text)
        *parts, end = text.split(KEPT)
        kept = dict.fromkeys(accumulate(map(len, parts)))
        return cls(role=role, content="".join((*parts, end)), kept=tuple(kept))


@dataclass(frozen=True)
class AnswerSchema:
    """The JSON shape of a structured answer; made once per shape, not per call."""

    name: str
    json_schema: dict[str, Any]

    @cached_property
    def size(self) -> int:
        """Length of the schema's text, in bytes of UTF-8."""
        return len(orjson.dumps(self.json_schema))

    @cached_property
    def strict(self) -> bool:
        """Whether every object lists all of its keys, as strict mode demands."""
        return _is_closed(self.json_schema)


def _is_closed(node: Any) -> bool:
    if isinstance(node, list):
        return all(map(_is_closed, node))
    if not isinstance(node, dict):
        return True
    if node.get("type") == "object":
        keys = set(node.get("properties", {}))
        if node.get("additionalProperties") is not False or keys != set(node.get("required", ())):
            return False
    return all(map(_is_closed, node.values()))


CallRole = Literal["debater", "juror", "judge"]
"""As whom a model is asked."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request to one model.

    `hint` describes the call (topic, side, round, language, …) to a scripted model; it is never
    sent anywhere. `on_text` asks for streaming: it is called with the text so far and the model
    that writes it, and with an empty text when a try begins. It must be quick and must not raise.
    Only the reply counts; a streamed text may be discarded. A debate's steps add `session`, which
    groups its calls for prompt caches, and `price`, its frozen one; None means the current price.
    """

    step: str
    model: Model
    messages: tuple[ChatMessage, ...]
    sampling: Sampling
    schema: AnswerSchema | None = None
    hint: Mapping[str, str] = field(default_factory=dict)
    role: CallRole = "debater"
    on_text: Callable[[str, str], None] | None = None
    session: str = ""
    price: Price | None = None

    def configured(self) -> Call:
        """Return it as its model is configured: how it samples, and the note before all else."""
        own = self.model.configuration
        if own is None:
            return self
        messages = self.messages
        if own.note:
            messages = (ChatMessage(role="system", content=own.note), *messages)
        sampling = self.model.sampling(self.sampling)
        return replace(self, messages=messages, sampling=sampling)


class Reply(Value):
    """What a model answered.

    `replaced` counts characters that cannot be stored and became U+FFFD, and `thought` those of
    the model's reasoning, which is kept nowhere. `model` is the one that really answered; `finish`
    is why it stopped: `stop`, `length` (at the token cap) or `content_filter`; `cut_from` is the
    length before the reply was cut to the debate's cap, 0 if it was not; `cost` is USD, None if
    unknown; `latency` is the successful attempt's, in seconds.
    """

    text: str
    finish: str
    model: str
    replaced: int = 0
    thought: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    latency: float = 0.0
    attempts: int = 1
    cut_from: int = 0


class FaultKind(StrEnum):
    """What kind of failure ended a try."""

    LIMITED = "limited"  # too many calls
    OVERLOADED = "overloaded"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    BROKEN = "broken"  # the connection, in mid-answer
    FAILED = "failed"  # the backend, with a 5xx or an error in its answer
    KEY = "key"
    CREDIT = "credit"
    FORBIDDEN = "forbidden"
    UNKNOWN_MODEL = "unknown_model"
    DECLINED = "declined"  # the content
    REJECTED = "rejected"  # the request or its parameters
    UNREADABLE = "unreadable"  # not a completion
    EMPTY = "empty"
    REDIRECTED = "redirected"  # to another address, which is not followed
    CAPPED = "capped"  # at the token cap, before the answer was whole
    CONTEXT = "context"  # the prompt and the answer do not fit in it
    CANCELLED = "cancelled"
    OTHER = "other"


class Attempt(Value):
    """How one try of a call ended; `error` is empty for the one that succeeded.

    `cost` is USD: 0 if the backend certainly did not bill it (refused, 429, 401), None if unknown
    (time-out after sending, reset in mid-answer, an error body with 200). `origin` is the source
    of the cost; None: that of the call's price. `doubles_cap`: its token cap left no room for the
    whole answer, so the next try may write twice as much. `waited`: seconds for a limit of the
    backend, before it began.
    """

    number: int
    error: str = ""
    model: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    origin: Origin | None = None
    latency: float = 0.0
    doubles_cap: bool = False
    fault: FaultKind | None = None
    waited: float = 0.0


# --- an audience -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Draft:
    """An unfinished turn without models' names; only the posted turn counts.

    `debate` is the debate's code. `text` lags some words behind and is empty when a try begins;
    `words` counts everything written, and `limit` is in words (0: none). A `dropped` draft was
    discarded.
    """

    debate: str
    seat: str
    side: str
    round: str
    text: str = ""
    words: int = 0
    limit: int = 0
    dropped: bool = False
    name: str = ""


Audience = Callable[[Draft], None]
"""Shows a draft in place of its turn's earlier ones, until the turn is posted or dropped."""


# --- venue -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VenueLimits:
    """What a platform's connection can take.

    `typing_seconds`: how often typing is shown again. `send_seconds`: the longest a send may take,
    shorter than a deliverer's lease. `state_seconds`: how often the state on announcements is
    polled, None if announcements show none; `edit_seconds`: the gap between two such edits.
    `read_seconds`: the gap between two background readings of reactions. `redelivery_seconds`: by
    then a platform has repeated every event that it first failed to deliver.
    """

    typing_seconds: float = 8.0
    send_seconds: float = 5.0
    state_seconds: float | None = None
    edit_seconds: float = 0.0
    read_seconds: float = 0.0
    redelivery_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Location:
    """A channel: the community that it is of, and its id as the engine holds it."""

    community: str
    place: str


class Part(Value):
    """One rendered piece of a message, frozen before it is first sent.

    `reference` is the short text (`k7f2qz·3·1/2`) by which the platform finds the piece again:
    it is kept where people do not see it, or in small print. `body` is the adapter's own JSON or
    text. `plain`: it has no markup and replaces one that was refused.
    """

    reference: str
    body: str
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Reactions:
    """Who holds which reaction of a vote message, according to the platform.

    `seeded` are the options that still carry the bot's own reaction; no bot is among the
    `holders`. `complete` is False if people may be missing although the platform answered.
    """

    holders: dict[str, frozenset[str]] = field(default_factory=dict)
    seeded: frozenset[str] = frozenset()
    complete: bool = True


@dataclass(frozen=True, slots=True)
class ReactionSeen:
    """A reaction event; `added` is False for a removed one.

    `option` is a reaction of engine/values/text.py: a contender, `tie` or `weak`; on a turn `up` or
    `down` (👍 👎); in a question of stance those and `unsure` (🤷). Its variant may follow.
    Bots' reactions are left out.
    `event` is the platform's id of the event, if a repetition has the same id, and `given_at` is
    when the user acted, `joined_at` when they joined the community, if the platform says so.
    """

    place: str
    message: str
    user: str
    option: str
    added: bool
    event: str | None = None
    given_at: datetime | None = None
    joined_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ButtonPressed:
    """A press of a vote's button; `option` is None for the button that withdraws.

    `joined_at` is as in ReactionSeen.
    """

    place: str
    message: str
    user: str
    option: str | None
    event: str | None = None
    joined_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReactionsCleared:
    """A moderator removed everyone's reactions for one option, or for all (None)."""

    place: str
    message: str
    option: str | None = None


@dataclass(frozen=True, slots=True)
class ThreadChanged:
    """A thread was archived, locked by a moderator, opened again, or is gone for good."""

    place: str
    act: Literal["archived", "locked", "reopened", "deleted"]


@dataclass(frozen=True, slots=True)
class CommunityChanged:
    """What Rostrum may do somewhere in a community may have changed.

    `lost`: it removed Rostrum, or was itself deleted.
    """

    community: str
    lost: bool = False


@dataclass(frozen=True, slots=True)
class ConnectionGap:
    """A connection is `lost`, so that events from now on may never arrive; or it is over.

    Then those of the meantime follow (`resumed`), or they will not arrive (`missed`).
    """

    phase: Literal["lost", "resumed", "missed"]
    connection: int = 0


Inbound = (
    ReactionSeen
    | ButtonPressed
    | ReactionsCleared
    | ThreadChanged
    | CommunityChanged
    | ConnectionGap
)
"""Platform events; an adapter translates them for Service.hear."""

Listener = Callable[[Inbound], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Member:
    """A user of a platform: what they are called there, and whether they are a bot."""

    names: tuple[str, ...]
    bot: bool = False


# The system's clock.


class SystemClock:
    """The Clock port on the machine's own time."""

    def now(self) -> datetime:
        return utc_now()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


# Pauses between tries: they double up to a longest one.


class Backoff:
    """Pauses that begin at `first` seconds and double up to the `longest`."""

    def __init__(self, first: float, longest: float) -> None:
        self._first, self._longest = first, longest
        self.pause = first

    def next(self, at_least: float = 0.0) -> float:
        """Return the next pause; one that a platform asks for does not grow later ones."""
        pause = self.pause
        self.pause = min(2 * pause, self._longest)
        return max(pause, at_least)

    def reset(self) -> None:
        """Begin again, after a success."""
        self.pause = self._first


@dataclass(slots=True)
class Retries:
    """When what failed is due again, by key; the pauses of each double up to the `longest`."""

    longest: float
    _waiting: dict[Hashable, tuple[datetime, Backoff]] = field(default_factory=dict)

    def put_off(self, key: Hashable, now: datetime, first: float, at_least: float = 0.0) -> float:
        """Double the pause, starting at `first` seconds, and return it."""
        _, backoff = self._waiting.get(key) or (now, Backoff(first, self.longest))
        wait = backoff.next(at_least)
        self._waiting[key] = (now + timedelta(seconds=wait), backoff)
        return wait

    def due(self, key: Hashable, when: datetime) -> datetime:
        """Return the earliest try of what is due at a given time."""
        waiting = self._waiting.get(key)
        return when if waiting is None else max(when, waiting[0])

    def forget(self, key: Hashable) -> None:
        """Reset the pause after a success."""
        self._waiting.pop(key, None)

    def forget_all(self) -> None:
        """Retry everything now: the platform is back."""
        self._waiting.clear()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._waiting

    def __len__(self) -> int:
        return len(self._waiting)


@dataclass(frozen=True, slots=True)
class VisibleReaction:
    """A visible reaction that must be removed; `variant` is what its log calls it."""

    place: str
    message: str
    user: str
    reaction: str
    variant: str

    @property
    def option(self) -> str:
        """What it stands for."""
        return split_variant(self.reaction)[0]
