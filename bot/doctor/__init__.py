"""`rostrum check`: checks your setup and says how to fix each problem."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from adapters import Finding
from adapters.database.database import SqlDatabase
from adapters.database.migrate import require_newest
from adapters.models.attempts import CallFault
from adapters.models.backends import Backend
from adapters.models.discovery import NoListError, find_local_servers, is_listed, probe
from adapters.models.moderation import HttpModerator
from adapters.wire import proxy_of
from bot.console import fitted, print_json
from bot.database import open_database, read_store
from bot.doctor.effects import check_effects
from bot.doctor.trial import check_debate
from bot.settings.load import examine_settings, find_secrets, load_store_settings
from bot.settings.settings import Settings
from engine.prompts import load_prompts
from engine.run.juror_fits import left_out_of
from engine.store import Store
from engine.store.installs import Install
from engine.store.purge import write_scratch
from engine.store.usage import Day
from engine.values.debate import REHEARSAL
from engine.values.errors import ModelError, RostrumError, SettingsError, StoreError, UsageError
from engine.values.ports import utc_now
from engine.values.text import clean
from engine.words.translation import plural

# `rostrum check` on the day of the whole installation: what is spent of it, and its cap.


OPEN = (
    "others can add this bot, and each server or workspace has a day's money of its own; set "
    "ROSTRUM_BUDGET__INSTALLATION_DAILY_USD to cap all of them together, or {allowing}"
)


async def check_day(settings: Settings) -> AsyncIterator[Finding]:
    """Say what all communities together have spent today, or that nothing caps it."""
    cap = settings.budget.installation_daily_usd
    if cap is not None:
        day = Day()
        with suppress(StoreError):  # none without a database
            async with read_store(settings) as store:
                day = await store.usage.day(utc_now())
        text = f"today {day.spent:.2f} USD spent and {day.reserved:.2f} reserved, of {cap:.2f} USD"
        yield Finding("budget", True if day.held < cap else None, text)
        return
    if settings.discord.token is not None and not settings.discord.guild_ids:
        allowing = "switch Public Bot off, or list your servers in ROSTRUM_DISCORD__GUILD_IDS"
        yield Finding("budget", None, OPEN.format(allowing=allowing))
    if settings.slack.client_id is not None and not settings.slack.allowed_teams:
        allowing = "list the workspaces in ROSTRUM_SLACK__ALLOWED_TEAMS"
        yield Finding("budget", None, OPEN.format(allowing=allowing))


# `rostrum check` on the database: integrity, a test write, free space.


FEWEST_BYTES = 100_000_000  # a few hundred debates
SCRATCH_BYTES = 1_000_000
MB = 1_000_000


def check_retention(settings: Settings) -> Finding:
    """Say what is deleted of debates that have ended, and when."""
    given = settings.retention
    kept = (("prompts and replies", given.prompts_days), ("debates", given.debates_days))
    said = [f"{what} are deleted after {days:g} days" for what, days in kept if days is not None]
    text = ", ".join(said) or "off; debates are kept until you delete them"
    return Finding("retention", True, text)


CHANGED = (
    "{juror} judges otherwise than before, so {number:,} older ballots of it count no longer; look "
    "whether its provider has put another model under its name, and see rostrum stats"
)


async def check_database(settings: Settings) -> AsyncIterator[Finding]:
    """Check that the database is intact and writable; the test write is undone."""
    try:
        database = open_database(settings, writable=False)
    except StoreError as error:
        yield Finding("database", False, str(error))
        return
    try:
        if database.dialect.exists():
            finding = await _check(database)
            yield finding
            if finding.good:
                fit = await Store(database).fits.newest(rehearsal=False)
                for juror, number in left_out_of(fit).items():
                    yield Finding("juror", None, CHANGED.format(juror=juror, number=number))
        else:
            yield Finding("database", None, f"{database.name} will be created when needed")
        if database.dialect.path is not None:
            yield _check_folder(database.dialect.path)
    finally:
        await database.close()


async def _check(database: SqlDatabase) -> Finding:
    try:
        await require_newest(database)
        if not await database.is_sound():
            raise database.damage()
        await write_scratch(database)
    except StoreError as error:
        return Finding("database", False, str(error))
    return Finding("database", True, f"{database.name} is ready")


def _check_folder(path: Path) -> Finding:
    """Write a nameless file to the database's folder, and check free space."""
    folder = next(place for place in path.absolute().parents if place.exists())
    try:
        with tempfile.TemporaryFile(dir=folder) as scratch:
            scratch.write(bytes(SCRATCH_BYTES))
            scratch.flush()
            os.fsync(scratch.fileno())
        free = shutil.disk_usage(folder).free
    except OSError as error:
        text = f"{folder} is not writable: {error.strerror}. Make it writable, or free space"
        return Finding("disk", False, text)
    if free < FEWEST_BYTES:
        text = f"only {free // MB} MB are free at {folder}; free at least {FEWEST_BYTES // MB} MB"
        return Finding("disk", False, text)
    return Finding("disk", True, f"{free // MB:,} MB are free")


