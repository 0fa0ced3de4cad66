"""A venue in memory, which tells what people do and misbehaves on request, and its wording."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeVar

from engine.values.errors import MessageGoneError, VenueAwayError, VenueError, VenueGoneError
from engine.values.markdown import split_markdown
from engine.values.messages import (
    AgainInvite,
    Announcement,
    ConfidenceInvite,
    JurorLine,
    Message,
    Notice,
    Reveal,
    RoundInvite,
    StanceInvite,
    TurnPost,
    VoteClosed,
    VoteInvite,
)
from engine.values.ports import (
    ButtonPressed,
    Inbound,
    Listener,
    Location,
    Member,
    Part,
    Reactions,
    ReactionsCleared,
    ReactionSeen,
    ThreadChanged,
    VenueLimits,
)
from engine.values.text import clean
from engine.words.card import Reference
from engine.words.cards import card_of
from engine.words.pieces import markdown_of
from engine.words.progress import progressed

# --- how each message reads where there is nothing but plain text -----------------------


def wording(message: Message) -> str:  # noqa: C901 - one case a message
    """Return all that a message says, as readable lines."""
    match message:
        case TurnPost():
            return "\n".join(_turn(message))
        case Announcement():
            return "\n".join(_announcement(message))
        case VoteInvite():
            options = ", ".join(message.options)
            return f"Vote: {options}. {message.minutes:g} minutes, quorum {message.quorum}."
        case StanceInvite():
            when = "after the debate" if message.after else f"{message.seconds:g} seconds"
            return f"Stance, {when}: {message.topic} {', '.join(message.options)}."
        case AgainInvite():
            options = ", ".join(message.options)
            return f"After the reveal: {options}. {message.minutes:g} minutes."
        case RoundInvite():
            return f"Round {message.round}: {', '.join(message.options)}."
        case ConfidenceInvite():
            return f"How clear: {', '.join(message.options)}."
        case VoteClosed():
            early = " early" if message.early else ""
            return (
                f"The vote closed{early} with {message.votes} votes: {', '.join(message.options)}."
            )
        case Reveal():
            return "\n".join(_reveal(message))
        case Notice():
            return f"{message.level}: {message.text}"
        case _:
            card = card_of(message)
            files = "".join(f"\n[file {file.name}]" for file in card.attached())
            return f"{card.title}\n{markdown_of(card, {})}{files}"


def _turn(turn: TurnPost) -> Iterator[str]:
    of = f" of {turn.limit}" if turn.limit else ""
    all_turns = f" of {turn.total}" if turn.total else ""
    yield f"{turn.seat}, {turn.round}, turn {turn.number}{all_turns}, {turn.words}{of} words"
    yield turn.text
    if turn.seconds is not None:
        yield f"Time: {turn.seconds} of {turn.seconds_limit} s"
    for violation in turn.violations:
        yield f"Violation: {violation.kind}, {violation.measured:g} of {violation.limit:g}"


def _announcement(debate: Announcement) -> Iterator[str]:
    yield f"Debate {debate.code}: {debate.topic}"
    if debate.conditions:
        yield f"Conditions: {debate.conditions}"
    yield f"Format {debate.format}, language {debate.language}, rounds {', '.join(debate.rounds)}"
    yield f"Contenders {', '.join(debate.contenders)}, {debate.jurors} jurors"
    yield f"About {debate.estimate.calls} calls; the vote takes {debate.vote_minutes:g} minutes"
    if debate.progress is not None:
        yield progressed(debate.progress, thread=debate.progress.thread or "")


def _reveal(reveal: Reveal) -> Iterator[str]:
    yield f"Reveal: {reveal.topic}"
    for contender, model in reveal.models.items():
        yield f"{contender}: {model}{' (drawn)' if contender in reveal.drawn else ''}"
    for seat, model in reveal.seats.items():
        yield f"{seat}: {model}"
    yield from (f"{was} was replaced by {now}" for was, now in reveal.replaced)
    if reveal.judges:
        yield f"Judged by {', '.join(reveal.judges)}"
    yield f"People: {reveal.tally.winner}, {reveal.tally.counts}, share {reveal.tally.share}"
    if reveal.unread:
        yield "The reactions could not be read."
    yield f"Jury: {reveal.verdict.winner}, {reveal.verdict.p} {reveal.verdict.problem}".rstrip()
    if reveal.persuasion is not None:
        moved = reveal.persuasion
        yield f"Persuaded: {moved.winner}, {moved.moved} of {moved.people}"
    yield from (f"After {one.round}: {one.counts}" for one in reveal.course)
    yield from map(_juror, reveal.jurors)
    yield f"Agree: {reveal.agree}; {reveal.calls} calls, {reveal.usd} USD"


def _juror(line: JurorLine) -> str:
    flag = ", contradictory" if line.contradictory else ""
    return f"{line.juror} ({''.join(line.order)}{flag}): {line.verdict or line.problem}"


PART_LIMIT = 1900

T = TypeVar("T")
Method = Literal[
    "post",
    "edit",
    "find",
    "open_thread",
    "seed",
    "unseed",
    "reactions",
    "remove_reaction",
    "typing",
    "erase",
    "written_by",
]


@dataclass(slots=True)
class StoredMessage:
    """A message as the platform keeps it; `reactions` are those of people and other bots."""

    id: str
    number: int
    place: str
    reference: str
    body: str
    at: float
    edits: int = 0
    seeds: set[str] = field(default_factory=set)
    reactions: dict[str, set[str]] = field(default_factory=dict)


@dataclass(slots=True)
class Thread:
    """A thread and where it hangs."""

    id: str
    channel: str
    message: str
    title: str
    messages: list[StoredMessage] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Seen:
    """One call that reached the platform; `said` is all the text that it carried."""

    method: Method
    place: str
    said: str
    at: float


@dataclass(frozen=True, slots=True)
class Fault:
    """How the platform treats one call: after `delay` seconds, with `error` if there is one.

    With `stored` it does what was asked first, so that only the answer is lost.
    """

    error: Exception | None = None
    delay: float = 0.0
    stored: bool = False


class MemoryVenue:
    """The Venue port in memory.

    `latency` is seconds a call; `listener` hears of reactions while `listening`. Users named
    in `bots` are in nobody's tally, and managers read in `managed_in`. `threads`, `places`,
    `messages`, `seen` and `rendered` are there to be read; a benchmark keeps no record with
    `recording=False`.
    """

    platform = "memory"
    unnamed = account_made_at = None
    channel: str | None = None

    def __init__(
        self,
        *,
        listener: Listener | None = None,
        latency: float = 0.0,
        limits: VenueLimits | None = None,
        recording: bool = True,
    ) -> None:
        self.limits = limits or VenueLimits()
        self.listener = listener
        self.listening = True
        self.latency = latency
        self.recording = recording
        self.bots: set[str] = set()
        self.notified: list[str] = []
        self.written: dict[str, dict[int, tuple[str, str]]] = defaultdict(dict)
        self.managed_in: list[str] = []
        self.threads: dict[str, Thread] = {}
        self.places: dict[str, list[StoredMessage]] = defaultdict(list)
        self.messages: dict[str, StoredMessage] = {}
        self.seen: list[Seen] = []
        self.rendered: list[str] = []
        self.thinking: dict[str, tuple[str, ...]] = {}
        self.away_until = 0.0
        self.gone_places: set[str] = set()
        self._posted = 0
        self._faults: dict[Method, deque[Fault]] = defaultdict(deque)
        self._carrying: dict[tuple[str, str], list[StoredMessage]] = defaultdict(list)

    def render(self, message: Message, stem: str) -> tuple[Part, ...]:
        """Turn a message into plain text in pieces of at most 1900 characters."""
        texts = split_markdown(clean(wording(message)), PART_LIMIT - len(stem) - 12) or ("",)
        references = [f"{stem}·{i}/{len(texts)}" for i in range(1, len(texts) + 1)]
        parts = tuple(
            Part(reference=reference, body=f"{text}\n{Reference.read(reference).small_print}")
            for reference, text in zip(references, texts, strict=True)
        )
        if self.recording:
            self.rendered.extend(part.body for part in parts)
        return parts

    def plain(self, source: Part | str, reference: str) -> tuple[Part, ...]:
        """Turn a piece that was refused, or a text, into one without markup."""
        text = source if isinstance(source, str) else source.body.rpartition("\n")[0]
        piece = clean(text).replace("*", "").replace("`", "")
        shown = f"{piece}\n{Reference.read(reference).small_print}"
        return (Part(reference=reference, body=shown, plain=True),)

    def turn(
        self, place: str, *, first: bool = False, part: Part | None = None
    ) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def post(self, place: str, part: Part, *, notify: str = "") -> str:
        self.notified += [notify] if notify else []
        return await self._ask("post", place, part.body, lambda: self._store(place, part))

    async def edit(self, place: str, message: str, part: Part) -> None:

        def replace() -> None:
            stored = self._message(message)
            stored.body, stored.edits = part.body, stored.edits + 1

        await self._ask("edit", place, part.body, replace)

    async def find(self, place: str, reference: str, after: str | None) -> str | None:
        """Return the message that carries a reference, posted after message `after`."""

        def look() -> str | None:
            since = self._message(after).number if after else 0
            found = self._carrying.get((place, reference), ())
            return next((stored.id for stored in found if stored.number > since), None)

        return await self._ask("find", place, reference, look)

    async def open_thread(self, channel: str, message: str, title: str) -> str:
        """Open a thread on a posted message; the same thread when it is open already."""

        def open_it() -> str:
            self._message(message)
            thread = f"thread-{message}"
            if thread not in self.threads:
                kept = self.places[thread]
                self.threads[thread] = Thread(thread, channel, message, title, kept)
            return thread

        return await self._ask("open_thread", channel, title, open_it)

    async def link(self, community: str, place: str, message: str) -> str:
        return f"memory://{community}/{place}/{message}"

    async def locate(self, channel: str) -> Location:
        """Find a channel: every one is the club's."""
        if channel in self.gone_places:
            raise VenueGoneError(f"There is no channel {channel}.")
        return Location("club", channel)

    async def written_by(self, place: str, user: str, after: str) -> Sequence[str]:
        """Return what somebody wrote in a place since a message."""

        def read() -> Sequence[str]:
            self._message(after)
            return [text for who, text in self.written[place].values() if who == user and text]

        return await self._ask("written_by", place, "", read)

    async def member(self, place: str, user: str) -> Member | None:
        """Return who somebody is: everyone is a member but a stranger."""
        if user == "stranger":
            return None
        return Member((f"{user.title()} Somebody", user), user in self.bots)

    async def direct(self, place: str, user: str) -> str:
        return f"direct-{user}"

    async def managers(self, place: str) -> Sequence[str]:
        return self.managed_in

    async def shares(self) -> int | None:
        return None

    async def seed(self, place: str, message: str, options: Sequence[str]) -> None:
        """Make sure that a message carries the bot's own reaction for each option."""
        said = " ".join(options)
        await self._ask("seed", place, said, lambda: self._message(message).seeds.update(options))

    async def remove_own_reactions(self, place: str, message: str, options: Sequence[str]) -> None:
        """Take the bot's own reactions away, one request for each."""
        for option in options:
            seeds = partial(lambda one: self._message(message).seeds.discard(one), option)
            await self._ask("unseed", place, option, seeds)

    async def reactions(self, place: str, message: str) -> Reactions:

        def read() -> Reactions:
            stored = self._message(message)
            holders = {o: frozenset(u - self.bots) for o, u in stored.reactions.items()}
            return Reactions(holders, frozenset(stored.seeds))

        return await self._ask("reactions", place, "", read)

    async def remove_reaction(self, place: str, message: str, user: str, option: str) -> None:
        """Take somebody's reaction away, and tell of it as platforms do."""

        def remove() -> bool:
            users = self._message(message).reactions.get(option, set())
            held = user in users
            users.discard(user)
            return held

        if await self._ask("remove_reaction", place, f"{user} {option}", remove):
            await self.tell(ReactionSeen(place, message, user, option, False))

    async def erase(self, place: str, message: str | None) -> bool:
        """Delete a message; a thread goes message by message."""
        if message is None:
            return False

        def delete() -> None:
            self._message(message)

        await self._ask("erase", place, message, delete)
        self.delete_message(message)
        return True

    async def typing(self, place: str, seats: Sequence[str]) -> None:

        def show() -> None:
            self.thinking[place] = tuple(seats)

        await self._ask("typing", place, " ".join(seats), show)

    def write(self, user: str, place: str, text: str) -> int:
        """Let somebody write a message; empty: a picture. Return its number."""
        number = len(self.written[place]) + 1
        self.written[place][number] = user, text
        return number

    async def react(self, user: str, place: str, message: str, option: str) -> None:
        """Let somebody add a reaction; holding it already changes nothing."""
        users = self._message(message).reactions.setdefault(option, set())
        if user not in users:
            users.add(user)
            await self.tell(ReactionSeen(place, message, user, option, True))

    async def unreact(self, user: str, place: str, message: str, option: str) -> None:
        """Let somebody take a reaction back; not holding it changes nothing."""
        users = self._message(message).reactions.get(option, set())
        if user in users:
            users.remove(user)
            await self.tell(ReactionSeen(place, message, user, option, False))

    async def press(
        self, user: str, place: str, message: str, option: str | None, event: str | None = None
    ) -> None:
        await self.tell(ButtonPressed(place, message, user, option, event))

    async def clear(self, message: str, option: str | None = None) -> None:
        """Let a moderator clear reactions, the bot's own too: of one option, or all."""
        stored = self._message(message)
        for cleared in (*stored.reactions, *stored.seeds) if option is None else (option,):
            stored.reactions.pop(cleared, None)
            stored.seeds.discard(cleared)
        await self.tell(ReactionsCleared(stored.place, message, option))

    def delete_message(self, message: str) -> None:
        """Let a moderator delete a message; no platform tells of it."""
        stored = self.messages.pop(message)
        self.places[stored.place].remove(stored)
        self._carrying[stored.place, stored.reference].remove(stored)

    async def delete_thread(self, place: str) -> None:
        """Let a moderator delete a thread, and tell of it."""
        self.delete(place)
        await self.tell(ThreadChanged(place, "deleted"))

    async def tell(self, event: Inbound) -> None:
        """Tell of an event, as of all that people do; a test may tell of one again, or late."""
        robotic = isinstance(event, ReactionSeen) and event.user in self.bots
        if self.listener is not None and self.listening and not robotic:
            await self.listener(event)

    def misbehave(self, method: Method, *faults: Fault) -> None:
        """Treat the next calls of a method so, one fault a call."""
        self._faults[method].extend(faults)

    def lose_answer(self, method: Method = "post") -> None:
        """Do what the next call asks, and lose the answer."""
        lost = VenueAwayError("The answer was lost.", retry_after=0.01, maybe_stored=True)
        self.misbehave(method, Fault(lost, stored=True))

    def refuse_reading(self, times: int = 1) -> None:
        """Refuse the next `times` looks for a message and at reactions each."""
        refusal = Fault(VenueError("Reading is not allowed here; grant the right to read."))
        for method in ("find", "reactions"):
            self.misbehave(method, *[refusal] * times)

    def go_away(self, seconds: float) -> None:
        self.away_until = time.monotonic() + seconds

    def delete(self, place: str) -> None:
        self.gone_places.add(place)

    def said(self) -> str:
        """Return everything that was ever sent to the platform, line by line."""
        return "\n".join(call.said for call in self.seen)

    async def _ask(self, method: Method, place: str, said: str, act: Callable[[], T]) -> T:
        fault = self._faults[method].popleft() if self._faults[method] else Fault()
        if self.recording:
            self.seen.append(Seen(method, place, said, time.monotonic()))
        if self.latency or fault.delay:
            await asyncio.sleep(self.latency + fault.delay)
        if place in self.gone_places:
            raise VenueGoneError(f"{place} was deleted; nothing can be posted there any more.")
        if (left := self.away_until - time.monotonic()) > 0:
            raise VenueAwayError("The platform cannot be reached; try again.", retry_after=left)
        if fault.error is not None and not fault.stored:
            raise fault.error
        result = act()
        if fault.error is not None:
            raise fault.error
        return result

    def _store(self, place: str, part: Part) -> str:
        self._posted += 1
        number = self._posted
        stored = StoredMessage(
            f"m{number}", number, place, part.reference, part.body, time.monotonic()
        )
        self.messages[stored.id] = stored
        self.places[place].append(stored)
        self._carrying[place, part.reference].append(stored)
        return stored.id

    def _message(self, message: str) -> StoredMessage:
        if message not in self.messages:
            raise MessageGoneError(f"There is no message {message}; it may have been deleted.")
        return self.messages[message]


# --- a platform in memory that also keeps what each message meant -----------------------


class AttentiveVenue(MemoryVenue):
    """`meant` are all messages as they were rendered, `meaning` what each posted one meant.

    Messages of the kind `refused` may not be posted.
    """

    def __init__(self, *, limits: VenueLimits | None = None) -> None:
        super().__init__(limits=limits)
        self.refused = ""
        self.meant: list[Message] = []
        self.meaning: dict[str, list[Message]] = {}

    def render(self, message: Message, stem: str) -> tuple[Part, ...]:
        """Turn a message into plain text, and keep what it meant."""
        self.meant.append(message)
        parts = super().render(message, stem)
        for part in parts:
            self.meaning.setdefault(part.reference, []).append(message)
        if message.kind == self.refused:
            raise VenueError("Nothing may be posted here; grant the right to.")
        return parts

    async def edit(self, place: str, message: str, part: Part) -> None:
        """Replace what a posted message shows, and note what it means now."""
        await super().edit(place, message, part)
        meaning = self.meaning[self.messages[message].reference]
        if meaning is not self.meaning[part.reference]:
            meaning += self.meaning[part.reference]
