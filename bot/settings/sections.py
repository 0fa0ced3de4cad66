"""The sections of the settings, and the parsing of single values.

A validator's message completes a sentence that begins with the variable's name; it never contains
a value that could be a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationInfo

from adapters.models import OPENAI
from engine.jury.rubric import RUBRICS, Rubric, find_rubric
from engine.prompts.library import check_language
from engine.values.debate import RETRIEVAL, Model, PanelMode, Price, Retrieval, Sampling, Value
from engine.values.errors import UsageError
from engine.values.limits import MOST, Caps
from engine.values.options import Folded, fold, split_models

if TYPE_CHECKING:
    from adapters.models.backends import SearchEndpoint

PREFIX = "ROSTRUM_"
NamePath: TypeAlias = tuple[str, ...]


class Wrong(NamedTuple):
    """An invalid setting: its path, and the message."""

    path: NamePath
    sentence: str


def variable(path: Iterable[str]) -> str:
    """Return the variable of a path."""
    return PREFIX + "__".join(path).upper()


_USER = re.compile(r"(\w+/)?\w+")
_WEB = re.compile(r"https?://[^/\s]+(/\S*)?")
SHORTEST_KEY = 16
_SQLITE, _POSTGRES = "sqlite+aiosqlite:///", "postgresql://"
_SERVERS = (_POSTGRES, "postgres://", "postgresql+psycopg://")


# --- single values ---------------------------------------------------------------------


def _cap(value: Any) -> Any:
    return None if fold(value) in ("off", "none") or value is False else value


def _caps(value: Any) -> Any:
    return {name: _cap(one) for name, one in value.items()} if isinstance(value, dict) else value


def _items(value: Any) -> Any:
    if isinstance(value, str):
        return [item.strip() for item in value.split(",") if item.strip()]
    return [value] if isinstance(value, int) else value


def _users(value: tuple[str, ...]) -> tuple[str, ...]:
    for who in value:
        if not _USER.fullmatch(who):
            raise ValueError(f"names “{who}”; write USER or TEAM/USER, with Slack's ids")
    return value


def _keys(value: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
    if any(len(key.get_secret_value()) < SHORTEST_KEY for key in value):
        raise ValueError(
            f"has a key of fewer than {SHORTEST_KEY} characters; make one with openssl rand -hex 32"
        )
    return value


def _address(value: str) -> str:
    if not _WEB.fullmatch(value):
        raise ValueError("must be an http or https address")
    return value.rstrip("/")


def _language(value: str) -> str:
    try:
        return check_language(value)
    except UsageError:
        raise ValueError("must be a BCP-47 code such as en, tr or zh-Hans") from None


def _database(value: SecretStr) -> SecretStr:
    url = value.get_secret_value()
    if url in (_SQLITE, *_SERVERS):
        raise ValueError(f"must go on after {url} with a file or a server")
    if url.startswith((_SQLITE, *_SERVERS)):
        return value
    for scheme, full in (("sqlite:", _SQLITE), ("postgres", _POSTGRES)):
        if url.startswith(scheme):
            raise ValueError(f"must name its driver: write {full}… instead")
    raise ValueError(f"must begin with {_SQLITE} or {_POSTGRES}")


def _format(value: str) -> str:
    # Imported only here: formats load much, and few use this setting.
    from engine.formats import FORMATS

    if value not in FORMATS:
        raise ValueError(f"is “{value}”; it must be one of {', '.join(FORMATS)}")
    return value


def _rubric(value: Any) -> Any:
    """Find a rubric by name, or read the TOML file of one."""
    if not isinstance(value, str):
        return value
    if not value.endswith(".toml"):
        try:
            return find_rubric(value.strip().lower())
        except UsageError:
            known = ", ".join(RUBRICS)
            raise ValueError(f"must be one of {known}, or a file that ends in .toml") from None
    file = Path(value)
    try:
        from engine.jury.rubric_file import read_rubric  # few have one of their own

        return read_rubric(file.read_text(encoding="utf-8-sig"), file.stem)
    except OSError as error:
        raise ValueError(f"names {file}, which cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"names {file}, which is not UTF-8 text; save it as UTF-8") from None
    except ValueError as error:
        raise ValueError(f"names {file}, {error}") from None


def _model(value: Any, info: ValidationInfo) -> Model:
    """Read a model, or the name of one of the variants that were read before."""
    if isinstance(value, Model):
        return value
    known = info.data.get("variants") or {}
    text = str(value).strip()
    if "/" not in text and text not in known:
        near = f" or a variant: {', '.join(known)}" if known else ""
        raise ValueError(
            f"names “{value}”, which is not backend/model{near}; write for example rehearsal/maple"
        )
    try:
        if "@" not in text and text not in known:
            return Model.parse(text)
        from engine.values.configuration import parse_model  # which few models need

        return parse_model(text, known)
    except UsageError as error:
        raise ValueError(f"names “{value}”: {error}") from None


def _roster(value: Any, info: ValidationInfo) -> Any:
    items = list(filter(None, split_models(value))) if isinstance(value, str) else _items(value)
    if not isinstance(items, list | tuple):
        raise ValueError("must be a comma-separated list of backend/model")
    models = [_model(item, info) for item in items]
    refs = [model.ref for model in models]
    twice = next((ref for ref in refs if refs.count(ref) > 1), None)
    if twice:
        raise ValueError(f"names {twice} twice; name each model once")
    return tuple(models)


def _price(value: Any) -> Any:
    if isinstance(value, list) and len(value) == 2:
        return Price(usd_in=value[0], usd_out=value[1])
    if isinstance(value, dict) and {"in", "out"} <= value.keys() <= {
        "in",
        "out",
        "cached",
        "written",
    }:
        return Price(**{f"usd_{what}": usd for what, usd in value.items()})
    return value


def json_object(value: object) -> dict[str, Any]:
    """Return a dict unchanged, or parse it from JSON text. Raises ValueError."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"is not valid JSON at line {error.lineno}, column {error.colno}; "
                'it must be a JSON object such as {"name": …}'
            ) from None
        except RecursionError:
            raise ValueError("is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError('must be a JSON object such as {"name": …}')
    return value


def _variants(value: Any) -> dict[str, Model]:
    variants: dict[str, Model] = {}
    for name, entry in json_object(value).items():
        from engine.values.configuration import parse_model, read_configuration  # if there are any

        if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,39}", name):
            raise ValueError(
                f"names “{name}”; use at most 40 small letters, digits, dots and hyphens"
            )
        if not isinstance(entry, dict) or not isinstance(entry.get("model"), str):
            raise ValueError(
                f'says nothing of {name}’s model; write {{"{name}": {{"model": "online/x", …}}}}'
            )
        try:
            model = parse_model(entry["model"])
            if model.configuration is not None:
                raise UsageError("Its model has settings of its own; write them beside it.")
            own = {key: one for key, one in entry.items() if key != "model"}
            if not own:
                raise UsageError("It sets nothing; name at least one setting.")
            configuration = read_configuration(own)
        except UsageError as error:
            raise ValueError(f"is wrong in {name}: {str(error).removesuffix('.')}") from None
        update = {"variant": name, "configuration": configuration}
        variants[name] = model.model_copy(update=update)
    return variants


