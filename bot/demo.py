"""`rostrum demo`: a whole debate offline, without any setup."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from adapters.models.discovery import find_local_servers
from adapters.storage.database import Database
from adapters.terminal.record import records_of
from adapters.terminal.votes import parse_stances, parse_sure
from bot import log, texts
from bot.audience import has_keyboard
from bot.console import showing_debate
from bot.debate import check_people, contenders_of, order_of, quiet, with_people
from bot.exporting import export_into
from bot.settings.settings import Settings
from bot.terminal import DEFAULT_STANCES, DEFAULT_VOTES, Session
from engine.dataset.folder import check_replaceable
from engine.dataset.writer import Wanted
from engine.formats import find_format
from engine.line.intake import Order
from engine.line.service import Started
from engine.prompts.languages import check_language
from engine.topics import built_in_topics

STANCE_SECONDS = 2.0  # no one has to wait for absent people

QUESTIONS = {
    "en": "What should a small team decide first when it takes up a new tool?",
    "de": "Was sollte ein kleines Team zuerst klären, wenn es ein neues Werkzeug einführt?",
    "es": "¿Qué debería decidir primero un equipo pequeño al adoptar una herramienta nueva?",
    "tr": "Küçük bir ekip yeni bir araca geçerken önce neye karar vermeli?",
    "zh": "小团队采用新工具时，首先应该决定什么？",
}


async def run_demo(given: Mapping[str, Any]) -> None:
    """Hold a debate of rehearsal models in the terminal, and export it; `given` are the options.

    Settings for real debates are ignored: the demo has a fresh database of its own beside the
    folder. Raises UsageError before anything starts.
    """
    out, votes, stances = given["out"], given["votes"], given["stances"]
    ahead, sure = given["ahead"], given["sure"]
    check_replaceable(out)
    order = _order(given)
    contenders = contenders_of(order, "classic")
    if votes is None and not has_keyboard():
        votes = DEFAULT_VOTES.format(*contenders)
    check_people(contenders, votes, ahead)
    if sure is not None:
        parse_sure(sure)
    if stances is None and find_format(order.format or "").stance and votes is not None:
        stances = DEFAULT_STANCES
    moves = None if stances is None else parse_stances(stances)
    order = with_people(order, moves, ahead, sure)
    database = await _make_database(out)
    address = SecretStr(f"sqlite+aiosqlite:///{database}")
    settings = Settings(database_url=address, stance_seconds=STANCE_SECONDS)
    log.configure(quiet(settings).log)
    by_page = order.pace is None and has_keyboard()
    intro = texts.demo_intro(_command(order), votes, stances, by_page=by_page)
    quoted = shlex.quote(address.get_secret_value())
    resume = f"ROSTRUM_DATABASE_URL={quoted} rostrum debate --resume"
    with showing_debate() as console:
        console.print(intro, markup=False, soft_wrap=True)

        def explain(started: Started) -> None:
            console.print(texts.remarks(started), markup=False, soft_wrap=True, end="")

        session = Session(settings, console, votes, moves, ahead, sure, explain, resume)
        session.say_why, session.by_page = given["say_why"], by_page
        await session.start(order)
        counts = await export_into(settings, out, Wanted())
        servers = await find_local_servers()
        console.print(texts.demo_outro(counts, out, servers), markup=False, soft_wrap=True)


def _order(given: Mapping[str, Any]) -> Order:
    """Parse the options, with a built-in topic by default. Raises UsageError."""
    order = order_of(given)
    language = check_language(order.language or "")
    known = built_in_topics()
    own = next((topic for topic in known if topic.speaks(language)), known[0])
    usual = own.text
    if find_format(order.format or "").question:
        usual = QUESTIONS.get(language.split("-")[0], QUESTIONS["en"])
    return order.model_copy(update={"topic": order.topic or usual})


def _command(order: Order) -> dict[str, str]:
    """Return the options of the same command in a chat."""
    named = {"topic": order.topic, "for": order.stance_a, "against": order.stance_b}
    named |= {"format": order.format, "language": order.language, "length": order.length}
    return {name: text for name, text in named.items() if text}


async def _make_database(out: Path) -> Path:
    """Return the path of a fresh database beside the folder. Raises StoreError if it is in use."""
    path = out.with_name(f"{out.name}.demo.db")
    await Database(f"sqlite+aiosqlite:///{path}").close()
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    shutil.rmtree(records_of(path), ignore_errors=True)
    return path
