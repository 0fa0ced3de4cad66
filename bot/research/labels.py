"""`rostrum label`: labelling tasks, their links, what they have given; and their pages."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from math import inf
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from aiohttp import web
from pydantic import ValidationError

from adapters.web.accounts import Accounts, DiscordAccounts, Registration, SlackAccounts
from adapters.web.label_pages import COOKIE, LabelPages, Saw, noticing
from adapters.web.management import ENTER, HOURS, LINK, ManagerPages
from adapters.web.session import LoginThrottle, Sessions
from adapters.web.sign_in import SIGN_IN_SECONDS, SignIn
from bot import log, sentences
from bot.commands.choice import DebateChoice
from bot.console import print_json, print_lines
from bot.database import read_store
from bot.record.filters import check_series, split_list, where_of
from bot.record.tables import show_table
from bot.settings.load import load_settings, load_store_settings
from bot.settings.settings import PLATFORMS, Settings, WebSettings
from engine.labelling.report import MARKS, LabelReport, Rate
from engine.labelling.tasks import NOTHING, Labelling
from engine.prompts import check_language
from engine.store import Store, count_rehearsals
from engine.store.labels import Task, Terms
from engine.values.errors import SettingsError, UsageError
from engine.values.ports import Clock, SystemClock
from engine.values.text import headline
from engine.words.translation import plural

# `rostrum label`: labelling tasks, their links, and what they have given.


ALL, DISAGREEMENT = "all", "disagreement"
MOST_SHOWN = 60  # characters of what was given
LEFT_OUT = " Debates with rehearsal models are left out (--include-rehearsal adds them)."
AS_TYPED = ("name", "per_debate", "each", "repeats", "code", "hold_code", "pay", "parameter")
# How what a task asks for is written, where it was written otherwise.
WRITTEN = {
    "name": "small letters, digits and hyphens, 40 at most",
    "per_debate": "a whole number from 1 to 1,000",
    "each": "a whole number from 0 to 100,000",
    "repeats": "a share from 0 to 0.5",
    "code": "200 characters at most",
    "pay": "an amount in USD from 0 to 10,000, such as 0.25",
    "parameter": "letters, digits, dots, hyphens and underscores, 64 at most",
    "about": "20,000 characters at most",
}


@asynccontextmanager
async def _labelling() -> AsyncIterator[Labelling]:
    settings = load_store_settings()
    log.configure(settings.log, settings.secrets())
    async with read_store(settings) as store:
        yield Labelling(store, SystemClock())


async def create_task(chosen: DebateChoice, asked: Mapping[str, Any]) -> None:
    """Store a task, and print what it is of; `asked` are the options as typed.

    Raises UsageError.
    """
    terms = _terms(asked)
    async with _labelling() as labelling:
        await check_series(labelling.store, chosen.series)
        ids = await labelling.named(
            () if asked["debates"] in (ALL, DISAGREEMENT) else split_list(asked["debates"])
        )
        where = replace(where_of(chosen, revealed=True), ids=ids)
        known = await labelling.answers(asked["known"] or ())
        try:
            task = await labelling.create(terms, where, known)
        except UsageError as error:
            left_out = await asyncio.to_thread(count_rehearsals, labelling.store.archive, where)
            if error.text == NOTHING and left_out:
                raise UsageError(f"{NOTHING}{LEFT_OUT}") from None
            raise
    if asked["as_json"]:
        print_json(_plain(task))
    else:
        labels = plural("{n} label", "{n} labels", task.per_debate)
        print(
            plural(
                "Task {name}: {n} debate, {labels}. Next: rostrum label invite {name}",
                "Task {name}: {n} debates, {labels} each. Next: rostrum label invite {name}",
                task.debates,
                name=task.name,
                labels=labels,
            )
        )
        await _say_who_serves(load_settings(without=PLATFORMS))


def _terms(asked: Mapping[str, Any]) -> Terms:
    """Return what a task asks for. Raises UsageError naming what cannot be."""
    language = check_language(asked["page_language"]) if asked["page_language"] else ""
    for platform in asked["sign_in"] or ():
        if platform not in PLATFORMS:
            raise UsageError(f"--sign-in is “{platform}”; write discord or slack.")
    about: Path | None = asked["about"]
    try:
        return Terms(
            **{name: asked[name] for name in AS_TYPED},
            sign_in=tuple(asked["sign_in"] or ()),
            about=about.read_text("utf-8") if about else "",
            language=language,
            disagreement=asked["debates"] == DISAGREEMENT,
        )
    except ValidationError as error:
        first = error.errors()[0]
        asked_for = str(first["loc"][0])
        option = "The name" if asked_for == "name" else f"--{asked_for.replace('_', '-')}"
        given = headline(str(first["input"]), MOST_SHOWN)
        raise UsageError(f"{option} is “{given}”; write {WRITTEN[asked_for]}.") from None
    except OSError as error:
        raise UsageError(f"--about cannot read {about}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"--about cannot read {about}: save it as UTF-8 text.") from None


async def invite(name: str, links: int, people: int, days: float, *, as_json: bool) -> None:
    """Print links to a task."""
    settings = load_settings(without=PLATFORMS)
    url = str(settings.web.url or "").rstrip("/")
    async with _labelling() as labelling:
        task = await labelling.task(name)
        if task is not None and task.closed_at is not None:
            raise UsageError(
                f"Task {name} is closed, so links to it would lead nowhere; make another task."
            )
        tokens = await labelling.invite(name, links, people=people, days=days)
    found = [f"{url}/label/{name}?t={token}" for token in tokens]
    if as_json:
        print_json(found)
        return
    if not url:
        print(
            "ROSTRUM_WEB__URL is not set, so these are only the ends of the links; put the address "
            "of your pages before them."
        )
    print_lines(found)
    await _say_who_serves(settings)


async def _say_who_serves(settings: Settings) -> None:
    """Say so where nothing serves the pages of labels here."""
    host, port = settings.web.host, settings.web.port
    if port is None:
        print(sentences.NO_WEB, file=sys.stderr)
        return
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        print(f"Nothing serves pages at {host}:{port} yet; rostrum serve does.", file=sys.stderr)
    else:
        writer.close()


async def list_tasks(*, as_json: bool) -> None:
    """List the tasks, the newest first."""
    async with _labelling() as labelling:
        tasks = await labelling.tasks()
    if as_json:
        print_json([_plain(task) for task in tasks])
        return
    show_tasks(tasks)


def show_tasks(tasks: Sequence[Task]) -> None:
    """Print a table of tasks."""
    if not tasks:
        print("There is no labelling task; rostrum label create makes one.")
    rows = (
        (
            task.name,
            task.debates,
            task.per_debate,
            f"{task.created_at:%Y-%m-%d}",
            "closed" if task.closed_at else "open",
        )
        for task in tasks
    )
    show_table("", ("task", "debates", "labels each", "made", "state"), rows, complete=True)


def _plain(task: Task) -> dict[str, object]:
    return task.model_dump(mode="json", exclude={"seed"})


async def close_task(name: str) -> None:
    """Close a task. Raises NotFoundError."""
    async with _labelling() as labelling:
        task = await labelling.close(name)
    print(
        f"Task {task.name} is closed. Sheets that are out take answers for another hour. Its "
        "labels stay, and are in exports."
    )


async def exclude(name: str, annotator: str, *, undo: bool, as_json: bool) -> None:
    """Leave an annotator out of figures, or count them again, and print what changes.

    Raises NotFoundError.
    """
    async with _labelling() as labelling:
        before = await labelling.report(name)
        await labelling.exclude(name, annotator, excluded=not undo)
        after = await labelling.report(name)
    if as_json:
        changed = {"before": before.model_dump(mode="json"), "now": after.model_dump(mode="json")}
        print_json({"annotator": annotator, "excluded": not undo, **changed})
        return
    print(f"{annotator} {'counts again' if undo else 'is left out of figures, and of stats'}.")
    figures = zip(_figures(before), _figures(after), strict=True)
    rows = ((title, was, now) for (title, was), (_, now) in figures)
    show_table("", ("figure", "before", "now"), rows, complete=True)


def _figures(of: LabelReport) -> Iterator[tuple[str, str]]:
    """Yield what changes with who counts, with its name."""
    yield "labels", str(of.labels)
    yield "debates complete", f"{of.complete} of {of.debates}"
    yield "agreement of pairs", str(of.agreement)
    yield "α", str(of.alpha)
    yield "κ", str(of.kappa)
    yield "with the jury", str(of.jury)
    yield "with the chat", str(of.chat)


# --- the report --------------------------------------------------------------------------


async def report(name: str, pay: float | None, *, as_json: bool) -> None:
    """Print what a task has given. Raises NotFoundError."""
    if pay is not None and not 0 <= pay < inf:
        raise UsageError(f"--pay is {pay}; write what is paid for a label in USD, such as 0.25.")
    async with _labelling() as labelling:
        found = await labelling.report(name, pay=pay)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    show_report(found)


def show_report(found: LabelReport) -> None:
    """Print what a task has given: in all, by annotator, and the debates that are hard."""
    print_lines(_told(found))
    titles = ("annotator", "labels", "as others", "known", "again", "median s", "look at")
    rows = []
    for one in found.people:
        seconds = "–" if one.seconds is None else f"{one.seconds:.0f}"
        marks = ", ".join(MARKS[mark] for mark in one.marks)
        rates = map(_rate, (one.others, one.known, one.again))
        rows.append((one.name, one.labels, *rates, seconds, marks))
    show_table("", titles, rows, complete=True)
    columns, rows = ("hard debate", "labels", "alike", "jury", "chat", "topic"), []
    for hard in found.hard:
        counts = ", ".join(f"{option} {n}" for option, n in sorted(hard.labels.items()))
        judged = (hard.jury or "–", hard.chat or "–")
        rows.append((hard.code, counts, f"{hard.agreement:.0%}", *judged, hard.topic))
    show_table("", columns, rows, complete=True)


def _told(of: LabelReport) -> Iterable[str]:
    state = "open" if of.open else "closed"
    people = plural("{n} person has joined", "{n} people have joined", of.annotators)
    out = plural("{n} sheet is out", "{n} sheets are out", of.waiting)
    yield (
        f"{of.name} ({state}): {of.labels} of {of.wanted} labels, "
        f"{of.complete} of {of.debates} debates complete; {people}, {out}."
    )
    yield f"Gold {of.gold}, too fast {of.fast}. Shown first and chosen: {_rate(of.first)}."
    yield (
        f"Agreement of pairs {of.agreement}, α {of.alpha}, "
        f"κ {of.kappa}; with the jury {of.jury}, with the chat "
        f"{of.chat}."
    )
    yield f"Known answers {_rate(of.known)}, with themselves {_rate(of.again)}."
    cost = of.cost
    calls = "unknown" if cost.calls is None else f"{cost.calls:,.2f} USD"
    pay = "" if cost.pay is None else f", pay {cost.pay:,.2f} USD"
    each = "" if cost.per_label is None else f"; {cost.per_label:,.4f} USD per label"
    yield f"Cost: calls {calls}{pay}{each}."


def _rate(of: Rate) -> str:
    if of.value is None or of.low is None or of.high is None:
        return "–"
    return f"{of.right}/{of.n} ({of.value:.0%}, {of.low:.0%}–{of.high:.0%})"


# The pages of labelling, joined: who may sign in, who manages, and what sessions rest on.


LINK_MINUTES = 10
SECRET = "web"  # noqa: S105 - the name of one
# They are stored beside the states of installations, which anyone gets by beginning one.
OF_MANAGERS = "manager/"


async def label_routes(store: Store, clock: Clock, settings: Settings) -> list[web.RouteDef]:
    """Return the pages of those who label and of those who manage it."""
    given = settings.web
    url, secret = given.url or "", await store.debates.secret(SECRET)
    secure, tries, accounts = url.startswith("https:"), LoginThrottle(), accounts_of(settings)
    labelling = Labelling(store, clock)
    pages = LabelPages(
        labelling, Sessions(secret, secure=secure, kind=COOKIE), tries, accounts, url
    )

    async def redeem(token: str) -> bool:
        return await store.installs.redeem(f"{OF_MANAGERS}{token}", clock.now())

    # Managers make tasks of every community's debates: no reader of the database may be one.
    held = "\0".join(sorted(settings.secrets())).encode()
    managers = ManagerPages(
        labelling,
        Sessions(secret + held, secure=secure, kind="manager", lifetime=HOURS * 3600),
        tries,
        accounts,
        given.managers,
        redeem,
        url,
    )
    pending = Sessions(secret, secure=secure, kind="sign-in", lifetime=SIGN_IN_SECONDS)
    sign_in = SignIn(accounts, pending, tries, url, pages.sign_in, managers.sign_in)
    return [*sign_in.routes(), *pages.routes(), *managers.routes()]


async def noticing_of(store: Store, clock: Clock, settings: Settings) -> Saw:
    """Return what notes that public pages show a result to somebody who labels."""
    secure = (settings.web.url or "").startswith("https:")
    sessions = Sessions(await store.debates.secret(SECRET), secure=secure, kind=COOKIE)
    return noticing(Labelling(store, clock), sessions)


async def print_token(store: Store, clock: Clock) -> str:
    """Return the token of a link to the manager's page: once, within ten minutes."""
    token, now = token_urlsafe(32), clock.now()
    until = now + timedelta(minutes=LINK_MINUTES)
    await store.installs.begin(f"{OF_MANAGERS}{token}", now, until)
    return token


