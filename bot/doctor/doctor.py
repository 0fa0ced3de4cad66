"""`rostrum check`: checks your setup and says how to fix each problem."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from adapters.finding import Finding
from adapters.models.backends import Backend
from adapters.models.discovery import NoListError, find_local_servers, is_listed, probe
from adapters.models.moderation import HttpModerator
from adapters.models.outcomes import CallFault
from adapters.proxies import proxy_of
from bot.console import print_json
from bot.doctor.budget import check_day
from bot.doctor.database import check_database, check_retention
from bot.doctor.debate import check_debate
from bot.settings.load import examine_settings, find_secrets, load_store_settings
from bot.settings.settings import Settings
from engine.prompts.library import load_prompts
from engine.store.installs import Install
from engine.values.debate import REHEARSAL
from engine.values.errors import ModelError, RostrumError, SettingsError, StoreError
from engine.values.text import clean

MOST_LISTED = 8  # names that a backend lists, in one line
HARMLESS = "Tea beats coffee"
SCHEMA_VERSION = 1  # of the JSON
RESULTS = {True: "ok", False: "fail", None: "note"}
SETTINGS = "settings"
OF_SETTINGS = {SETTINGS, "templates", "models", "jurors", "jury"}  # findings that need no network


async def run_check(*, as_json: bool = False) -> None:
    """Print every finding; raises RostrumError if one is bad, SettingsError for a wrong setting."""
    findings = []
    async for finding in _look():
        findings.append(finding)
        if not as_json:
            show(finding)
    bad = [finding for finding in findings if finding.good is False]
    if as_json:
        print_json(_to_json(findings))
    if bad:
        kind = SettingsError if any(one.subject in OF_SETTINGS for one in bad) else RostrumError
        number = f"{len(bad)} {'check' if len(bad) == 1 else 'checks'}"
        raise kind(f"{number} failed; see above for the fix.")


def _to_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the document that docs/operations.md describes."""
    return {
        "schema_version": SCHEMA_VERSION,
        "ok": not any(finding.good is False for finding in findings),
        "findings": [
            {"subject": clean(one.subject), "result": RESULTS[one.good], "text": clean(one.text)}
            for one in findings
        ],
    }


def show(finding: Finding) -> None:
    """Print a finding in one line."""
    mark = {True: "ok  ", False: "FAIL", None: "note"}[finding.good]
    # Names of servers, workspaces and channels are untrusted text.
    line = clean(f"{finding.subject}: {finding.text}").replace("\n", " ")
    print(f"{mark}  {line}", flush=True)


async def _look() -> AsyncIterator[Finding]:
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
    for part in (check_database, *of_models, check_day):
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
        text = f"{server.name} answers at {server.base_url}; see the README for using it"
        yield Finding("local server", None, text)


async def _check_moderation(settings: Settings) -> AsyncIterator[Finding]:
    """Try the moderation model, if one is set."""
    endpoint, subject = settings.moderation.endpoint(), "moderation"
    if endpoint is None:
        return
    moderator = HttpModerator(endpoint)
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
    return Finding(subject, True, f"answers, with {len(listed)} models")


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
    from adapters.discord.rest import Rest
    from bot.platforms import trial_of

    address = settings.discord.api_url
    rest = Rest(token, address, proxy=proxy_of(address))
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
    from adapters.slack.rest import Rest
    from bot.platforms import credentials_of

    rest = Rest(slack.bot_token, slack.api_url, proxy=proxy_of(slack.api_url))
    given = credentials_of(slack)
    try:
        installs = [] if given is None else await _installs(settings)
        bots = check_bot(rest) if given is None else check_installs(rest, installs)
        async for finding in bots:
            yield finding
        for finding in check_managers(slack.managers, [one.community for one in installs]):
            yield finding
        async for finding in check_app(rest, slack.app_token, slack.signing_secret, given):
            yield finding
    finally:
        await rest.close()


async def _installs(settings: Settings) -> list[Install]:
    """Return the workspaces that installed Rostrum; none without a database."""
    from bot.reading import read_store

    try:
        async with read_store(settings) as store:
            return await store.installs.every("slack")
    except StoreError:
        return []


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
