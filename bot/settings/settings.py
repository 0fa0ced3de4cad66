"""All settings, read once at start and passed down.

`.env.example` lists every setting with its default; bot/settings/load.py says where values come
from, and in which order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import unquote

from pydantic import BaseModel, Field, SecretStr, create_model, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from adapters.models import OPENAI, BackendSettings
from bot.settings.values import (
    PREFIX,
    Address,
    Budget,
    CommaList,
    DatabaseUrl,
    Days,
    FormatName,
    Keys,
    Language,
    OneModel,
    OwnRubric,
    Port,
    Prices,
    Roster,
    Seats,
    SlackUsers,
    Usd,
    Variants,
)
from engine.values.debate import RETRIEVAL, Model, PanelMode, Request, Retrieval, Sampling, Value
from engine.values.limits import (
    MOST,
    AuditedLimits,
    Caps,
    ClassicLimits,
    FormatLimits,
    OxfordLimits,
    RoundtableLimits,
    StructuredLimits,
    TeamLimits,
)
from engine.values.options import BUILT_IN, PARAMS, Folded, Options, kind_of
from engine.values.sources import SourceLimits
from engine.values.topics import TopicList, built_in_topics

if TYPE_CHECKING:
    from adapters.models.backends import Backend, SearchEndpoint


PLATFORMS = ("discord", "slack")
STOP_SECONDS = 45.0  # the files of deploy/ let a stop take as long

_DATABASES = ("sqlite", "postgres")
_PASSWORD = re.compile(r"://[^/@:\s]*:([^/@\s]+)@|[?&]password=([^&\s]+)")


class _WorkerSettings(Value):
    """How much one of several processes takes on: debates that it runs at once."""

    debates: int = Field(200, ge=1, le=100_000)


class DiscordSettings(Value):
    """The Discord connection; not started without a token."""

    token: SecretStr | None = None
    api_url: Address = "https://discord.com/api/v10"
    guild_ids: Annotated[tuple[Annotated[int, Field(ge=1)], ...], CommaList] = ()
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
    allowed_teams: Annotated[tuple[str, ...], CommaList] = ()
    public_url: Address | None = None
    managers: SlackUsers = ()


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
    proxies: Annotated[tuple[IPv4Network | IPv6Network, ...], CommaList] = ()
    discord_client_id: str | None = None
    discord_client_secret: SecretStr | None = None
    slack_client_id: str | None = None
    slack_client_secret: SecretStr | None = None
    managers: Annotated[tuple[str, ...], CommaList] = ()


class _ExportSettings(Value):
    """Settings of exports; without a key the installation makes its own."""

    hmac_key: SecretStr | None = None


class _PrivacySettings(Value):
    """How long a community's debates are kept after it removed Rostrum."""

    purge_days: float = Field(30, ge=0, le=36500, allow_inf_nan=False)


class _RetentionSettings(Value):
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


class _SamplingSettings(Value):
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


class _RetrievalSettings(Value):
    """Where debaters may look things up before a debate, and how much; nowhere without a `url`.

    With a `model` the address is that of an OpenAI-compatible endpoint.
    """

    url: Address | None = None
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


class _ModerationSettings(Value):
    """The moderation model that is asked about topics before a debate; none without a `model`."""

    model: str = ""
    base_url: Address = OPENAI
    key: SecretStr | None = None
    timeout_s: Annotated[float, Field(gt=0, le=60)] = 10.0


class _PanelSettings(Value):
    """How the jury reads."""

    mode: Annotated[PanelMode, Folded] = PanelMode.ADAPTIVE
    rubric: OwnRubric = None
    value_per_usd: Annotated[float, Field(ge=0, le=1_000_000)] = 0.0


def _of_options() -> dict[str, Any]:
    """Return the settings that are defaults of a debate's options, as pydantic's fields."""
    fields = {}
    checked: dict[str, Any] = {"format": FormatName, "language": Language}
    for name, param in PARAMS.items():
        if param.setting:
            kind = checked.get(name, kind_of(name))
            limits = Request.model_fields[name].metadata
            folded = (Folded,) if isinstance(param.kind, tuple) else ()
            usual = BUILT_IN.given().get(name, "")
            fields[param.variable] = (Annotated[kind, param, *limits, *folded], usual)
    return fields


if TYPE_CHECKING:

    class _OfOptions:
        """What `Settings.options` reads."""
else:
    _OfOptions = create_model("_OfOptions", __base__=BaseSettings, **_of_options())


