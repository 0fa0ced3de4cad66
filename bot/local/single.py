"""`rostrum debate` and `rostrum resume`: one debate in the terminal on configured backends."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from adapters.terminal.texts import parse_stances
from bot import log, sentences
from bot.app import App, find_debate, run_app
from bot.console import print_lines
from bot.local.orders import (
    PLATFORM,
    check_people,
    contenders_of,
    given_beside,
    order_of,
    quiet,
    spelled_option,
    with_people,
)
from bot.local.session import TerminalSession, has_ended, showing_debate
from bot.settings.load import load_settings, read_model
from bot.settings.settings import Settings
from engine.run.order import Order, Rematch
from engine.run.questions import read_question
from engine.run.rematch import check_repeatable
from engine.run.service import Started
from engine.values.debate import ConfidenceScale, Debate, Replacement, Status
from engine.values.errors import NotTextError, StoreError, UsageError
from engine.values.source_files import check_files, read_sources
from engine.values.sources import SourceFile, SourceLimits
from engine.words.phrases import REHEARSALS

# A debate in a terminal that goes on where it stopped.


TAKE_UP_SECONDS = 1.0


async def resume(
    session: TerminalSession, begun: Debate, changes: Sequence[Replacement] = ()
) -> Debate:
    """Resume a debate that began in a terminal, and return it revealed.

    Its mirror is resumed with it.
    """
    if session.usd is not None and begun.status not in (Status.FAILED, Status.PARTIAL):
        raise UsageError(
            f"Debate {begun.code} goes on under the cap that it began with: leave --usd out."
        )
    venue = session.open_venue(begun.place)
    venue.replay(*filter(None, (begun.place, begun.thread)))
    if begun.thread:
        venue.watch(begun.thread)
    async with run_app(session.settings, [venue], audience=session.audience(venue)) as app:
        mirror = await app.store.debates.mirror_of(begun)
        caps = session.caps(app, 2 if mirror else 1)
        debate = await app.service.resume(begun.id, caps, changes)
        if mirror is None or has_ended(mirror) or has_ended(debate):
            async with _taking_up(app, debate.id):
                return await session.follow(app, venue, debate.id)
        await app.service.resume(mirror.id, caps)
        first, second = sorted((debate.id, mirror.id))
        async with _taking_up(app, first, second):
            return await session.follow_pair(app, venue, first, second)


@asynccontextmanager
async def _taking_up(app: App, *debates: str) -> AsyncIterator[None]:
    """Take debates up while the body runs: on a server, a dead process holds them for a while."""

    async def take_up() -> None:
        while True:
            await asyncio.sleep(TAKE_UP_SECONDS)
            with suppress(StoreError):  # that another task says
                await app.reconcile(*debates)

    taking = asyncio.create_task(take_up())
    try:
        yield
    finally:
        taking.cancel()


REMATCH_OPTIONS = frozenset({"votes", "show_of_hands", "out", "rematch", "swap", "seed", "usd"})
QUEUED_OPTIONS = frozenset({"debate_id", "replace_model", "usd"})  # of a debate held elsewhere


async def read_rematch(settings: Settings, given: Mapping[str, Any]) -> Order:
    """Return the order of a rematch of a debate in this terminal. Raises UsageError."""
    for name in given_beside(given, REMATCH_OPTIONS):
        raise UsageError(f"{spelled_option(name)} stays as it was in a rematch: leave it out.")
    found = await find_debate(settings, given["rematch"])
    if found.platform != PLATFORM:
        raise UsageError(f"Debate {found.code} was held on {found.platform}, not in a terminal.")
    mirror = found.mirror and await find_debate(settings, found.mirror)
    check_repeatable(found, mirror or None)
    again = Rematch(of=found, swapped=given["swap"])
    return order_of({"seed": given["seed"]}).model_copy(update={"rematch": again})


async def run_debate(given: Mapping[str, Any]) -> None:
    """Hold a debate, then export if requested; `given` are the options by name."""
    if given["rematch"] is not None:
        order = await read_rematch(load_settings(), given)
    elif given["swap"]:
        raise UsageError("--swap needs --rematch: name the debate to hold once more.")
    else:
        order = order_of(given)
    moves, ahead, sure = _moves(given), given["ahead"], given["sure"]
    for name, said in (("--stances", moves), ("--ahead", ahead), ("--sure", sure)):
        if said is not None and order.mirror:
            raise UsageError(f"{name} cannot be given for a debate and its mirror at once.")
    questions = tuple(map(read_question, given["ask"] or ()))
    order = with_people(order, moves, ahead, sure, questions)
    settings = load_settings()
    files, left_out = read_files(given["sources"] or (), settings.sources)
    print_lines(f"Left out: {why}" for why in left_out)
    order = order.model_copy(update={"sources": read_sources(files, settings.sources)})
    if given["votes"] is not None or ahead is not None:
        check_people(contenders_of(order, settings.options), given["votes"], ahead)
    await _hold(settings, given, order.confidence, lambda session: session.start(order))


async def run_resume(given: Mapping[str, Any]) -> None:
    """Hold what is left of a terminal's debate; queue another one for the process that runs it."""
    changes, settings = read_changes(given["replace_model"] or ()), load_settings()
    found = await find_debate(settings, given["debate_id"])
    if found.platform != PLATFORM:
        for name in given_beside(given, QUEUED_OPTIONS):
            raise UsageError(
                f"{spelled_option(name)} is for a terminal's debate, and {found.code} is held on "
                f"{found.platform}: leave it out."
            )
        from bot.operations.control import queue_debate  # only a terminal's debates go on here

        await queue_debate(settings, found.id, changes, given["usd"])
        return
    check_people(tuple(found.request.sides), given["votes"], given["ahead"])
    asked = found.request.confidence
    await _hold(settings, given, asked, lambda session: resume(session, found, changes))


