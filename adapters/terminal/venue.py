"""The Venue port in one process's terminal.

In colour on a terminal, plain lines elsewhere; a transcript file remembers across restarts what was
shown.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from pydantic import ValidationError
from rich.console import Console
from rich.text import Text

from adapters import make_private_folder, open_private
from adapters.terminal import render, texts
from adapters.terminal.render import LiveView
from engine.values.debate import Value
from engine.values.errors import MessageGoneError, VenueError
from engine.values.language import speaking
from engine.values.messages import (
    MESSAGE,
    File,
    Message,
    Notice,
    QuestionsClosed,
    QuestionsInvite,
    RoundInvite,
    SpeakInvite,
    TurnPost,
    VoteClosed,
    VoteInvite,
)
from engine.values.ports import (
    Draft,
    Listener,
    Location,
    Member,
    Part,
    Reactions,
    ReactionSeen,
    VenueLimits,
)
from engine.values.text import clean
from engine.words.cards import card_of

Guests = Callable[[Sequence[str]], Iterable[tuple[str, str]]]
"""Which users choose what, once a question with these options stands there."""


@dataclass(frozen=True, slots=True)
class _TerminalMessage:
    """A posted message; `holders` are users by option, and `hidden` is what never shows."""

    number: int
    place: str
    reference: str
    body: str
    hidden: bool = False
    seeded: tuple[str, ...] = ()
    holders: dict[str, frozenset[str]] = field(default_factory=dict)


class TerminalVenue:
    """One terminal as a chat platform.

    `channel` is the only one shown, None for all; `record` is the transcript's file, None for no
    memory. `listener` gets every hand, `guests` answer each question at once. `turn_page` is
    awaited with the name of each round after the first, before any of it is shown. Raises
    VenueError if the transcript cannot be read.
    """

    platform = "terminal"
    # Everyone at a terminal sees the same, and what is shown there stays.
    shares = unnamed = direct = managers = account_made_at = None
    remove_reaction = erase = None

    def __init__(
        self,
        console: Console,
        *,
        channel: str | None = None,
        record: Path | None = None,
        limits: VenueLimits | None = None,
    ) -> None:
        self.channel = channel
        self.limits = limits or VenueLimits()
        self.listener: Listener | None = None
        self.guests: Guests = lambda options: ()
        self.turn_page: Callable[[str], Awaitable[object]] | None = None
        self._console = console
        self._record = TranscriptFile(record)
        self._lock = asyncio.Lock()
        self._posted: dict[str, _TerminalMessage] = {}
        self._ballots: list[str] = []  # messages with an open question, the newest last
        self._round: str | None = None  # the one that is shown
        self._thread: str | None = None  # the only one shown; None: all
        self._unseen: list[str] = []  # messages of a hidden thread
        self._stage = LiveView(console)
        self._closed = False
        self._expiry: asyncio.TimerHandle | None = None
        for entry in self._record.load():
            self._apply(entry)

    # --- the port ---------------------------------------------------------------------

    def render(self, message: Message, stem: str) -> tuple[Part, ...]:
        """Freeze a message as one piece; a terminal has no size limit."""
        return render.parts(message, stem)

    def plain(self, source: Part | str, reference: str) -> tuple[Part, ...]:
        """Freeze a text, or a refused piece's text, as one piece without markup."""
        from engine.words.pieces import plain_text  # what a terminal shows is rarely refused

        text = source if isinstance(source, str) else plain_text(_message(source.body))
        body = Notice(text=text).model_dump_json()
        return (Part(reference=reference, body=body, plain=True),)

    @asynccontextmanager
    async def turn(
        self, place: str, *, first: bool = False, part: Part | None = None
    ) -> AsyncIterator[None]:
        """Send at once, as a terminal has no rate limit, unless people `turn_page` first."""
        message = part and _message(part.body)
        if isinstance(message, TurnPost) and self._is_shown(place):
            if self.turn_page is not None and self._round not in (None, message.round):
                await self.turn_page(message.round)
            self._round = message.round
        yield

    async def post(self, place: str, part: Part, *, notify: str = "") -> str:
        """Show one piece and return its message id; a repeated post is shown once."""
        async with self._lock:
            known = self._find(place, part.reference, 0)
            if known is not None:
                return known
            message = f"m{len(self._posted) + 1}"
            await self._do(
                RecordEntry(
                    kind="post",
                    place=place,
                    message=message,
                    reference=part.reference,
                    body=part.body,
                )
            )
        return message

    async def edit(self, place: str, message: str, part: Part) -> None:
        """Show a message's new state; what was printed stays."""
        async with self._lock:
            self._known(message)
            await self._do(RecordEntry(kind="edit", place=place, message=message, body=part.body))

    async def find(self, place: str, reference: str, after: str | None) -> str | None:
        """Return the message that carries a reference, posted after message `after`."""
        async with self._lock:
            return self._find(place, reference, self._known(after).number if after else 0)

    async def open_thread(self, channel: str, message: str, title: str) -> str:
        """Return a message's thread, which is in the same terminal."""
        self._known(message)
        return f"{channel}/{message}"

    async def link(self, community: str, place: str, message: str) -> str:
        """Return nothing: what was said stands above."""
        return ""

    async def locate(self, channel: str) -> Location:
        """Refuse: no one else can join this terminal."""
        raise VenueError("A terminal has no private messages; read the transcript.")

    async def written_by(self, place: str, user: str, after: str) -> Sequence[str]:
        """Return nothing: what is typed here is no message."""
        return ()

    async def member(self, place: str, user: str) -> Member | None:
        """Return the person at this terminal, who has no name here."""
        return Member(())

    async def seed(self, place: str, message: str, options: Sequence[str]) -> None:
        """Open the vote on a message, for these options."""
        async with self._lock:
            seeded = self._known(message).seeded
            every = (*seeded, *(option for option in options if option not in seeded))
            if every == seeded:
                return
            await self._do(RecordEntry(kind="seed", place=place, message=message, options=every))
        # Nothing can follow before they have answered.
        for user, option in self.guests(options):
            await self.hold(user, option)

    async def remove_own_reactions(self, place: str, message: str, options: Sequence[str]) -> None:
        """Do nothing: a terminal shows no reactions of the bot."""

    async def reactions(self, place: str, message: str) -> Reactions:
        """Read who holds which option now."""
        async with self._lock:
            posted = self._known(message)
            return Reactions(dict(posted.holders), frozenset(posted.seeded))

    async def typing(self, place: str, seats: Sequence[str]) -> None:
        """Show who is thinking, until the next message; only on a terminal."""
        if self._closed or not self._is_shown(place):
            return
        if not seats or not self._console.is_terminal:
            self._hush()
            return
        self._stop_expiry()
        self._stage.think(seats)
        shown_for = 2 * self.limits.typing_seconds
        self._expiry = asyncio.get_running_loop().call_later(shown_for, self._hush)

    # --- an audience ------------------------------------------------------------------

    def follow(self, draft: Draft) -> None:
        """Show a turn being written, until it is posted; only on a terminal."""
        if self._closed or not self._console.is_terminal:
            return
        if draft.dropped:
            self._stage.drop(draft.debate, draft.seat, draft.round)
        elif self.turn_page is not None and self._round not in (None, draft.round):
            return
        else:
            announced = self._posted.get((self._thread or "").rpartition("/")[2])
            if self._thread is None or (announced and _code(announced) == draft.debate):
                self._stage.write(draft)

    # --- people at this terminal ------------------------------------------------------

    async def hold(self, user: str, option: str) -> None:
        """Raise a person's hand in the open vote.

        Raises VenueError if no vote is open, or the option is not on the ballot.
        """
        await self._vote("hold", user, option)

    async def drop(self, user: str, option: str) -> None:
        """Lower a person's hand."""
        await self._vote("drop", user, option)

    def asked(self, option: str) -> int:
        """Return how many shown questions have this option."""
        shown = (self._posted[each] for each in self._ballots)
        return sum(option in each.seeded for each in shown if self._is_shown(each.place))

    @property
    def language(self) -> str:
        """The language of the message shown last."""
        return self._stage.language

    def replay(self, *places: str) -> None:
        """Show the earlier messages of these places again, dimmed; without places, all."""
        earlier = [p for p in self._posted.values() if not places or p.place in places]
        if not earlier:
            return
        with speaking(self.language):
            self.note(texts.earlier())
        for posted in earlier:
            self._show(posted, dim=True)

    def watch(self, thread: str) -> None:
        """Show only this thread from now on; an empty name hides all threads."""
        self._thread, self._closed = thread, False
        self._stage.clear()

    def turn_to(self, thread: str) -> None:
        """Watch a hidden thread, after showing its unseen messages."""
        self.watch(thread)
        due = [each for each in self._unseen if self._posted[each].place == thread]
        self._unseen = [each for each in self._unseen if each not in due]
        for message in due:
            self._show(self._posted[message])

    def note(self, text: str) -> None:
        """Show a dim line that is not a message."""
        self._hush()
        with self._stage.aside():
            shown = Text(clean(text), style="dim")
            self._console.print(shown, soft_wrap=not self._console.is_terminal)

    def close(self) -> None:
        """Restore the terminal; until it watches again, only messages are shown."""
        self._closed = True
        self._hush()
        self._stage.clear()

    # --- inside -----------------------------------------------------------------------

    async def _vote(self, kind: Literal["hold", "drop"], user: str, option: str) -> None:
        async with self._lock:
            message, posted = self._open_vote(option)
            if (user in posted.holders.get(option, ())) == (kind == "hold"):
                return
            await self._do(
                RecordEntry(
                    kind=kind, place=posted.place, message=message, user=user, options=(option,)
                )
            )
        if self.listener is not None:
            seen = ReactionSeen(posted.place, message, user, option, kind == "hold")
            await self.listener(seen)

    def _open_vote(self, option: str) -> tuple[str, _TerminalMessage]:
        ballots = [each for each in self._ballots if self._is_shown(self._posted[each].place)]
        if not ballots:
            raise VenueError(texts.NO_VOTE_OPEN)
        for message in reversed(ballots):
            posted = self._posted[message]
            if option in posted.seeded:
                return message, posted
        choice = ", ".join(self._posted[ballots[-1]].seeded)
        raise VenueError(texts.NO_SUCH_OPTION.format(option=option, options=choice))

    async def _do(self, entry: RecordEntry) -> None:
        """Store an entry, then apply and show it."""

        def write() -> None:
            if entry.kind == "post":
                self._record.file(_code(entry), card_of(_message(entry.body)).files)
            self._record.append(entry)

        writing = asyncio.ensure_future(asyncio.to_thread(write))
        try:
            await asyncio.shield(writing)
        finally:
            # Even if the caller was cancelled: what is on disk has happened.
            await asyncio.wait({writing})
            if writing.exception() is None:
                self._apply(entry)
                self._print(entry)

    def _apply(self, entry: RecordEntry) -> None:
        if entry.kind == "post":
            number = len(self._posted) + 1
            # The person at this terminal is asked to speak in another way.
            hidden = isinstance(_message(entry.body), SpeakInvite)
            self._posted[entry.message] = _TerminalMessage(
                number, entry.place, entry.reference, entry.body, hidden
            )
            return
        posted = self._known(entry.message)
        match entry.kind:
            case "edit":
                posted = replace(posted, body=entry.body)
                if entry.message in self._ballots and isinstance(_message(entry.body), VoteClosed):
                    self._ballots = [
                        each for each in self._ballots if self._posted[each].place != posted.place
                    ]
            case "seed":
                posted = replace(posted, seeded=entry.options)
                self._ballots.append(entry.message)
            case _:
                option, user = entry.options[0], frozenset({entry.user})
                held = posted.holders.get(option, frozenset())
                posted = replace(
                    posted,
                    holders={
                        **posted.holders,
                        option: held | user if entry.kind == "hold" else held - user,
                    },
                )
        self._posted[entry.message] = posted

    def _print(self, entry: RecordEntry) -> None:
        posted = self._posted[entry.message]
        if not self._is_shown(posted.place):
            self._unseen += [entry.message] if entry.kind == "post" else []
            return
        match entry.kind:
            case "post" | "edit" if posted.hidden:
                pass
            case "post":
                self._show(posted)
            case "edit" if isinstance(_message(entry.body), VoteClosed | QuestionsClosed):
                self._show(posted)
            case "edit" if isinstance(_message(entry.body), QuestionsInvite):
                pass  # the person at this terminal asked for it, and knows
            case "edit":
                with speaking(self.language):
                    self.note(texts.edited(posted.reference))
            case "hold" | "drop":
                asked, raised = _message(posted.body), entry.kind == "hold"
                names = asked.names if isinstance(asked, VoteInvite | RoundInvite) else {}
                with speaking(asked.language):
                    self.note(texts.hand_text(entry.user, entry.options[0], names, raised=raised))

    def _is_shown(self, place: str) -> bool:
        return self._thread is None or "/" not in place or place == self._thread

    def _show(self, posted: _TerminalMessage, *, dim: bool = False) -> None:
        self._hush()
        message, folder = _message(posted.body), self._record.folder(_code(posted))
        self._stage.language = message.language
        if not self._console.is_terminal:
            shown = render.plain(message, posted.reference, folder)
            self._console.out(shown, highlight=False)
            return
        if isinstance(message, TurnPost):
            self._stage.drop(_code(posted), message.seat, message.round)
        with self._stage.aside():
            self._console.print(render.pretty(message, posted.reference, folder, dim=dim))

    def _hush(self) -> None:
        """Remove the line that shows who is thinking."""
        self._stop_expiry()
        self._stage.think(())

    def _stop_expiry(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None

    def _find(self, place: str, reference: str, since: int) -> str | None:
        for message, posted in self._posted.items():
            if (posted.place, posted.reference) == (place, reference) and posted.number > since:
                return message
        return None

    def _known(self, message: str) -> _TerminalMessage:
        if message not in self._posted:
            raise MessageGoneError(texts.NO_SUCH_MESSAGE.format(message=message))
        return self._posted[message]


def _code(posted: _TerminalMessage | RecordEntry) -> str:
    return posted.reference.partition("·")[0]


def _message(body: str) -> Message:
    try:
        return MESSAGE.validate_json(body)
    except ValidationError as error:
        raise VenueError(texts.BODY_UNREADABLE) from error


# The terminal's memory across restarts: an append-only transcript in JSON lines.


class RecordEntry(Value):
    """A line of the transcript.

    A post has `reference` and `body`, an edit `body`, a seeding `options`; a raised or lowered
    hand has `user` and one option.
    """

    kind: Literal["post", "edit", "seed", "hold", "drop"]
    place: str
    message: str
    reference: str = ""
    body: str = ""
    user: str = ""
    options: tuple[str, ...] = ()


class TranscriptFile:
    """A transcript file; without a path nothing is stored."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def load(self) -> tuple[RecordEntry, ...]:
        """Read all entries; cuts off a last line that a crash left unfinished.

        Raises VenueError if the file is unreadable or damaged.
        """
        if self.path is None or not self.path.exists():
            return ()
        try:
            lines, newline, torn = self.path.read_bytes().rpartition(b"\n")
            whole = lines + newline
            if torn:
                os.truncate(self.path, len(whole))
            return tuple(RecordEntry.model_validate_json(line) for line in whole.splitlines())
        except (OSError, ValidationError) as error:
            why = error.strerror if isinstance(error, OSError) else "a line is damaged"
            raise VenueError(texts.RECORD_UNREADABLE.format(path=self.path, why=why)) from error

    def append(self, entry: RecordEntry) -> None:
        """Write an entry to disk. Raises VenueError if that fails."""
        if self.path is None:
            return
        try:
            with open(self.path, "ab", opener=open_private) as file:
                file.write(entry.model_dump_json().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            why = error.strerror
            raise VenueError(texts.RECORD_UNWRITABLE.format(path=self.path, why=why)) from error

    def folder(self, code: str) -> Path | None:
        """Return the folder of a debate's files, None without a transcript."""
        return self.path.parent / code if self.path else None

    def file(self, code: str, files: Sequence[File]) -> None:
        """Write a debate's files. Raises VenueError if that fails."""
        folder = self.folder(code)
        if folder is None or not files:
            return
        try:
            make_private_folder(folder)
            for file in files:
                with open(folder / file.name, "wb", opener=open_private) as written:
                    written.write(file.data())
        except OSError as error:
            raise VenueError(
                texts.FILES_UNWRITABLE.format(folder=folder, why=error.strerror)
            ) from error


def records_of(database: Path) -> Path:
    """Return the folder of a database file's transcripts."""
    return database.with_name(f"{database.name}.terminal")
