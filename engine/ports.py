"""What the engine needs from outside, in its own words.

An adapter implements one of these protocols and passes its contract suite; the engine never
knows which one it talks to.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal, Protocol

import orjson

from engine.debate import Model, Origin, Price, Sampling, Usage, Value
from engine.messages import Message

# --- time ------------------------------------------------------------------------------


def utc_now() -> datetime:
    """Return the time in UTC, to the microsecond."""
    return datetime.now(UTC)


class Clock(Protocol):
    """Time as the engine sees it; a test may bring its own."""

    def now(self) -> datetime:
        """Return the time in UTC."""

    async def sleep(self, seconds: float) -> None:
        """Wait that long."""


# --- dispatch --------------------------------------------------------------------------


class Dispatcher(Protocol):
    """Where debates wait for somebody to think for them; the journal and leases keep it right."""

    async def submit(self, debate_id: str) -> None:
        """See to it that a debate is run; submitting it again changes nothing."""

    async def run(self, think: Callable[[str], Awaitable[None]]) -> None:
        """Run what is submitted, side by side, until cancelled."""

    async def stop(self, seconds: float) -> None:
        """Take nothing new, and wait so long for what runs before interrupting it."""


# --- models ----------------------------------------------------------------------------


class ChatMessage(Value):
    """One message of a chat, as OpenAI-compatible endpoints take it."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class AnswerSchema:
    """The JSON shape that a structured answer has; made once per shape, not per call."""

    name: str
    json_schema: dict[str, Any]

    @cached_property
    def size(self) -> int:
        """Length of the schema's text, in bytes of UTF-8."""
        return len(orjson.dumps(self.json_schema))

    @cached_property
    def strict(self) -> bool:
        """Whether every object names all of its keys: only such a shape may be asked strictly."""
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


@dataclass(frozen=True, slots=True)
class Call:
    """One request to one model.

    `session` groups the calls of a debate for prompt caches. `cue` tells a scripted model
    what the call is about (topic, side, round, language, …); it is never sent anywhere. `price`
    is the one that its debate began with; None: whatever is known by now. `on_text` asks for
    the answer while it is written: it is called with all of the text so far and the model that
    writes it, and with an empty text when a try begins. It must neither raise nor take time,
    and what it hears may come to nothing: the reply alone counts.
    """

    session: str
    step: str
    model: Model
    messages: tuple[ChatMessage, ...]
    sampling: Sampling
    schema: AnswerSchema | None = None
    cue: Mapping[str, str] = field(default_factory=dict)
    price: Price | None = None
    on_text: Callable[[str, str], None] | None = None


class Reply(Value):
    """What a model answered.

    `replaced` characters of it, which no text can hold, became U+FFFD. `model` is the one that
    really answered; `finish` the backend's word for why it stopped (`stop`, `length`,
    `content_filter`, …); `cut_from` is how many characters it had before it was cut to the debate's
    cap, 0 for a whole one; `cost` is USD, None when unknown; `latency` is
    seconds of the successful attempt.
    """

    text: str
    finish: str
    model: str
    replaced: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    latency: float = 0.0
    attempts: int = 1
    cut_from: int = 0


class Attempt(Value):
    """How one try of a call ended; `error` is empty for the one that succeeded.

    `cost` is USD: 0 when the backend surely did not bill it (refused, 429, 401), None when
    nobody knows (time-out after sending, reset in mid-answer, an error body with 200).
    `origin` is where the cost is known from, None: wherever the call's price is. `widens` says
    that it used up its token cap without text: the next may write twice as much.
    """

    number: int
    error: str = ""
    model: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    origin: Origin | None = None
    latency: float = 0.0
    widens: bool = False


class AttemptLog(Protocol):
    """Where every try of a call is written down, before it is sent and when it has ended."""

    async def began(self, number: int) -> None:
        """Note that try `number` (from 1) is about to be sent; raises to forbid it."""

    def ended(self, attempt: Attempt, reply: Reply | None = None) -> None:
        """Note how it ended, without waiting; `reply` is given with the try that succeeded."""


class Models(Protocol):
    """Every model of every backend."""

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        """Ask a model, trying again where that is right. Raises ModelError when it is not.

        Exactly one `began` and one `ended` reach the log for each try; a cancelled try ends
        with the error "cancelled". An answer without text is retried like a server error.
        """

    async def price(self, model: Model) -> Price | None:
        """Return the price of a model, or None if it is unknown."""

    def pace(self, model: Model) -> float:
        """Return how many seconds a call to a model usually takes."""

    async def aclose(self) -> None:
        """Close every connection."""


# --- an audience -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Draft:
    """A turn as far as it is written, without models' names; what is posted is the truth.

    `debate` is the code that its posts bear. `text` is some words behind, and is empty while a
    try begins; `words` counts all that is written, and `limit` is in words (0: none). A draft
    that is `dropped` came to nothing.
    """

    debate: str
    seat: str
    side: str
    round: str
    text: str = ""
    words: int = 0
    limit: int = 0
    dropped: bool = False


class Audience(Protocol):
    """Who watches turns being written; a turn's drafts end with its post, or with a dropped one."""

    def follow(self, draft: Draft) -> None:
        """Show what is written by now, in place of what was before."""


# --- venue -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VenueLimits:
    """What a platform's connection can take.

    `typing_seconds` is how often typing is shown again; `send_seconds` how long one send may
    take, shorter than a deliverer's lease. `state_seconds` is how often it is looked whether an
    announcement has to show another state, None where none shows any; `edit_seconds` lie between
    two such edits, and `read_seconds` between two readings of reactions that nobody waits for.
    Within `told_seconds` a platform that tells late has told again what it could not tell at first.
    """

    typing_seconds: float = 8.0
    send_seconds: float = 5.0
    state_seconds: float | None = None
    edit_seconds: float = 0.0
    read_seconds: float = 0.0
    told_seconds: float = 0.0


