"""All settings, read once at start and passed down.

`.env.example` lists every setting with its default; bot/settings/load.py says where values come
from, and in which order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import unquote

from pydantic import BaseModel, Field, SecretStr, create_model, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from adapters.models import BackendSettings
from bot.settings.sections import (
    PREFIX,
    Budget,
    DatabaseUrl,
    DiscordSettings,
    ExportSettings,
    FormatName,
    HealthSettings,
    Keys,
    Language,
    LogSettings,
    ModerationSettings,
    OneModel,
    PanelSettings,
    Prices,
    PrivacySettings,
    RetentionSettings,
    RetrievalSettings,
    Roster,
    SamplingSettings,
    Seats,
    SlackSettings,
    Variants,
    WebSettings,
    WorkerSettings,
)
from engine.values.debate import Request
from engine.values.limits import (
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
    from adapters.models.backends import Backend


PLATFORMS = ("discord", "slack")
STOP_SECONDS = 45.0  # the files of deploy/ let a stop take as long

_DATABASES = ("sqlite", "postgres")
_PASSWORD = re.compile(r"://[^/@:\s]*:([^/@\s]+)@|[?&]password=([^&\s]+)")


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
    """Every setting, complete; bot/settings/contradictions.py says which exclude one another.

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
    worker: WorkerSettings = WorkerSettings()
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
    sampling: SamplingSettings = SamplingSettings()
    panel: PanelSettings = PanelSettings()
    sources: SourceLimits = SourceLimits()
    retrieval: RetrievalSettings = RetrievalSettings()
    moderation: ModerationSettings = ModerationSettings()
    chars_per_word: float = Field(1.5, gt=0, allow_inf_nan=False)
    reply_chars: int = Field(40_000, ge=1_000, le=1_000_000)
    templates_dir: Path | None = None
    topics_file: Path | None = None

    discord: DiscordSettings = DiscordSettings()
    slack: SlackSettings = SlackSettings()
    budget: Budget = Caps()
    health: HealthSettings = HealthSettings()
    web: WebSettings = WebSettings()
    export: ExportSettings = ExportSettings()
    privacy: PrivacySettings = PrivacySettings()
    retention: RetentionSettings = RetentionSettings()
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
        from bot.settings.topics_file import read_topics

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
