"""`rostrum init`: the questions, what is tried with each answer, and what to do next."""

from __future__ import annotations

import asyncio
import io
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dotenv.parser import parse_stream
from pydantic import SecretStr

from adapters import FILE_MODE, Finding
from adapters.models.discovery import probe
from adapters.wire import proxy_of
from bot.console import ask, confirm, fitted, has_terminal
from bot.doctor import check_backend, check_roster, show, then_close
from bot.doctor.trial import check_debate
from bot.init.backends import KEEP, Backends, ask_backends, ask_models, ask_prices, propose
from bot.settings.load import (
    ENV_FILE,
    NAMES_FILE,
    examine_settings,
    path_of,
    preview_settings,
    read_env,
    secret_paths,
    shape_of,
    unread_lines,
)
from bot.settings.settings import DiscordSettings, Settings, SlackSettings
from bot.settings.values import PREFIX
from engine.values.errors import ModelError, RostrumError, SettingsError, UsageError
from engine.values.text import clean

# The file `.env`: what it becomes with new values, and how it is written.


_PLAIN = re.compile(r"[A-Za-z0-9_./:,@+=-]*")


def merge(text: str, values: Mapping[str, str], dropped: Collection[str] = ()) -> str:
    """Return the text with values by variable; every other line stays as it is.

    A variable that is there gets its value in its place, others follow at the end. Variables that
    begin like one of `dropped` and get no value are removed. Raises SettingsError for a line that
    is no assignment, as an open quotation mark would swallow the new ones.
    """
    if line := next(unread_lines(text), 0):
        raise SettingsError(
            f"Line {line} of .env is not NAME=value; correct it, and run rostrum init again."
        )
    left, lines = dict(values), []
    for binding in parse_stream(io.StringIO(text)):
        name = (binding.key or "").upper()
        if name in left:
            string = binding.original.string
            lines.append(
                f"{string[: len(string) - len(string.lstrip())]}{_assign(name, left.pop(name))}\n"
            )
        elif name not in values and not (name and name.startswith(tuple(dropped))):
            lines.append(binding.original.string)
    if lines and not lines[-1].endswith("\n"):
        lines.append("\n")
    return "".join([*lines, *(f"{_assign(*item)}\n" for item in left.items())])