class Part(Value):
    """One rendered piece of a message, frozen before it is first sent.

    `reference` is the short text (`k7f2qz·3·1/2`) that the platform shows with the piece and
    that finds it again; `body` is the adapter's own JSON or text. `plain` says that it is without
    markup, in place of one that was refused.
    """

    reference: str
    body: str
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Reactions:
    """Who holds which option of a vote message, as the platform says.

    `seeded` are the options that still carry the bot's own reaction; the bot and other bots
    are in no set of `holders`. `complete` is False when somebody may be missing, though the
    platform has answered.
    """

    holders: dict[str, frozenset[str]] = field(default_factory=dict)
    seeded: frozenset[str] = frozenset()
    complete: bool = True


@dataclass(frozen=True, slots=True)
class ReactionSeen:
    """A reaction event; `added` is False for a removed one.

    `option` is one of engine/votes/questions.py: a contender, `tie` or `weak`; on a turn `up` or
    `down` (👍 👎); in a question of stance those and `unsure` (🤷). Those of this and other bots
    are not told. `event` is the platform's own id of the telling, if a repetition bears it too, and
    `given_at` when its user acted, if the platform says so.
    """

    place: str
    message: str
    user: str
    option: str
    added: bool
    event: str | None = None
    given_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ButtonPressed:
    """A button of a vote; `option` is None for the one that withdraws."""

    place: str
    message: str
    user: str
    option: str | None
    event: str | None = None


@dataclass(frozen=True, slots=True)
class ReactionsCleared:
    """A moderator took away everybody's reactions of one option, or of all (None)."""

    place: str
    message: str
    option: str | None = None


@dataclass(frozen=True, slots=True)
class MessageDeleted:
    """A message is gone for good."""

    place: str
    message: str


@dataclass(frozen=True, slots=True)
class ThreadDeleted:
    """A thread is gone for good."""

    place: str


@dataclass(frozen=True, slots=True)
class ThreadShut:
    """Whether a thread is now archived, and whether a moderator locked it."""

    place: str
    archived: bool
    locked: bool = False


@dataclass(frozen=True, slots=True)
class CommunityLost:
    """A community removed Rostrum, or was itself deleted."""

    community: str


@dataclass(frozen=True, slots=True)
class EventsLost:
    """A connection is lost: what happens from now on may never be told."""

    connection: int = 0


@dataclass(frozen=True, slots=True)
class EventsResumed:
    """A connection goes on, and what happened meanwhile is told."""

    connection: int = 0


@dataclass(frozen=True, slots=True)
class EventsMissed:
    """A connection was lost for a while, and what happened meanwhile was not told."""

    connection: int = 0


Inbound = (
    ReactionSeen
    | ButtonPressed
    | ReactionsCleared
    | MessageDeleted
    | ThreadDeleted
    | ThreadShut
    | CommunityLost
    | EventsLost
    | EventsResumed
    | EventsMissed
)
"""Platform events; an adapter translates them for Service.hear."""

Listener = Callable[[Inbound], Awaitable[object]]


class Venue(Protocol):
    """A chat platform as the engine sees it.

    A place is a channel or a thread, a message what was posted there; both are opaque texts.
    Every method may raise VenueAwayError (try again), VenueGoneError (never again) or
    VenueError (refused). `channel` is the only channel that this connection serves, None for
    the whole platform.
    """

    platform: str
    channel: str | None
    limits: VenueLimits

    def render(self, message: Message, stem: str) -> tuple[Part, ...]:
        """Turn a message into pieces that fit the platform; pure.

        `stem` is the reference without the piece's own number, e.g. `k7f2qz·3`; piece i of
        n has the reference `stem·i/n`.
        """

    def plain(self, source: Part | str, reference: str) -> tuple[Part, ...]:
        """Turn a piece that was refused, or a text, into pieces without markup; pure.

        The first piece has the reference given, the others those that `numbered` of
        engine/delivery/gaps.py makes.
        """

    def turn(self, place: str, *, first: bool = False) -> AbstractAsyncContextManager[None]:
        """Wait until a message may be posted to a place, and post it within.

        Turns of a place come in the order they were asked for, as far apart as the platform
        wants its messages. They may take long, so nothing is to be promised before. `first`
        is for what somebody waits for: of all places it goes before what is not.
        """

    async def post(self, place: str, part: Part) -> str:
        """Post one piece, within a turn of its place, and return its message reference."""

    async def edit(self, place: str, message: str, part: Part) -> None:
        """Replace what a posted message shows."""

    async def find(self, place: str, reference: str, after: str | None) -> str | None:
        """Return the message that carries a reference, posted after message `after`."""

    async def open_thread(self, channel: str, message: str, title: str) -> str:
        """Open a thread on a posted message; the same thread when it is open already.

        Inside a thread there is no other: there it returns `channel` itself.
        """

    async def direct(self, place: str, user: str) -> str:
        """Return the place of private messages with somebody who uses `place`."""

    async def seed(self, place: str, message: str, options: Sequence[str]) -> None:
        """Make sure that a message carries the bot's own reaction for each option."""

    async def reactions(self, place: str, message: str) -> Reactions:
        """Read who holds which option now. Raises MessageGoneError for a deleted message.

        Raises VenueAwayError when a part of it cannot be read now.
        """

    async def remove_reaction(self, place: str, message: str, user: str, option: str) -> None:
        """Take somebody's reaction away; one that is not there any more counts as taken.

        Raises VenueError where that is not allowed.
        """

    async def typing(self, place: str, seats: Sequence[str]) -> None:
        """Show for a few seconds that these seats think; none: stop showing it."""