class Settings(_OfOptions, BaseSettings):
    """Every setting, complete; bot/settings/load.py says which exclude one another.

    `models` are offered by commands, and `jurors` are the roster in order of preference; both are
    empty if a backend but no model is set. Raises pydantic's ValidationError for an invalid value.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file_encoding="utf-8-sig",
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
    )

    database_url: DatabaseUrl = SecretStr("sqlite+aiosqlite:///rostrum.db")
    database_pool: int = Field(4, ge=1, le=64)
    database_direct_url: DatabaseUrl | None = None
    worker: _WorkerSettings = _WorkerSettings()
    stop_seconds: float = Field(STOP_SECONDS, ge=2, le=86400)
    backends: dict[str, BackendSettings] = {}
    variants: Variants = {}
    models: Roster = ()
    jurors: Roster = ()
    prices: Prices = {}

    default_a: OneModel | None = None
    default_b: OneModel | None = None
    default_judges: Roster = ()
    default_seats: Seats = {}

    classic: ClassicLimits = ClassicLimits()
    team: TeamLimits = TeamLimits()
    structured: StructuredLimits = StructuredLimits()
    roundtable: RoundtableLimits = RoundtableLimits()
    audited: AuditedLimits = AuditedLimits()
    oxford: OxfordLimits = OxfordLimits()
    sampling: _SamplingSettings = _SamplingSettings()
    panel: _PanelSettings = _PanelSettings()
    sources: SourceLimits = SourceLimits()
    retrieval: _RetrievalSettings = _RetrievalSettings()
    moderation: _ModerationSettings = _ModerationSettings()
    chars_per_word: float = Field(1.5, gt=0, allow_inf_nan=False)
    reply_chars: int = Field(40_000, ge=1_000, le=1_000_000)
    templates_dir: Path | None = None
    topics_file: Path | None = None

    discord: DiscordSettings = DiscordSettings()
    slack: SlackSettings = SlackSettings()
    budget: Budget = Caps()
    health: HealthSettings = HealthSettings()
    web: WebSettings = WebSettings()
    export: _ExportSettings = _ExportSettings()
    privacy: _PrivacySettings = _PrivacySettings()
    retention: _RetentionSettings = _RetentionSettings()
    log: LogSettings = LogSettings()
    secret_key: Keys = ()
    traces: bool = False
    revision: str = Field("", max_length=64, pattern=r"^[\w.+-]*$")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take values from the caller only: `load_settings` has read the other layers."""
        return (init_settings,)

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, values: dict[str, Any]) -> dict[str, Any]:
        if values.get("backends"):
            return {"jurors": values.get("models", ()), **values}
        return {
            "models": "rehearsal/maple, rehearsal/cedar, rehearsal/oak, rehearsal/larch",
            "jurors": "rehearsal/birch, rehearsal/elm, rehearsal/rowan, rehearsal/aspen, "
            "rehearsal/hazel, rehearsal/willow",
            **values,
        }

    @property
    def options(self) -> Options:
        """The operator's defaults of a debate's options."""
        given = {one.name: getattr(self, one.variable) for one in PARAMS.values() if one.setting}
        return Options(**given)

    def endpoints(self) -> tuple[Backend, ...]:
        """Return the configured backends, with presets applied. Raises SettingsError."""
        if not self.backends:
            return ()
        from adapters.models.backends import Backend  # a rehearsal needs none

        return tuple(Backend.of(name, **dict(given)) for name, given in self.backends.items())

    def allowed(self) -> dict[str, frozenset[str]]:
        """Return the communities that are served, by platform; without an entry all are."""
        guilds = frozenset(map(str, self.discord.guild_ids))
        named = {"discord": guilds, "slack": frozenset(self.slack.allowed_teams)}
        return {platform: ids for platform, ids in named.items() if ids}

    def topic_list(self) -> TopicList:
        """Return the topics of the operator's file, or the built-in ones."""
        if self.topics_file is None:
            return TopicList(built_in_topics())
        from bot.settings.files import read_topics

        return read_topics(self.topics_file)

    def limits(self) -> dict[str, dict[str, float]]:
        """Return the limits of every format that has any, by format."""
        return {name: value.numbers() for name, value in self if isinstance(value, FormatLimits)}

    @property
    def shared(self) -> bool:
        """Whether other processes can work on the database at the same time."""
        return self.database_url.get_secret_value().startswith("postgres")

    def vault_keys(self) -> tuple[str, ...]:
        """Return the keys of stored tokens, the newest first."""
        return tuple(key.get_secret_value() for key in self.secret_key)

    def secrets(self) -> frozenset[str]:
        """Return every value that must never be shown, including passwords in addresses."""
        return frozenset(secret for secret in _secrets_in(self) if secret)


def _secrets_in(value: object) -> Iterator[str]:
    if isinstance(value, SecretStr):
        text = value.get_secret_value()
        # In an address only the password is secret; logs may show the rest.
        yield from _passwords_in(text) if text.startswith(_DATABASES) else (text,)
    elif isinstance(value, str):
        yield from _passwords_in(value)
    elif isinstance(value, BaseModel):
        yield from _secrets_in(dict(value))
    elif isinstance(value, dict):
        yield from _secrets_in(tuple(value.values()))
    elif isinstance(value, tuple):
        for inner in value:
            yield from _secrets_in(inner)


def _passwords_in(address: str) -> Iterator[str]:
    for found in _PASSWORD.finditer(address):
        password = found[1] or found[2]
        yield from (password, unquote(password))
