"""`rostrum debate`: one debate in the terminal on configured backends."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from adapters.terminal.votes import Move, parse_rounds, parse_stances, parse_sure, parse_votes
from bot import log, texts
from bot.app import find_debate
from bot.console import showing_debate
from bot.settings.settings import Settings, load_settings
from bot.terminal import COMMUNITY, PLATFORM, Session
from bot.writing import HOST
from engine.formats import find_format
from engine.formats.format import read_own
from engine.line.asking import read_question
from engine.line.intake import ME, ONLY_ONE, Invited, Order, Rematch
from engine.line.rematch import check_repeatable
from engine.line.service import Started
from engine.tally.questions import round_options, vote_options
from engine.values.debate import Model, Replacement
from engine.values.errors import UsageError
from engine.values.options import STANCES, Options, read_options
from engine.values.sources import SourceFile, SourceLimits, check_files
from engine.values.text import headline

QUOTES = ('""', "''", "“”", "„“", "«»")
LONGEST_TURN = 1440.0  # minutes, as no one waits for the person at a terminal
_SEED = re.compile(r"[+-]?[0-9]{1,100}")
ASKING_MINUTES = 1.0  # at most, with --ask alone
RESUME_OPTIONS = frozenset(
    {"votes", "stances", "ahead", "sure", "ask", "say_why", "show_of_hands"}
    | {"out", "resume", "replace_model"}
)
"""The options allowed with --resume; all others are fixed when a debate starts."""
REMATCH_OPTIONS = frozenset({"votes", "show_of_hands", "out", "rematch", "swap", "seed"})


def order_of(given: Mapping[str, Any]) -> Order:
    """Parse the command's options. Raises UsageError naming the invalid one."""
    said = {name: given[name] for name in Options.model_fields if given.get(name) is not None}
    sides = {"A": given.get("a"), "B": given.get("b"), **_pairs("seat", given)}
    guest = _person_among(sides)
    if guest is not None:
        _check_writable()
        del sides[guest.side]
        said.setdefault("turn_minutes", LONGEST_TURN)
    return Order(
        platform=PLATFORM,
        community=COMMUNITY,
        place="",
        user=HOST,
        guest=guest,
        models={side: Model.parse(text) for side, text in sides.items() if text},
        jurors=_roster(given.get("jurors")),
        judges=_roster(given.get("judges")),
        seed=_seed(given.get("seed")),
        **read_options(said, _spell).given() | {"options": _own_options(given)},
    )


def _seed(text: str | None) -> int | None:
    """Read a seed, which may have a minus and more digits than any other number."""
    if text is not None and not _SEED.fullmatch(text.strip()):
        raise UsageError(f"--seed is “{headline(text, 40)}”; write a whole number.")
    return None if text is None else int(text)


def _person_among(sides: Mapping[str, str | None]) -> Invited | None:
    """Return the side that the person at this terminal argues. Raises UsageError for two."""
    own = [side for side, text in sides.items() if (text or "").strip().casefold() == ME]
    if len(own) > 1:
        raise UsageError(ONLY_ONE)
    return Invited(side=own[0], user=HOST) if own else None