def _prices(value: Any, info: ValidationInfo) -> dict[str, Price]:
    prices: dict[str, Price] = {}
    for name, entry in json_object(value).items():
        try:
            price = _price(entry)
        except ValueError:
            price = None
        if not isinstance(price, Price):
            raise ValueError(
                f'gives no price for “{name}”; write {{"in": 0.3, "out": 1.2}} or [0.3, 1.2], '
                "in USD per million tokens"
            )
        prices[_model(name, info).ref] = price
    return prices


def _seats(value: Any, info: ValidationInfo) -> dict[str, Model]:
    if isinstance(value, dict):
        pairs = [(str(seat), model) for seat, model in value.items()]
    else:
        split = [item.partition("=") for item in str(value).split(",") if item.strip()]
        if not all(equals and seat.strip() for seat, equals, _ in split):
            raise ValueError("must be a list such as A2=online/x,B4=local/y")
        pairs = [(seat, model) for seat, _, model in split]
    return {seat.strip().upper(): _model(model, info) for seat, model in pairs}


Cap = BeforeValidator(_cap)
Address = Annotated[str, AfterValidator(_address)]
Keys = Annotated[tuple[SecretStr, ...], BeforeValidator(_items), AfterValidator(_keys)]
Language = Annotated[str, AfterValidator(_language)]
FormatName = Annotated[str, Folded, AfterValidator(_format)]
DatabaseUrl = Annotated[SecretStr, AfterValidator(_database)]
OneModel = Annotated[Model, BeforeValidator(_model)]
Roster = Annotated[tuple[Model, ...], BeforeValidator(_roster)]
Variants = Annotated[dict[str, Model], BeforeValidator(_variants)]
Prices = Annotated[dict[str, Price], BeforeValidator(_prices)]
Seats = Annotated[dict[str, Model], BeforeValidator(_seats)]
Usd = Annotated[Annotated[float, Field(ge=0, allow_inf_nan=False)] | None, Cap]
Days = Annotated[Annotated[float, Field(gt=0, le=36500, allow_inf_nan=False)] | None, Cap]
Budget = Annotated[Caps, BeforeValidator(_caps)]
Port = Annotated[int, Field(ge=0, le=65535)]