def write_env(file: Path, text: str) -> None:
    """Replace the file at once, readable by its owner only. Raises SettingsError."""
    target = Path(os.path.realpath(file))
    draft = ""
    try:
        handle, draft = tempfile.mkstemp(prefix=".env-", dir=target.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            os.fchmod(handle, FILE_MODE)
            opened.write(text)
            opened.flush()
            os.fsync(handle)
        os.replace(draft, target)
    except OSError as error:
        if draft:
            Path(draft).unlink(missing_ok=True)
        raise SettingsError(
            f"{target} could not be written: {error.strerror}; nothing was changed."
        ) from None


def _assign(name: str, value: str) -> str:
    if _PLAIN.fullmatch(value):
        return f"{name}={value}"
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"{name}='{escaped}'"


DISCORD_TOKEN = "ROSTRUM_DISCORD__TOKEN"  # noqa: S105
SLACK_BOT, SLACK_APP = "ROSTRUM_SLACK__BOT_TOKEN", "ROSTRUM_SLACK__APP_TOKEN"
SUBJECTS = {DISCORD_TOKEN: "discord", SLACK_BOT: "slack", SLACK_APP: "slack app token"}
MODELS, JURORS, PRICES = "ROSTRUM_MODELS", "ROSTRUM_JURORS", "ROSTRUM_PRICES"
BACKENDS = "ROSTRUM_BACKENDS__"
SHOWN = 4  # characters of a secret
OF_MODELS = ("backends", "models", "jurors", "prices", "budget")

INTRODUCTION = (
    "Each answer is tried at once, and nothing is written before the end. Enter skips a question, "
    "Ctrl-C ends it all. Tokens and keys are not shown while you type or paste them."
)
ABOUT_DISCORD = (
    "\nDiscord. Make a bot at https://discord.com/developers/applications (New Application, Bot, "
    "Reset Token) and copy its token. It needs no privileged intent."
)
ABOUT_SLACK = (
    "\nSlack. Make an app at https://api.slack.com/apps from the manifest that "
    "rostrum invite --slack prints, and install it. The bot token is under OAuth & Permissions; "
    "make the app-level token with the scope connections:write under Basic Information."
)
STOPPED = "Stopped; nothing was written."
NOTHING = "Nothing to write. Without settings rostrum demo and rostrum debate work offline."
UNCHANGED = f"Nothing was changed: {ENV_FILE} stays as it is. rostrum check tries what it sets."
WROTE = "Wrote {names} to {file}, which only you can read."


@dataclass(slots=True)
class _EnvDraft:
    """What is going to be written: values by variable, and beginnings of variables to remove.

    `before` is what `.env` has of what is asked for. `failed`: something was found that keeps
    debates from starting.
    """

    values: dict[str, str] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    before: dict[str, str] = field(default_factory=dict)
    failed: bool = False

    def settings(self, *sections: str) -> Settings:
        """Return some sections of the settings as they will be. Raises SettingsError."""
        return preview_settings(self.values, sections)


async def run_init(*, from_env: bool = False, yes: bool = False) -> None:
    """Ask, or take what the environment has; then write `.env`, and say what is next.

    Raises RostrumError if nothing could be written.
    """
    if not from_env and not has_terminal():
        raise UsageError(
            "rostrum init asks questions, which needs a terminal. Without one, set variables such "
            "as ROSTRUM_DISCORD__TOKEN and run rostrum init --from-env."
        )
    if from_env and ENV_FILE.exists() and not yes and not has_terminal():
        raise UsageError(f"{ENV_FILE} exists. Nothing was done: add --yes to write into it.")
    try:
        draft = await (_read_environment() if from_env else _ask_all())
        if not draft.values:
            print(f"\n{UNCHANGED if draft.before else NOTHING}")
            return
        await _write(draft, yes=yes)
    except asyncio.CancelledError:
        print(f"\n{STOPPED}", file=sys.stderr)
        raise
    chats = 0
    if token := draft.values.get(DISCORD_TOKEN):
        from adapters.discord.errors import application_id_of, invite_link

        print(f"Add the bot to your server: {invite_link(application_id_of(token))}")
        chats += 1
    if SLACK_BOT in draft.values:
        print("In Slack, write /invite with the app's name into a channel.")
        chats += 1
    done = (
        "Then: rostrum check, and rostrum run."
        if chats
        else 'Then: rostrum check, and rostrum debate "Tabs or spaces".'
    )
    print("Then: correct what failed above, and rostrum check." if draft.failed else done)


async def _ask_all() -> _EnvDraft:
    print(fitted(INTRODUCTION, sys.stdout))
    text = read_env(ENV_FILE)
    merge(text, {})
    bindings = parse_stream(io.StringIO(text))
    asked = (DISCORD_TOKEN, SLACK_BOT, SLACK_APP, MODELS, JURORS, PRICES)
    before = {
        name: binding.value
        for binding in bindings
        if binding.value
        and ((name := (binding.key or "").upper()) in asked or name.startswith(BACKENDS))
    }
    if before:
        print(f"\n{ENV_FILE} has these, and Enter keeps them:")
    for name, value in before.items():
        print(f"  {name}={_shown(name, value)}")
    draft = _EnvDraft(before=before)
    print(fitted(ABOUT_DISCORD, sys.stdout))
    token = await _ask_until(draft, DISCORD_TOKEN, "Token of the Discord bot", _try_discord)
    draft.values |= {DISCORD_TOKEN: token} if token else {}
    await _ask_slack(draft)
    named = {path_of(name)[1:2] for name in draft.before if name.startswith(BACKENDS)}
    backends = await ask_backends(frozenset().union(*named))
    if backends:
        draft.values |= backends.values()
        draft.dropped |= {f"{BACKENDS}{name}__".upper() for name in backends.listed}
        await _choose_models(draft, backends, asking=True)
    return draft


def _shown(name: str, value: str) -> str:
    """Return a value as it may be shown."""
    path = path_of(name)
    if path not in secret_paths(shape_of(Settings), path):
        return clean(value)
    return f"…{value[-SHOWN:]}" if len(value) >= 4 * SHOWN else "…"


async def _choose_models(draft: _EnvDraft, backends: Backends, *, asking: bool) -> None:
    """Set debaters and jurors, and say what would keep them from a debate."""
    debaters, jurors = propose(backends.listed, backends.presets)
    for name, proposed in ((MODELS, debaters), (JURORS, jurors)):
        refs = ",".join(model.ref for model in proposed)
        chosen = await ask_models(name, refs, backends) if asking else refs
        draft.values |= {name: chosen} if chosen else {}
    if missing := [name for name in (MODELS, JURORS) if name not in draft.before | draft.values]:
        text = f"none is named, so no debate can begin: set {' and '.join(missing)}"
        show(Finding("models", False, text))
        draft.failed = True
        return
    try:
        if asking:
            draft.values |= await ask_prices(draft.settings(*OF_MODELS))
        settings = draft.settings(*OF_MODELS)
        for part in (check_roster, check_debate):
            draft.failed |= bool(await _show(part(settings)))
    except SettingsError as error:
        show(Finding("settings", False, str(error)))
        draft.failed = True


# --- platforms ---------------------------------------------------------------------------


async def _ask_slack(draft: _EnvDraft) -> None:
    print(fitted(ABOUT_SLACK, sys.stdout))
    bot = await _ask_until(draft, SLACK_BOT, "Bot token of Slack (xoxb-…)", _try_slack_bot)
    if not bot:
        return
    app = await _ask_until(draft, SLACK_APP, "App-level token (xapp-…)", _try_slack_app)
    app = app or draft.before.get(SLACK_APP, "")
    if app:
        draft.values |= {SLACK_BOT: bot, SLACK_APP: app}
    else:
        print(
            "Slack needs both tokens, so neither is written. docs/slack.md has HTTP mode and OAuth."
        )


async def _ask_until(
    draft: _EnvDraft, name: str, what: str, tried: Callable[[SecretStr], AsyncIterator[Finding]]
) -> str:
    """Ask for a token until one is good; other subjects are for `rostrum check`. Empty for none."""
    last, subject = "", SUBJECTS[name]
    if name in draft.before:
        what += f" (Enter keeps {_shown(name, draft.before[name])})"
    while True:
        said = await ask(
            f"{what} once more (Enter skips it; keep writes it as it is)" if last else what,
            hidden=True,
        )
        if not said or (last and said.lower() == KEEP):
            return last if said else ""
        if subject not in await _show(tried(SecretStr(said))):
            return said
        last = said


async def _show(findings: AsyncIterator[Finding]) -> set[str]:
    """Print findings; return the subjects of the bad ones."""
    bad = set()
    async for finding in findings:
        show(finding)
        if finding.good is False:
            bad.add(finding.subject)
    return bad


async def _try_discord(token: SecretStr) -> AsyncIterator[Finding]:
    # Imported only here, like Slack's: discord.py is slow, and not everyone needs it.
    from adapters.discord.checkup import check
    from adapters.discord.errors import application_id_of
    from adapters.discord.rest import DiscordRest

    try:
        application_id_of(token.get_secret_value())
    except SettingsError as error:
        yield Finding("discord", False, str(error))
        return
    address = _address("discord", DiscordSettings().api_url)
    rest = DiscordRest(token, address, proxy=proxy_of(address))
    async for finding in then_close(check(rest), rest.close):
        yield finding


async def _try_slack_bot(token: SecretStr) -> AsyncIterator[Finding]:
    from adapters.slack.checkup import check_bot
    from adapters.slack.rest import SlackRest

    address = _address("slack", SlackSettings().api_url)
    rest = SlackRest(token, address, proxy=proxy_of(address))
    async for finding in then_close(check_bot(rest), rest.close):
        yield finding


async def _try_slack_app(token: SecretStr) -> AsyncIterator[Finding]:
    from adapters.slack.checkup import check_app
    from adapters.slack.rest import SlackRest

    address = _address("slack", SlackSettings().api_url)
    rest = SlackRest(None, address, proxy=proxy_of(address))
    async for finding in then_close(check_app(rest, token, None), rest.close):
        yield finding


def _address(platform: str, usual: str) -> str:
    """Return the address of a platform's API, as far as it is set."""
    settings, _ = examine_settings(
        without=[name for name in Settings.model_fields if name != platform]
    )
    return getattr(settings, platform).api_url if settings else usual


# --- without questions --------------------------------------------------------------------


async def _read_environment() -> _EnvDraft:
    """Take every setting of the environment, if it is right. Raises RostrumError."""
    named = {name.upper(): value.strip() for name, value in os.environ.items()}
    draft = _EnvDraft(
        {name: value for name, value in named.items() if name.startswith(PREFIX) and value}
    )
    if not draft.values:
        raise UsageError(
            "--from-env writes the settings of the environment, and there are none; set for "
            "example ROSTRUM_DISCORD__TOKEN."
        )
    settings, wrong = examine_settings()
    if settings is None or wrong:
        raise SettingsError(wrong[0])
    findings = [await check_backend(settings, backend) for backend in settings.endpoints()]
    for finding in findings:
        show(finding)
    bad = {finding.subject for finding in findings if finding.good is False} | await _try_platforms(
        settings
    )
    if bad:
        raise RostrumError(f"Nothing was written: {', '.join(sorted(bad))} failed; see above.")
    if settings.backends and not settings.models:
        backends = Backends()
        for backend in settings.endpoints():
            try:
                backends.add(backend, await probe(backend))
            except ModelError as error:
                raise RostrumError(f"Nothing was written: {error}") from error
        await _choose_models(draft, backends, asking=False)
    elif settings.models:
        for part in (check_roster, check_debate):
            draft.failed |= bool(await _show(part(settings)))
    return draft


async def _try_platforms(settings: Settings) -> set[str]:
    slack, bad = settings.slack, set()
    if settings.discord.token:
        bad |= await _show(_try_discord(settings.discord.token)) & {"discord"}
    if slack.bot_token:
        bad |= await _show(_try_slack_bot(slack.bot_token)) & {"slack"}
    if slack.app_token:
        bad |= await _show(_try_slack_app(slack.app_token)) & {"slack app token"}
    return bad


# --- the end ------------------------------------------------------------------------------


async def _write(draft: _EnvDraft, *, yes: bool) -> None:
    """Write the file, after a question if it exists."""
    names = ", ".join(draft.values)
    text = read_env(ENV_FILE)
    if ENV_FILE.exists():
        print()
        await confirm(
            f"{ENV_FILE} exists. Its other lines stay; these are set in it: {names}.",
            yes,
        )
    write_env(ENV_FILE, merge(text, draft.values, draft.dropped))
    print(f"\n{fitted(WROTE.format(names=names, file=ENV_FILE), sys.stdout)}")
    for name in _overridden(draft.values):
        show(
            Finding(
                "settings",
                None,
                f"{name} is also set in the environment, which overrides .env; unset it there",
            )
        )
    for sentence in examine_settings()[1]:
        show(Finding("settings", False, sentence))
        draft.failed = True


def _overridden(values: Mapping[str, str]) -> Iterator[str]:
    """Yield the variables of the environment that have another value, or name a file of one."""
    environment = {name.upper(): value.strip() for name, value in os.environ.items()}
    for name, value in values.items():
        if environment.get(name, "") not in ("", value):
            yield name
        if environment.get(f"{name}{NAMES_FILE.upper()}"):
            yield f"{name}{NAMES_FILE.upper()}"
