"""The pages of labelling, joined: who may sign in, who manages, and what sessions rest on."""

from __future__ import annotations

import sys
from datetime import timedelta
from secrets import token_urlsafe

from aiohttp import web

from adapters.web.accounts import Accounts, DiscordAccounts, Registration, SlackAccounts
from adapters.web.labelling import COOKIE, LabelPages, Saw, noticing
from adapters.web.management import ENTER, HOURS, LINK, ManagerPages
from adapters.web.session import Sessions, Tries
from adapters.web.signing_in import SIGN_IN_SECONDS, SignIn
from bot.clock import SystemClock
from bot.reading import read_store
from bot.settings.load import load_settings
from bot.settings.sections import WebSettings
from bot.settings.settings import Settings
from engine.labelling.labelling import Labelling
from engine.store import Store
from engine.values.errors import SettingsError
from engine.values.ports import Clock

LINK_MINUTES = 10
SECRET = "web"  # noqa: S105 - the name of one
# They are stored beside the states of installations, which anyone gets by beginning one.
OF_MANAGERS = "manager/"


async def label_routes(store: Store, clock: Clock, settings: Settings) -> list[web.RouteDef]:
    """Return the pages of those who label and of those who manage it."""
    given = settings.web
    url, secret = given.url or "", await store.debates.secret(SECRET)
    secure, tries, accounts = url.startswith("https:"), Tries(), accounts_of(settings)
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