async def _hold(
    settings: Settings,
    given: Mapping[str, Any],
    asked: ConfidenceScale | None,
    hold: Callable[[TerminalSession], Awaitable[Debate]],
) -> None:
    """Hold a debate in a session of the options that new and resumed debates have."""
    votes, out, sure = given["votes"], given["out"], given["sure"]
    questions = tuple(map(read_question, given["ask"] or ()))
    if sure is not None:
        from bot.local.keyboard import check_sure  # few debates are told

        check_sure(asked, sure)
    if out is not None:
        from engine.dataset.folder import check_writable  # no debate needs it

        check_writable(out)  # before anything is paid
    log.configure(quiet(settings).log, settings.secrets())
    with showing_debate() as console:

        def explain(started: Started) -> None:
            who = started.debate.setup.rehearsal
            note = f"Note: {REHEARSALS[who]}\n" if who else ""
            console.print(note + sentences.remarks(started), markup=False, end="")

        people = votes, _moves(given), given["ahead"], sure
        session = TerminalSession(settings, console, *people, explain)
        session.questions, session.say_why = questions or None, given["say_why"]
        session.show_of_hands, session.usd = given["show_of_hands"], given["usd"]
        held = await hold(session)
    if out is not None:
        from bot.record.exports import export_into  # half of what it needs, no debate does
        from engine.dataset.tables import ExportRequest
        from engine.store import ExportFilter

        ids = tuple(filter(None, (held.id, held.mirror)))
        counts = await export_into(settings, out, ExportRequest(ExportFilter(ids=ids)))
        print(sentences.EXPORTED.format(out=out, counts=counts))


def _moves(given: Mapping[str, Any]) -> tuple[tuple[str, str], ...] | None:
    return None if given["stances"] is None else parse_stances(given["stances"])


def read_files(
    given: Iterable[str], limits: SourceLimits
) -> tuple[tuple[SourceFile, ...], tuple[str, ...]]:
    """Return the files of sources, and those of folders in the order of their names.

    With them comes why others of a folder are left out: they are no text. Its hidden files are
    left out without a word. Raises UsageError, before anything too long is read.
    """
    files, left_out = list[SourceFile](), list[str]()
    try:
        for path in map(Path.expanduser, map(Path, given)):
            before = len(files)
            inside = [path]
            if path.is_dir():
                inside = sorted(one for one in path.iterdir() if not one.name.startswith("."))
            for one in inside:
                try:
                    if not one.is_file():
                        raise NotTextError(
                            f"{one} is not a file; give text or Markdown files, or a folder of "
                            "them."
                        )
                    check_files([(one.name, one.stat().st_size)], limits)
                    file = SourceFile(name=one.name, content=one.read_bytes())
                    read_sources([file], limits)
                    files.append(file)
                except NotTextError as error:
                    if one == path:
                        raise
                    left_out.append(str(error))
            if len(files) == before:
                raise UsageError(f"--sources is {path}, a folder without text or Markdown files.")
    except OSError as error:
        raise UsageError(f"--sources reads a file that cannot be read: {error}.") from None
    return tuple(files), tuple(left_out)


def read_changes(given: Iterable[str]) -> tuple[Replacement, ...]:
    """Parse `old=new` pairs. Raises UsageError."""
    changes = []
    for item in given:
        # Rehearsal models' options, and settings of others, have equals signs too.
        places = [one.start() for one in re.finditer("=(?=[^=@?,]+(/|$))", item)]
        if not places:
            raise UsageError(f"--replace-model is “{item}”; write it as old=new.")
        was, now = (read_model(part) for part in (item[: places[-1]], item[places[-1] + 1 :]))
        changes.append(Replacement(was=was, now=now))
    return tuple(changes)