def _check_writable() -> None:
    """Refuse a person as a side where no turns can be read. Raises UsageError."""
    try:
        kind = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        raise UsageError(texts.NO_WRITER) from None
    if not (sys.stdin.isatty() or stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
        raise UsageError(texts.NO_WRITER)


def refuse_for_resume(given: Mapping[str, Any]) -> None:
    """Refuse options that are fixed at the start. Raises UsageError naming the first."""
    for name in _given_beside(given, RESUME_OPTIONS):
        raise UsageError(f"{_spell(name)} cannot change when a debate is resumed: leave it out.")


def _given_beside(given: Mapping[str, Any], known: frozenset[str]) -> Iterator[str]:
    for name, value in given.items():
        unset = value is None or value is False or value in ([], ())
        if not unset and name not in known:
            yield name


async def _read_order(given: Mapping[str, Any]) -> Order:
    if given["rematch"] is not None:
        return await read_rematch(load_settings(), given)
    if given["swap"]:
        raise UsageError("--swap needs --rematch: name the debate to hold once more.")
    return order_of(given)


async def read_rematch(settings: Settings, given: Mapping[str, Any]) -> Order:
    """Return the order of a rematch of a debate in this terminal. Raises UsageError."""
    for name in _given_beside(given, REMATCH_OPTIONS):
        raise UsageError(f"{_spell(name)} stays as it was in a rematch: leave it out.")
    found = await find_debate(settings, given["rematch"])
    if found.platform != PLATFORM:
        raise UsageError(f"Debate {found.code} was held on {found.platform}, not in a terminal.")
    mirror = found.mirror and await find_debate(settings, found.mirror)
    check_repeatable(found, mirror or None)
    again = Rematch(of=found, swapped=given["swap"])
    return order_of({"seed": given["seed"]}).model_copy(update={"rematch": again})


def _spell(name: str) -> str:
    spelled = {name: f"--{said}" for said, name in STANCES.items()} | {"topic": "The topic"}
    return spelled.get(name, f"--{name.replace('_', '-')}")


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
    files = read_files(given["sources"] or (), SourceLimits(**dict(settings.sources)))
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
            console.print(texts.warnings(started), markup=False, end="")

        session = Session(settings, console, votes, moves, ahead, sure, explain)
        session.questions, session.say_why = questions or None, given["say_why"]
        session.show_of_hands = given["show_of_hands"]
        held = await (session.resume(resume, changes) if resume else session.start(order))
    if out is not None:
        from bot.exporting import export_into  # half of what it needs, no debate does
        from engine.dataset.writer import Wanted
        from engine.store import ExportFilter

        ids = tuple(filter(None, (held.id, held.mirror)))
        counts = await export_into(settings, out, Wanted(ExportFilter(ids=ids)))
        print(texts.EXPORTED.format(out=out, counts=counts))


def read_files(given: Iterable[str], limits: SourceLimits) -> tuple[SourceFile, ...]:
    """Read the files of sources, and those of folders in the order of their names.

    Hidden files of a folder are left out. Raises UsageError, before anything too long is read.
    """
    paths = [path for item in given for path in _files_of(Path(item).expanduser())]
    try:
        check_files([(path.name, path.stat().st_size) for path in paths], limits)
        return tuple(SourceFile(name=path.name, content=path.read_bytes()) for path in paths)
    except OSError as error:
        raise UsageError(f"--sources reads a file that cannot be read: {error}.") from None


def _files_of(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UsageError(f"--sources is {path}, which is neither a file nor a folder.")
    inside = sorted(one for one in path.iterdir() if not one.name.startswith("."))
    if odd := next((one for one in inside if not one.is_file()), None):
        raise UsageError(
            f"--sources is {path}, which holds {odd.name}: give files, or a folder of files."
        )
    if not inside:
        raise UsageError(f"--sources is {path}, a folder without files.")
    return inside


def with_people(
    order: Order,
    moves: Sequence[Move] | None,
    ahead: str | None,
    sure: str | None,
    questions: Sequence[str] = (),
) -> Order:
    """Return the order of a debate that asks what people's answers were given for."""
    update: dict[str, object] = {"stance": moves is not None or None}
    update |= {"round_votes": True} if ahead else {}
    update |= {"questions": ASKING_MINUTES} if questions and order.questions is None else {}
    return order.model_copy(update=update | ({"confidence": True} if sure else {}))


def check_people(contenders: tuple[str, ...], votes: str | None, ahead: str | None) -> None:
    """Refuse votes for anything that is not on the ballot. Raises UsageError."""
    if votes is not None:
        parse_votes(votes, vote_options(contenders))
    if ahead is not None:
        parse_rounds(ahead, round_options(contenders))


def read_changes(given: Iterable[str]) -> tuple[Replacement, ...]:
    """Parse `old=new` pairs. Raises UsageError."""
    changes = []
    for item in given:
        was, equals, now = item.rpartition("=")  # rehearsal models' options contain some
        if not equals:
            raise UsageError(f"--replace-model is “{item}”; write it as old=new.")
        changes.append(Replacement(was=Model.parse(was), now=Model.parse(now)))
    return tuple(changes)


def quiet(settings: Settings) -> Settings:
    """Log only errors beside a debate on the screen, unless a level was set.

    The thread and the command's last line already say what a warning would.
    """
    if "level" in settings.log.model_fields_set:
        return settings
    shown = settings.log.model_copy(update={"level": "error"})
    return settings.model_copy(update={"log": shown})


def contenders_of(order: Order, default_format: str) -> tuple[str, ...]:
    """Return the contenders of an order's debate. Raises UsageError."""
    if order.rematch is not None:
        return tuple(order.rematch.of.request.sides)
    script = find_format(order.format or default_format)
    options = read_own(script.name, script.options, order.options)
    return script.roles(options.model_dump()).contenders


def _own_options(given: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Read the options of the format; `name=@FILE` takes a list from a file, one entry a line."""
    return {name: _from_file(value) for name, value in _pairs("option", given).items()}


def _from_file(value: str) -> JsonValue:
    if not value.startswith("@"):
        return value
    path = value[1:]
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"--option cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"--option cannot read {path}: save it as UTF-8 text.") from None
    lines = (line.strip() for line in text.splitlines())
    entries = [_unquote(line) for line in lines if line and not line.startswith("#")]
    if not entries:
        raise UsageError(f"--option finds nothing in {path}: write one entry a line.")
    return [*entries]


def _unquote(line: str) -> str:
    """Return a line without quotation marks around the whole of it."""
    quoted = len(line) > 2 and line[0] + line[-1] in QUOTES and line[0] not in line[1:-1]
    return line[1:-1].strip() if quoted else line


def _pairs(name: str, given: Mapping[str, Any]) -> dict[str, str]:
    pairs = {}
    for item in given.get(name) or ():
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"{_spell(name)} is “{item}”; write it as name=value.")
        pairs[key.strip()] = value.strip()
    return pairs


def _roster(text: str | None) -> tuple[Model, ...]:
    names = [name for name in (text or "").split(",") if name.strip()]
    return tuple(Model.parse(name) for name in names)
