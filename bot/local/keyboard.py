"""What people at a keyboard give: questions, turns, and reasons after a vote."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import NamedTuple

from adapters.terminal.keys import CLOSING_KEYS, TAKE_BACK, key_help, keyboard, keys_of
from adapters.terminal.texts import GUEST, guests_among, parse_sure, parse_votes
from adapters.terminal.venue import TerminalVenue
from bot.app import App
from bot.local.orders import HOST, has_keyboard
from engine.chat.answers.voters import ASK, MENU, read_percent
from engine.run.questions import ask
from engine.store import OpenQuestion
from engine.store.ballots import VoterComment
from engine.store.guests import OpenTurn
from engine.tally.questions import CONFIDENCES, GROUNDS
from engine.values.debate import ConfidenceScale, Debate
from engine.values.errors import LeaseLostError, RostrumError, UsageError
from engine.values.language import speaking
from engine.values.text import marked
from engine.values.verdicts import Question
from engine.words.phrases import option_name, round_name
from engine.words.translation import say

NO_ASKERS = "No one can ask here (no terminal and no --ask), so the debate goes on at once."
ASK_BY_LINES = (
    "Type a question for both sides and press Enter; an empty line ends the questions. "
    "The first two are answered."
)
WRITE_BY_LINES = (
    "{side}, it is your turn: {round}. Type it line by line; an empty line or Ctrl-D ends it"
)

# Questions to both sides from people at a terminal: given as options, or typed line by line.


PLATFORM = "terminal"
LOOK_SECONDS = 0.05
MOST_BYTES = 4096  # of a line, as terminals edit them


@asynccontextmanager
async def asking_beside(
    app: App, venue: TerminalVenue, debate: Debate, given: Sequence[str] | None
) -> AsyncIterator[None]:
    """Ask both sides something while the body runs, once the debate takes questions."""
    asking = asyncio.create_task(_ask(app, venue, debate, given))
    try:
        yield
    finally:
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking


async def _ask(app: App, venue: TerminalVenue, debate: Debate, given: Sequence[str] | None) -> None:
    """Wait for the time to ask, use it, and end it: no one else can ask at this terminal."""
    while True:
        time = await app.store.guests.question_time(debate.id)
        if time is not None and time.opened_at is not None:
            break
        await app.service.notifier.wait(f"delivered/{debate.id}", LOOK_SECONDS)
    if time.closed_at is not None:
        return
    with speaking(debate.request.language):
        if given is not None:
            for number, text in enumerate(given, start=1):
                await _put(app, venue, debate, number, text)
        elif has_keyboard():
            venue.note(ASK_BY_LINES)
            place = len(await app.store.guests.questions(debate.id))
            with typed_lines(sys.stdin.fileno()) as lines:
                while line := await lines.get():
                    place += 1
                    await _put(app, venue, debate, place, line)
        else:
            venue.note(NO_ASKERS)
        with suppress(LeaseLostError):  # it is ending right now
            await app.service.windows[PLATFORM].end(OpenQuestion(debate.id, Question.SUPPORT))


async def _put(app: App, venue: TerminalVenue, debate: Debate, number: int, text: str) -> None:
    try:
        await ask(app.service, debate, f"{GUEST}{number}", text)
    except RostrumError as error:
        venue.note(str(error))


@contextmanager
def typed_lines(fd: int) -> Iterator[asyncio.Queue[str]]:
    """Yield a queue of the lines typed into a terminal, "" for an empty one and at the end."""
    lines, loop = asyncio.Queue[str](), asyncio.get_running_loop()

    def read() -> None:
        said = os.read(fd, MOST_BYTES).decode("utf-8", "replace")
        if not said:
            loop.remove_reader(fd)
        for line in said.splitlines() or [""]:
            lines.put_nowait(line.strip())

    loop.add_reader(fd, read)
    try:
        yield lines
    finally:
        loop.remove_reader(fd)


# The turns of a person who argues a side at a terminal, typed line by line.


END = None  # in place of a line: the input ends here, for now or for good


@asynccontextmanager
async def writing_beside(app: App, venue: TerminalVenue, debate: Debate) -> AsyncIterator[None]:
    """Take turns from the keyboard while the body runs, as a person argues a side."""
    writing = asyncio.create_task(_write(app, venue, debate))
    try:
        yield
    finally:
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing


async def _write(app: App, venue: TerminalVenue, debate: Debate) -> None:
    with _typed(sys.stdin.fileno()) as lines, speaking(debate.request.language):
        while True:
            while (turn := await app.store.guests.open_turn(debate.id)) is None or not turn.opened:
                await app.service.notifier.wait(f"delivered/{debate.id}", LOOK_SECONDS)
            within = f" (≤ {turn.words})" if turn.words else ""
            named = round_name(turn.step.split("/")[1])
            side = marked(debate.request.guest)
            venue.note(WRITE_BY_LINES.format(side=side, round=named) + within)
            said: list[str] = []  # up to an empty line or the end of the input
            while (line := await lines.get()) is not END:
                if not line.strip() and said:
                    break
                said += [line] if line.strip() else []
            else:
                if not sys.stdin.isatty():
                    lines.put_nowait(END)  # for every turn that follows
            await _give(app, venue, debate, turn, "\n".join(said) or None)


async def _give(
    app: App, venue: TerminalVenue, debate: Debate, turn: OpenTurn, text: str | None
) -> None:
    """Give a turn; nothing at all gives it up."""
    try:
        if text is not None:
            await app.service.guests.give_turn(debate, HOST, text)
            return
        with suppress(LeaseLostError):  # it is ending right now
            asked = OpenQuestion(debate.id, Question.SPEAK, turn.step)
            await app.service.windows[PLATFORM].end(asked)
    except UsageError as error:
        venue.note(say(error.text))


@contextmanager
def _typed(fd: int) -> Iterator[asyncio.Queue[str | None]]:
    """Yield a queue of the lines typed; at a terminal more may follow an end of the input."""
    lines, loop, left = asyncio.Queue[str | None](), asyncio.get_running_loop(), bytearray()

    def read() -> None:
        said = os.read(fd, MOST_BYTES)
        left.extend(said)
        *whole, rest = bytes(left).split(b"\n")
        left[:] = rest
        if not said:
            whole += [rest] if rest else []
            left.clear()
        for line in whole:
            lines.put_nowait(line.decode("utf-8", "replace"))
        if not said:
            lines.put_nowait(END)
            if not os.isatty(fd):
                loop.remove_reader(fd)

    loop.add_reader(fd, read)
    try:
        yield lines
    finally:
        loop.remove_reader(fd)


# Those who voted at a keyboard say why, and guess the models: each in turn, by one key.


PERCENTS_EXAMPLE = "80=2,55=1"
RUBBED_OUT = frozenset({"\x7f", "\b"})
MODEL_KEYS = "123456789abcdefghijklmnopqrstvwxyz"  # without the one that goes back


class _KeyboardQuestion(NamedTuple):
    """A question: its words, and its answers by key, each with its name."""

    question: Question
    asks: str
    keys: Mapping[str, str]
    names: Mapping[str, str]
    side: str = ""


async def say_why(app: App, venue: TerminalVenue, debate: Debate) -> None:
    """Ask those who hold a vote, in their order, until each has answered or Enter is pressed."""
    read = await venue.reactions(debate.thread or "", debate.vote_message or "")
    voters = {user for held in read.holders.values() for user in held}
    guests = sorted(voters, key=lambda user: guests_among([user]))
    with speaking(debate.request.language), keyboard(sys.stdin.fileno()) as keys:
        for asked in _questions(debate):
            named = {key: asked.names[option] for key, option in asked.keys.items()}
            venue.note(f"{asked.asks} {key_help(named, goes_on=True)}")
            at = 0
            while at < len(guests) and (key := (await keys.get()).lower()) not in CLOSING_KEYS:
                if key == TAKE_BACK:
                    at = max(0, at - 1)  # whose next answer replaces this one
                elif (option := asked.keys.get(key)) is not None:
                    await app.store.ballots.remark(
                        VoterComment(
                            debate=debate.id,
                            ballot=debate.request.ballot,
                            platform=debate.platform,
                            user=guests[at],
                            question=asked.question,
                            step=asked.side,
                            option=option,
                            received_at=app.service.clock.now(),
                        )
                    )
                    venue.note(f"{guests[at]}: {asked.names[option]}")
                    at += 1


def check_sure(asked: ConfidenceScale | None, sure: str) -> None:
    """Refuse what is no word or, where a debate asks so, no percent. Raises UsageError."""
    if asked is ConfidenceScale.PERCENT:
        _parse_percents(sure)
    else:
        parse_sure(sure)


def _parse_percents(text: str) -> tuple[str, ...]:
    """Read `80=2,55=1` into how sure people are, one by one. Raises UsageError."""
    names = [read_percent(entry.partition("=")[0]) for entry in text.split(",")]
    said = parse_votes(text, tuple(dict.fromkeys(names)), "--sure", PERCENTS_EXAMPLE)
    return tuple(percent for percent, number in said.items() for _ in range(number))


async def say_sure(app: App, venue: TerminalVenue, debate: Debate, given: str | None) -> None:
    """Take in percent how sure each voter is, in their order: what is given, or typed lines.

    An empty line leaves somebody out.
    """
    read = await venue.reactions(debate.thread or "", debate.vote_message or "")
    voters = {user for held in read.holders.values() for user in held}
    guests = sorted(voters, key=lambda user: guests_among([user]))
    if given is not None:
        for guest, percent in zip(guests, _parse_percents(given), strict=False):
            await _keep_sure(app, debate, guest, percent)
        return
    with speaking(debate.request.language), keyboard(sys.stdin.fileno()) as keys:
        venue.note(say(ASK["sure"]))
        for guest in guests:
            while typed := await _typed_line(keys, venue, guest):
                try:
                    await _keep_sure(app, debate, guest, read_percent(typed))
                    break
                except UsageError as error:
                    venue.note(str(error))


async def _typed_line(keys: asyncio.Queue[str], venue: TerminalVenue, guest: str) -> str:
    """Return what is typed until Enter, shown as it is then; empty for nothing."""
    typed = ""
    while (key := await keys.get()) not in CLOSING_KEYS:
        typed = typed[:-1] if key in RUBBED_OUT else typed + key
    if typed:
        venue.note(f"{guest}: {typed}")
    return typed


async def _keep_sure(app: App, debate: Debate, guest: str, percent: str) -> None:
    await app.store.ballots.remark(
        VoterComment(
            debate=debate.id,
            ballot=debate.request.ballot,
            platform=debate.platform,
            user=guest,
            question=Question.CONFIDENCE,
            option=percent,
            received_at=app.service.clock.now(),
        )
    )


def _questions(debate: Debate) -> Iterator[_KeyboardQuestion]:
    """Yield what to ask: why, how clear it was unless that was asked, and each side's model."""
    request, menu = debate.request, debate.setup.menu[: len(MODEL_KEYS)]
    words: list[tuple[Question, str, tuple[str, ...]]] = []
    if request.reasons:
        words.append((Question.GROUND, "reason", GROUNDS))
    if request.reasons and not request.confidence:
        words.append((Question.CONFIDENCE, "clear", CONFIDENCES))
    for question, asks, options in words:
        names = {option: option_name(option) for option in options}
        yield _KeyboardQuestion(question, say(ASK[asks]), keys_of(options), names)
    numbers = tuple(map(str, range(len(menu))))
    for side in request.sides if menu else ():
        asks = say(MENU, side=option_name(side, debate.setup.called))
        keys = dict(zip(MODEL_KEYS, numbers, strict=False))
        yield _KeyboardQuestion(
            Question.GUESS, asks, keys, dict(zip(numbers, menu, strict=True)), side
        )
