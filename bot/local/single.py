"""`rostrum debate`: one debate in the terminal on configured backends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from adapters.terminal.votes import parse_stances, parse_sure
from bot import log, sentences
from bot.app import find_debate
from bot.console import print_lines, showing_debate
from bot.local.orders import (
    check_people,
    contenders_of,
    given_beside,
    order_of,
    quiet,
    refuse_for_resume,
    spelled_option,
    with_people,
)
from bot.local.session import PLATFORM, TerminalSession
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from engine.run.audience_questions import read_question
from engine.run.plan import Order, Rematch
from engine.run.rematch import check_repeatable
from engine.run.service import Started
from engine.values.debate import Model, Replacement
from engine.values.errors import NotTextError, UsageError
from engine.values.sources import (
    SourceFile,
    SourceLimits,
    check_files,
    read_sources,
)

REMATCH_OPTIONS = frozenset({"votes", "show_of_hands", "out", "rematch", "swap", "seed"})


async def _read_order(given: Mapping[str, Any]) -> Order:
    if given["rematch"] is not None:
        return await read_rematch(load_settings(), given)
    if given["swap"]:
        raise UsageError("--swap needs --rematch: name the debate to hold once more.")
    return order_of(given)


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
    """Hold or resume a debate, then export if requested; `given` are the options by name."""
    votes, stances, out, resume = (given[name] for name in ("votes", "stances", "out", "resume"))
    changes = read_changes(given["replace_model"] or ())
    if resume is not None:
        refuse_for_resume(given)
    elif changes:
        raise UsageError("--replace-model needs --resume: name the debate to resume.")
    order = await _read_order(given)
    moves = None if stances is None else parse_stances(stances)
    ahead, sure = given["ahead"], given["sure"]
    for name, said in (("--stances", moves), ("--ahead", ahead), ("--sure", sure)):
        if said is not None and order.mirror:
            raise UsageError(f"{name} cannot be given for a debate and its mirror at once.")
    questions = tuple(map(read_question, given["ask"] or ()))
    order = with_people(order, moves, ahead, sure, questions)
    settings = load_settings()
    limits = SourceLimits(**dict(settings.sources))
    files, left_out = read_files(given["sources"] or (), limits)
    print_lines(f"Left out: {why}" for why in left_out)
    order = order.model_copy(update={"sources": files})
    if votes is not None or ahead is not None:
        check_people(contenders_of(order, settings.default_format), votes, ahead)
    if sure is not None:
        parse_sure(sure)
    if out is not None:
        from engine.dataset.folder import check_writable  # no debate needs it

        check_writable(out)  # before anything is paid
    log.configure(quiet(settings).log, settings.secrets())
    with showing_debate() as console:

        def explain(started: Started) -> None:
            console.print(sentences.warnings(started), markup=False, end="")

        session = TerminalSession(settings, console, votes, moves, ahead, sure, explain)
        session.questions, session.say_why = questions or None, given["say_why"]
        session.show_of_hands = given["show_of_hands"]
        held = await (session.resume(resume, changes) if resume else session.start(order))
    if out is not None:
        from bot.record.exports import export_into  # half of what it needs, no debate does
        from engine.dataset.writer import ExportRequest
        from engine.store import ExportFilter

        ids = tuple(filter(None, (held.id, held.mirror)))
        counts = await export_into(settings, out, ExportRequest(ExportFilter(ids=ids)))
        print(sentences.EXPORTED.format(out=out, counts=counts))


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
            for one in _inside(path):
                try:
                    files.append(_read(one, limits))
                except NotTextError as error:
                    if one == path:
                        raise
                    left_out.append(str(error))
            if len(files) == before:
                raise UsageError(f"--sources is {path}, a folder without text or Markdown files.")
    except OSError as error:
        raise UsageError(f"--sources reads a file that cannot be read: {error}.") from None
    return tuple(files), tuple(left_out)


def _inside(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(one for one in path.iterdir() if not one.name.startswith("."))


def _read(path: Path, limits: SourceLimits) -> SourceFile:
    if not path.is_file():
        raise NotTextError(
            f"{path} is not a file; give text or Markdown files, or a folder of them."
        )
    check_files([(path.name, path.stat().st_size)], limits)
    file = SourceFile(name=path.name, content=path.read_bytes())
    read_sources([file], limits)
    return file


def read_changes(given: Iterable[str]) -> tuple[Replacement, ...]:
    """Parse `old=new` pairs. Raises UsageError."""
    changes = []
    for item in given:
        was, equals, now = item.rpartition("=")  # rehearsal models' options contain some
        if not equals:
            raise UsageError(f"--replace-model is “{item}”; write it as old=new.")
        changes.append(Replacement(was=Model.parse(was), now=Model.parse(now)))
    return tuple(changes)