# --- sections --------------------------------------------------------------------------


class WorkerSettings(Value):
    """How much one of several processes takes on: debates that it runs at once."""

    debates: int = Field(200, ge=1, le=100_000)


class DiscordSettings(Value):
    """The Discord connection; not started without a token."""

    token: SecretStr | None = None
    api_url: Address = "https://discord.com/api/v10"
    guild_ids: Annotated[tuple[Annotated[int, Field(ge=1)], ...], BeforeValidator(_items)] = ()
    shards: Annotated[int, Field(ge=1, le=100_000)] | None = None
    personal: bool = False
    personal_daily_usd: Usd = 0.5


class SlackSettings(Value):
    """The Slack connection, for one workspace or by OAuth; not started without either."""

    bot_token: SecretStr | None = None
    app_token: SecretStr | None = None
    signing_secret: SecretStr | None = None
    mode: Annotated[Literal["socket", "http"], Folded] = "socket"
    api_url: Address = "https://slack.com/api"
    host: str = "127.0.0.1"
    port: Port = 3000
    client_id: str | None = None
    client_secret: SecretStr | None = None
    allowed_teams: Annotated[tuple[str, ...], BeforeValidator(_items)] = ()
    public_url: Address | None = None
    managers: Annotated[tuple[str, ...], BeforeValidator(_items), AfterValidator(_users)] = ()


class HealthSettings(Value):
    """Where `/readyz` and its like are served; nowhere without a port."""

    host: str = "127.0.0.1"
    port: Port | None = None


class WebSettings(Value):
    """Where pages are served, and the address at which people reach them; nowhere without it.

    `proxies` are the networks from which proxies in front connect, besides this machine: only
    they are believed whom they forward for.
    People sign in where an app's id and secret are given. `managers` of labelling tasks are
    signed-in people, as `platform:user`.
    """

    url: Address | None = None
    host: str = "127.0.0.1"
    port: Port | None = None
    proxies: Annotated[tuple[IPv4Network | IPv6Network, ...], BeforeValidator(_items)] = ()
    discord_client_id: str | None = None
    discord_client_secret: SecretStr | None = None
    slack_client_id: str | None = None
    slack_client_secret: SecretStr | None = None
    managers: Annotated[tuple[str, ...], BeforeValidator(_items)] = ()


