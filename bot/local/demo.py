"""`rostrum demo`: a whole debate offline, without any setup."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from adapters.database.file import ADDRESS, BESIDE, lock
from adapters.models import LM_STUDIO, OLLAMA
from adapters.terminal.texts import parse_stances
from adapters.terminal.venue import records_of
from bot import log, sentences
from bot.app import find_debate
from bot.local.orders import (
    check_people,
    contenders_of,
    given_beside,
    has_keyboard,
    order_of,
    quiet,
    spelled_option,
    with_people,
)
from bot.local.session import DEFAULT_STANCES, DEFAULT_VOTES, TerminalSession, showing_debate
from bot.record.exports import export_into
from bot.settings.settings import Settings
from engine.dataset.folder import check_writable
from engine.dataset.tables import ExportRequest
from engine.formats import find_format
from engine.prompts import check_language
from engine.run.order import Order
from engine.run.service import Started
from engine.values.errors import UsageError
from engine.values.topics import built_in_topics

if TYPE_CHECKING:
    from adapters.models.discovery import LocalServer

KNOCK_SECONDS = 0.3
PLACE = "debate"  # the folder of the database, in that of the export
RESUME_OPTIONS = frozenset({"votes", "stances", "ahead", "sure", "say_why", "out", "resume"})
"""The options allowed with --resume; all others are fixed when a debate starts."""

QUESTIONS = {
    "en": "What should a small team decide first when it takes up a new tool?",
    "de": "Was sollte ein kleines Team zuerst klären, wenn es ein neues Werkzeug einführt?",
    "es": "¿Qué debería decidir primero un equipo pequeño al adoptar una herramienta nueva?",
    "tr": "Küçük bir ekip yeni bir araca geçerken önce neye karar vermeli?",
    "zh": "小团队采用新工具时，首先应该决定什么？",
}


async def run_demo(given: Mapping[str, Any]) -> None:
    """Hold or resume a debate of rehearsal models in the terminal, and export it.

    `given` are the options by name. Settings for real debates are ignored: the demo has a database
    of its own, in the folder of its export. Raises UsageError before anything starts.
    """
    out, code = given["out"], given["resume"]
    database = out.expanduser() / PLACE / "demo.db"
    settings = _settings_of(database)
    order = None if code is not None else _order(given)
    if order is not None:
        contenders, script = contenders_of(order, settings.options), order.format
    else:
        for name in given_beside(given, RESUME_OPTIONS):
            raise UsageError(
                f"{spelled_option(name)} cannot change when a debate is resumed: leave it out."
            )
        if not database.exists():
            raise UsageError(f"{out} has no demo to resume; start one with: rostrum demo.")
        begun = await find_debate(settings, code)
        contenders, script = tuple(begun.request.sides), begun.request.format
    votes = _votes_of(given, contenders)
    if given["sure"] is not None:
        from bot.local.keyboard import check_sure  # few debates are told

        check_sure((begun.request if order is None else order).confidence, given["sure"])
    stances = given["stances"]
    if stances is None and find_format(script or "").stance and votes is not None:
        stances = DEFAULT_STANCES
    moves = None if stances is None else parse_stances(stances)
    if order is not None:
        _delete(database)
        check_writable(out)
    log.configure(quiet(settings).log)
    with showing_debate() as console:
        session = TerminalSession(settings, console, votes, moves, given["ahead"], given["sure"])
        session.say_why, session.resume_command = given["say_why"], _resume_command(out)
        if order is None:
            from bot.local.single import resume  # most demos begin

            await resume(session, begun)
        else:
            session.by_page = order.pace is None and has_keyboard()
            await _start(session, order, stances, database)
        with _set_aside(database.parent) as aside:
            counts = await export_into(_settings_of(aside / database.name), out, ExportRequest())
        servers = await local_servers()
        activate = _unknown_script("activate")
        said = sentences.demo_outro(counts, out, out / PLACE, activate, servers)
        console.print(said, markup=False)


async def _start(
    session: TerminalSession, order: Order, stances: str | None, database: Path
) -> None:
    console = session.console
    named = {"topic": order.topic, "for": order.stance_a, "against": order.stance_b}
    named |= {"format": order.format, "language": order.language, "length": order.length}
    intro = sentences.demo_intro(
        {name: text for name, text in named.items() if text},
        session.votes,
        stances,
        by_page=session.by_page,
    )
    console.print(intro, markup=False)

    def explain(started: Started) -> None:
        console.print(sentences.remarks(started), markup=False, end="")

    session.on_start = explain
    try:
        await session.start(with_people(order, session.stances, session.ahead, session.sure))
    except UsageError:
        _delete(database)
        raise


def _votes_of(given: Mapping[str, Any], contenders: tuple[str, ...]) -> str | None:
    """Return the votes to cast, None for those by keys. Raises UsageError."""
    votes: str | None = given["votes"]
    if votes is None and not has_keyboard():
        votes = DEFAULT_VOTES.format(*contenders)
    check_people(contenders, votes, given["ahead"])
    return votes


def _order(given: Mapping[str, Any]) -> Order:
    """Parse the options, with a built-in topic by default. Raises UsageError."""
    usual = {"format": "classic", "language": "en"}
    order = order_of({**given, **{name: given[name] or text for name, text in usual.items()}})
    language = check_language(order.language or "")
    known = built_in_topics()
    own = next((topic for topic in known if topic.speaks(language)), known[0])
    topic = own.text
    if find_format(order.format or "").question:
        topic = QUESTIONS.get(language.split("-")[0], QUESTIONS["en"])
    return order.model_copy(update={"topic": order.topic or topic})


def _resume_command(out: Path) -> str:
    """Return the command that resumes the demo, but for the debate's code."""
    script = _unknown_script("rostrum")
    into = "" if out == Path("demo-export") else f" --out {shlex.quote(str(out))}"
    return f"{script or 'rostrum'} demo{into} --resume"


