"""`rostrum check`: looks at everything that has to work, and says what to do about the rest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from adapters.models.discovery import find_local_servers, probe
from adapters.storage.database import Database
from adapters.storage.migrate import require_newest
from bot.proxies import proxy_of
from bot.settings import Settings, load_settings
from engine.debate import REHEARSAL
from engine.errors import ModelError, RostrumError, SettingsError, StoreError
from engine.installs import Install
from engine.prompts.library import load_prompts
from engine.text import clean


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `good` None is a remark."""

    subject: str
    good: bool | None
    text: str


async def run_check() -> None:
    """Print every finding; raises RostrumError when one is bad."""
    settings = load_settings()
    bad = 0
    async for finding in _look(settings):
        mark = {True: "ok  ", False: "FAIL", None: "note"}[finding.good]
        # Servers, workspaces and channels are called what others please.
        line = clean(f"{finding.subject}: {finding.text}").replace("\n", " ")
        print(f"{mark}  {line}", flush=True)
        bad += finding.good is False
    if bad:
        raise RostrumError(f"{bad} of the checks above failed; each says what to do.")


async def _look(settings: Settings) -> AsyncIterator[Finding]:
    yield Finding("settings", True, "read, without contradictions")
    yield _check_templates(settings)
    yield await _check_database(settings)
    async for finding in _check_backends(settings):
        yield finding
    for finding in _check_roster(settings):
        yield finding
    async for finding in _check_discord(settings):
        yield finding
    async for finding in _check_slack(settings):
        yield finding


def _check_templates(settings: Settings) -> Finding:
    try:
        prompts = load_prompts(settings.templates_dir)
    except RostrumError as error:
        return Finding("templates", False, str(error))
    return Finding("templates", True, f"{len(prompts.texts)} read, digest {prompts.digest[:12]}")


async def _check_database(settings: Settings) -> Finding:
    try:
        database = Database(settings.database_url.get_secret_value(), writable=False)
    except StoreError as error:
        return Finding("database", False, str(error))
    try:
        if not database.path.exists():
            return Finding("database", None, f"{database.path} will be made when it is needed")
        await require_newest(database)
        return Finding("database", True, f"{database.path} is ready")
    except StoreError as error:
        return Finding("database", False, str(error))
    finally:
        await database.close()


async def _check_backends(settings: Settings) -> AsyncIterator[Finding]:
    yield Finding(f"backend {REHEARSAL}", True, "built in; it is not a language model")
    for backend in settings.endpoints():
        try:
            models = await probe(backend)
        except ModelError as error:
            yield Finding(f"backend {backend.name}", False, str(error))
            continue
        named = {m.name for m in (*settings.models, *settings.jurors) if m.backend == backend.name}
        missing = sorted(named - set(models)) if models else []
        if missing:
            text = f"does not list {', '.join(missing)}; correct ROSTRUM_MODELS or ROSTRUM_JURORS"
            yield Finding(f"backend {backend.name}", None, text)
        else:
            yield Finding(f"backend {backend.name}", True, f"answers, with {len(models)} models")
    for server in await find_local_servers():
        text = f"{server.name} answers at {server.base_url}; see the README for using it"
        yield Finding("local server", None, text)


async def _check_discord(settings: Settings) -> AsyncIterator[Finding]:
    token = settings.discord.token
    if token is None:
        yield Finding("discord", None, "not set; ROSTRUM_DISCORD__TOKEN connects it")
        return
    # Imported only here: discord.py takes a while, and most installations check without it.
    from adapters.discord.checkup import check
    from adapters.discord.rest import Rest

    try:
        proxy = proxy_of(settings.discord.api_url)
    except SettingsError as error:
        yield Finding("discord", False, str(error))
        return
    rest = Rest(token, settings.discord.api_url, proxy=proxy)
    try:
        async for checked in check(rest):
            yield Finding(checked.subject, checked.good, checked.text)
    finally:
        await rest.close()


async def _check_slack(settings: Settings) -> AsyncIterator[Finding]:
    slack = settings.slack
    if slack.bot_token is None and slack.client_id is None:
        yield Finding("slack", None, "not set; ROSTRUM_SLACK__BOT_TOKEN connects it")
        return
    # Imported only here, like Discord's.
    from adapters.slack.checkup import check_app, check_bot, check_installs
    from adapters.slack.rest import Rest
    from bot.platforms import credentials_of

    rest, given = Rest(slack.bot_token, slack.api_url), credentials_of(slack)
    try:
        bots = check_bot(rest) if given is None else check_installs(rest, await _installs(settings))
        async for checked in bots:
            yield Finding(checked.subject, checked.good, checked.text)
        async for checked in check_app(rest, slack.app_token, slack.signing_secret, given):
            yield Finding(checked.subject, checked.good, checked.text)
    except SettingsError as error:
        yield Finding("slack", False, str(error))
    finally:
        await rest.close()


async def _installs(settings: Settings) -> list[Install]:
    """Return the workspaces that installed Rostrum; none where there is no database yet."""
    from bot.reading import read_store

    try:
        async with read_store(settings) as store:
            return await store.installs.every("slack")
    except StoreError:
        return []


def _check_roster(settings: Settings) -> list[Finding]:
    if not settings.models:
        return [Finding("models", False, "none is set; set ROSTRUM_MODELS=backend/model,…")]
    families = {juror.family for juror in settings.jurors}
    debating = {model.family for model in settings.models}
    jurors = ", ".join(juror.ref for juror in settings.jurors)
    findings = [
        Finding("models", True, ", ".join(model.ref for model in settings.models)),
        Finding(
            "jurors", bool(jurors), jurors or "none is set; set ROSTRUM_JURORS=backend/model,…"
        ),
    ]
    if len(families - debating) < 2:
        text = (
            "fewer than two families judge that do not debate, so jurors may have to judge their "
            "own; add jurors of other families to ROSTRUM_JURORS"
        )
        findings.append(Finding("jury", None, text))
    if len(settings.jurors) < 2:
        findings.append(Finding("jury", False, "a verdict needs at least two jurors"))
    return findings