class ExportSettings(Value):
    """Settings of exports; without a key the installation makes its own."""

    hmac_key: SecretStr | None = None


class PrivacySettings(Value):
    """How long a community's debates are kept after it removed Rostrum."""

    purge_days: float = Field(30, ge=0, le=36500, allow_inf_nan=False)


class RetentionSettings(Value):
    """After how many days what is deleted of debates that have ended; None: it is kept."""

    prompts_days: Days = None
    debates_days: Days = None


class LogSettings(Value):
    """How the program logs to stderr."""

    format: Annotated[Literal["text", "json"], Folded] = "text"
    level: Annotated[Literal["debug", "info", "warning", "error"], Folded] = "info"


class _RoleSampling(Value):
    """How one role samples."""

    temperature: float = Field(ge=0, le=2)
    # With room for reasoning, which counts.
    max_tokens: int = Field(6000, ge=1, le=10_000_000)


class _FreeSampling(_RoleSampling):
    """How a debater samples in most rounds."""

    temperature: float = Field(0.7, ge=0, le=2)


class _PreciseSampling(_RoleSampling):
    """How a debater samples in the closing and in cross-examination."""

    temperature: float = Field(0.5, ge=0, le=2)


class _JudgingSampling(_RoleSampling):
    """How a juror, a format's own judge and a team's captain sample."""

    temperature: float = Field(0.2, ge=0, le=2)


class SamplingSettings(Value):
    """Temperature and token cap of each role."""

    debater: _FreeSampling = _FreeSampling()
    closing: _PreciseSampling = _PreciseSampling()
    cross: _PreciseSampling = _PreciseSampling()
    juror: _JudgingSampling = _JudgingSampling()
    judge: _JudgingSampling = _JudgingSampling()
    captain: _JudgingSampling = _JudgingSampling()

    def roles(self) -> dict[str, Sampling]:
        """Return the sampling by role, as a debate freezes it."""
        return {role: Sampling(**dict(sampling)) for role, sampling in self}


class RetrievalSettings(Value):
    """Where debaters may look things up before a debate, and how much; nowhere without a `url`.

    With a `model` the address is that of an OpenAI-compatible endpoint.
    """

    url: Annotated[str, AfterValidator(_address)] | None = None
    key: SecretStr | None = None
    model: str = ""
    calls: Annotated[int, Field(ge=1, le=10)] = 2
    results: Annotated[int, Field(ge=1, le=10)] = 3
    characters: Annotated[int, Field(ge=100, le=MOST)] = 2_000
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 20.0

    def endpoint(self) -> SearchEndpoint | None:
        """Return the search endpoint; None without one."""
        if self.url is None:
            return None
        from adapters.models.backends import SearchEndpoint  # few search

        return SearchEndpoint(
            url=self.url, key=self.key, model=self.model, timeout_s=self.timeout_s
        )

    def plan(self) -> Retrieval | None:
        """Return what each side may look up; None without an endpoint."""
        if self.url is None:
            return None
        return Retrieval(
            model=Model(backend=RETRIEVAL, name=self.model or "search", family=RETRIEVAL),
            calls=self.calls,
            results=self.results,
            characters=self.characters,
        )


class ModerationSettings(Value):
    """The moderation model that is asked about topics before a debate; none without a `model`."""

    model: str = ""
    base_url: Annotated[str, AfterValidator(_address)] = OPENAI
    key: SecretStr | None = None
    timeout_s: Annotated[float, Field(gt=0, le=60)] = 10.0


class PanelSettings(Value):
    """How the jury reads."""

    mode: Annotated[PanelMode, Folded] = PanelMode.ADAPTIVE
    rubric: Annotated[Rubric | None, BeforeValidator(_rubric)] = None
    value_per_usd: Annotated[float, Field(ge=0, le=1_000_000)] = 0.0