MOST_LISTED = 8  # names that a backend lists, in one line
HARMLESS = "Tea beats coffee"
SCHEMA_VERSION = 1  # of the JSON
RESULTS = {True: "ok", False: "fail", None: "note"}
SETTINGS = "settings"
OF_SETTINGS = {SETTINGS, "templates", "models", "jurors", "jury"}  # findings that need no network


async def run_check(
    *, probing: bool = False, usd: float | None = None, as_json: bool = False
) -> None:
    """Print every finding, also what settings of models change if it is `probing` them.

    `usd` caps that. Raises RostrumError if a finding is bad, SettingsError for a wrong setting,
    UsageError for a cap on nothing.
    """
    if usd is not None and not probing:
        raise UsageError(
            "--usd caps what --probe pays; the rest of the check is free. Add --probe."
        )
    findings, effects = [], partial(check_effects, usd=usd)
    async for finding in _look(*([effects] if probing else [])):
        findings.append(finding)
        if not as_json:
            show(finding)
    bad = [finding for finding in findings if finding.good is False]
    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "ok": not any(finding.good is False for finding in findings),
                "findings": [
                    {
                        "subject": clean(one.subject),
                        "result": RESULTS[one.good],
                        "text": clean(one.text),
                    }
                    for one in findings
                ],
            }
        )
    if bad:
        kind = SettingsError if any(one.subject in OF_SETTINGS for one in bad) else RostrumError
        number = f"{len(bad)} {'check' if len(bad) == 1 else 'checks'}"
        raise kind(f"{number} failed; see above for the fix.")


def show(finding: Finding) -> None:
    """Print a finding: whole in a pipe, in lines that end between words on a terminal."""
    mark = {True: "ok  ", False: "FAIL", None: "note"}[finding.good]
    # Names of servers, workspaces and channels are untrusted text.
    text = clean(f"{finding.subject}: {finding.text}").replace("\n", " ")
    print(f"{mark}  {fitted(text, sys.stdout, len(mark) + 2)}", flush=True)


async def _look(
    *more: Callable[[Settings], AsyncIterator[Finding]],
) -> AsyncIterator[Finding]:
    settings, wrong = examine_settings()
    for sentence in wrong:
        yield Finding(SETTINGS, False, sentence)
    if settings is None or wrong:
        async for finding in _look_at_the_database_alone():
            yield finding
        return
    yield Finding(SETTINGS, True, "valid")
    for name, place in find_secrets():
        yield Finding("secret", True, f"{name} is from {place}")
    yield _check_templates(settings)
    yield check_retention(settings)
    of_models = (_check_backends, _check_moderation, check_roster, check_debate)
    for part in (check_database, *of_models, check_day, *more):
        async for finding in part(settings):
            yield finding
    for subject, part in (("discord", _check_discord), ("slack", _check_slack)):
        try:
            async for finding in part(settings):
                yield finding
        except SettingsError as error:
            yield Finding(subject, False, str(error))


async def _look_at_the_database_alone() -> AsyncIterator[Finding]:
    try:
        settings = load_store_settings()
    except SettingsError:
        return  # the check of settings has said so
    async for finding in check_database(settings):
        yield finding


def _check_templates(settings: Settings) -> Finding:
    try:
        prompts = load_prompts(settings.templates_dir)
    except RostrumError as error:
        return Finding("templates", False, str(error))
    return Finding("templates", True, f"{len(prompts.texts)} read, digest {prompts.digest[:12]}")


async def _check_backends(settings: Settings) -> AsyncIterator[Finding]:
    yield Finding(f"backend {REHEARSAL}", True, "built in; it is not a language model")
    for backend in settings.endpoints():
        yield await check_backend(settings, backend)
    for server in await find_local_servers():
        text = f"{server.name} answers at {server.base_url}; see docs/debates.md for using it"
        yield Finding("local server", None, text)


async def _check_moderation(settings: Settings) -> AsyncIterator[Finding]:
    """Try the moderation model, if one is set."""
    subject = "moderation"
    if not settings.moderation.model:
        return
    moderator = HttpModerator(**dict(settings.moderation))
    try:
        said = await moderator.ask([HARMLESS])
    finally:
        await moderator.aclose()
    if isinstance(said, CallFault):
        yield Finding(subject, False, f"{said.whole}; {said.advice}")
    elif said.flagged:
        yield Finding(subject, None, f"{said.model} flags even “{HARMLESS}”; choose another model")
    else:
        yield Finding(subject, True, f"{said.model} answers")