def _unknown_script(name: str) -> str:
    """Return this environment's script of a name, as a shell needs it that knows no `rostrum`.

    Empty if it knows `rostrum`, or if there is no such script.
    """
    script, here = Path(sys.prefix, "bin", name), Path.cwd()
    if shutil.which("rostrum") or not script.exists():
        return ""
    return shlex.quote(str(script.relative_to(here) if script.is_relative_to(here) else script))


def _settings_of(database: Path) -> Settings:
    address = SecretStr(f"{ADDRESS}{database}")
    return Settings(database_url=address)


async def local_servers() -> list[LocalServer]:
    """Find model servers on this machine; what asks them is imported once a usual port is open."""
    if not any(await asyncio.gather(*map(_listens, (OLLAMA, LM_STUDIO)))):
        return []
    from adapters.models.discovery import find_local_servers  # and with it aiohttp

    return await find_local_servers()


async def _listens(address: str) -> bool:
    there = urlsplit(address)
    with suppress(OSError):
        async with asyncio.timeout(KNOCK_SECONDS):
            _, writer = await asyncio.open_connection(there.hostname, there.port)
        writer.close()
        return True
    return False


@contextmanager
def _set_aside(place: Path) -> Iterator[Path]:
    """Move a folder out of the one that an export replaces, and back after the body."""
    with TemporaryDirectory(prefix="rostrum-demo-") as temporary:
        aside = Path(shutil.move(place, temporary))
        try:
            yield aside
        finally:
            shutil.move(aside, place)


def _delete(database: Path) -> None:
    """Delete a demo's database and what belongs to it. Raises StoreError if it is in use."""
    if not database.exists():
        return
    lock(database).close()
    for ending in ("", *BESIDE):
        database.with_name(database.name + ending).unlink(missing_ok=True)
    shutil.rmtree(records_of(database), ignore_errors=True)
    with suppress(OSError):  # another file is there
        database.parent.rmdir()
        database.parent.parent.rmdir()