async def print_page() -> None:
    """Print a link to the manager's page."""
    settings = load_settings()
    if settings.web.url is None:
        raise SettingsError("There are no pages; set ROSTRUM_WEB__URL and ROSTRUM_WEB__PORT.")
    async with read_store(settings) as store:
        token = await print_token(store, SystemClock())
    print(f"{settings.web.url}{ENTER}?{LINK}={token}")
    print(f"It works once, for {LINK_MINUTES} minutes.", file=sys.stderr)


def accounts_of(settings: Settings) -> dict[str, Accounts]:
    """Return the platforms where people may sign in: those whose app has been named."""
    given, found = settings.web, dict[str, Accounts]()
    discord = _registration(given, "discord", settings.discord.api_url)
    slack = _registration(given, "slack", settings.slack.api_url, settings.slack.allowed_teams)
    if discord is not None:
        found["discord"] = DiscordAccounts(discord)
    if slack is not None:
        found["slack"] = SlackAccounts(slack)
    return found


def _registration(
    given: WebSettings, platform: str, api_url: str, teams: tuple[str, ...] = ()
) -> Registration | None:
    app, secret = (
        getattr(given, f"{platform}_client_id"),
        getattr(given, f"{platform}_client_secret"),
    )
    if app is None or secret is None:
        return None
    return Registration(client_id=app, client_secret=secret, api_url=api_url, teams=teams)