async def check_backend(settings: Settings, backend: Backend) -> Finding:
    """Check that a backend answers, and lists the models that are named."""
    subject, sides = f"backend {backend.name}", (settings.default_a, settings.default_b)
    try:
        listed = await probe(backend, secrets=tuple(settings.secrets()))
    except NoListError as error:
        return Finding(subject, None, f"{error} Its models could not be checked")
    except ModelError as error:
        return Finding(subject, False, str(error))
    named = [model for model in (*settings.models, *settings.jurors, *sides) if model]
    of_it = {model.name for model in named if model.backend == backend.name}
    if missing := sorted(name for name in of_it if not is_listed(name, listed)):
        known = ", ".join(sorted(listed)[:MOST_LISTED]) or "no model at all"
        more = f" and {len(listed) - MOST_LISTED} more" if len(listed) > MOST_LISTED else ""
        text = (
            f"does not list {', '.join(missing)}; it lists {known}{more}. Correct the name in "
            "ROSTRUM_MODELS, ROSTRUM_JURORS, ROSTRUM_DEFAULT_A or ROSTRUM_DEFAULT_B, or add it to "
            "the backend"
        )
        return Finding(subject, False, text)
    text = plural("answers, with {n} model", "answers, with {n} models", len(listed))
    return Finding(subject, True, text)


async def then_close(
    findings: AsyncIterator[Finding], close: Callable[[], Awaitable[None]]
) -> AsyncIterator[Finding]:
    """Yield findings, then close the connection that they came over."""
    try:
        async for finding in findings:
            yield finding
    finally:
        await close()


async def _check_discord(settings: Settings) -> AsyncIterator[Finding]:
    token = settings.discord.token
    if token is None:
        yield Finding("discord", None, "not set; ROSTRUM_DISCORD__TOKEN connects it")
        return
    # Imported only here: discord.py is slow, and most installations do not need it.
    from adapters.discord.checkup import check
    from adapters.discord.rest import DiscordRest
    from bot.serve.platforms import trial_of

    address = settings.discord.api_url
    rest = DiscordRest(token, address, proxy=proxy_of(address))
    findings = check(rest, settings.discord.guild_ids, trial_of(settings.discord))
    async for finding in then_close(findings, rest.close):
        yield finding


async def _check_slack(settings: Settings) -> AsyncIterator[Finding]:
    slack = settings.slack
    if slack.bot_token is None and slack.client_id is None:
        yield Finding("slack", None, "not set; ROSTRUM_SLACK__BOT_TOKEN connects it")
        return
    # Imported only here, like Discord's.
    from adapters.slack.checkup import check_app, check_bot, check_installs, check_managers
    from adapters.slack.rest import SlackRest
    from bot.serve.platforms import credentials_of

    rest = SlackRest(slack.bot_token, slack.api_url, proxy=proxy_of(slack.api_url))
    given = credentials_of(slack)
    try:
        installs: list[Install] = []
        if given is not None:
            with suppress(StoreError):  # none without a database
                async with read_store(settings) as store:
                    installs = await store.installs.every("slack")
        bots = check_bot(rest) if given is None else check_installs(rest, installs)
        async for finding in bots:
            yield finding
        for finding in check_managers(slack.managers, [one.community for one in installs]):
            yield finding
        async for finding in check_app(rest, slack.app_token, slack.signing_secret, given):
            yield finding
    finally:
        await rest.close()


async def check_roster(settings: Settings) -> AsyncIterator[Finding]:
    """Check the models and jurors that are named."""
    if not settings.models:
        yield Finding("models", False, "none is set; set ROSTRUM_MODELS=backend/model,…")
    else:
        yield Finding("models", True, ", ".join(model.ref for model in settings.models))
    if not settings.jurors:
        yield Finding("jurors", False, "none is set; set ROSTRUM_JURORS=backend/model,…")
        return
    yield Finding("jurors", True, ", ".join(juror.ref for juror in settings.jurors))
    families = {juror.family for juror in settings.jurors}
    if len(families - {model.family for model in settings.models}) < 2:
        text = (
            "fewer than two families judge without debating, so jurors may have to judge their "
            "own; add jurors of other families to ROSTRUM_JURORS"
        )
        yield Finding("jury", None, text)
    if len(settings.jurors) < 2:
        yield Finding("jury", False, "a verdict needs at least two jurors")
