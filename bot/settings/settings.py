"""All settings, read once at start and passed down.

`.env.example` lists every setting with its default; bot/settings/load.py says where values come
from, and in which order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self
from urllib.parse import unquote

from pydantic import BaseModel, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot.settings.sections import (
    PREFIX,
    BackendSettings,
    BudgetSettings,
    DatabaseUrl,
    DiscordSettings,
    ExportSettings,
    Folded,
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
    SourcesSettings,
    Variants,
    WebSettings,
    WorkerSettings,
    Wrong,
    variable,
)
from engine.values.debate import REHEARSAL, ConfidenceScale, Length, Model, Scores, TurnOrder
from engine.values.errors import SettingsError
from engine.values.limits import (
    AuditedLimits,
    ClassicLimits,
    FormatLimits,
    OxfordLimits,
    RoundtableLimits,
    StructuredLimits,
    TeamLimits,
)
from engine.values.options import nearest
from engine.values.topics import TopicList, built_in_topics

if TYPE_CHECKING:
    from adapters.models.backends import Backend


PLATFORMS = ("discord", "slack")
STOP_SECONDS = 45.0  # the files of deploy/ let a stop take as long

_DATABASES = ("sqlite", "postgres")
_PASSWORD = re.compile(r"://[^/@:\s]*:([^/@\s]+)@|[?&]password=([^&\s]+)")


class Settings(BaseSettings):
    """Every setting, complete and free of contradictions.

    `models` are offered by commands, and `jurors` are the roster in order of preference; both are
    empty if a backend but no model is set. Raises SettingsError for a contradiction, and
    pydantic's ValidationError for an invalid value.
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

    topic: str = ""
    conditions: str = ""
    stance_a: str = ""
    stance_b: str = ""
    blind: bool = True
    turn_order: Annotated[TurnOrder, Folded] = TurnOrder.SEQUENTIAL
    scores: Annotated[Scores, Folded] = Scores.AFTER_VOTE
    default_a: OneModel | None = None
    default_b: OneModel | None = None
    default_judges: Roster = ()
    default_seats: Seats = {}
    default_format: FormatName = "classic"
    default_language: Language = "en"
    default_length: Annotated[Length, Folded] = Length.NORMAL
    default_vote_minutes: float = Field(30, ge=0.001, le=10080)
    stance_seconds: float = Field(60, gt=0, le=86400)
    again_minutes: float = Field(1440, gt=0, le=10080)
    default_quorum: int = Field(5, ge=0, le=1_000_000)
    default_extend: bool = True
    default_round_votes: bool = False
    default_confidence: Annotated[ConfidenceScale, Folded] = ConfidenceScale.OFF
    default_questions: float = Field(0, ge=0, le=60)
    default_pace: int = Field(0, ge=0, le=2000)
    default_turn_minutes: float = Field(10, gt=0, le=1440)
    default_why: bool = True
    default_reasons: bool = True
    default_guess: bool = True

    classic: ClassicLimits = ClassicLimits()
    team: TeamLimits = TeamLimits()
    structured: StructuredLimits = StructuredLimits()
    roundtable: RoundtableLimits = RoundtableLimits()
    audited: AuditedLimits = AuditedLimits()
    oxford: OxfordLimits = OxfordLimits()
    sampling: SamplingSettings = SamplingSettings()
    panel: PanelSettings = PanelSettings()
    sources: SourcesSettings = SourcesSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    moderation: ModerationSettings = ModerationSettings()
    chars_per_word: float = Field(1.5, gt=0, allow_inf_nan=False)
    reply_chars: int = Field(40_000, ge=1_000, le=1_000_000)
    templates_dir: Path | None = None
    topics_file: Path | None = None

    discord: DiscordSettings = DiscordSettings()
    slack: SlackSettings = SlackSettings()
    budget: BudgetSettings = BudgetSettings()
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

    @model_validator(mode="after")
    def _refuse_contradictions(self) -> Self:
        if found := tuple(_contradictions(self)):
            raise ContradictionError(found)
        return self

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


class ContradictionError(SettingsError):
    """Settings that contradict one another; the message is about the first of them."""

    def __init__(self, found: Sequence[Wrong]) -> None:
        super().__init__(found[0].sentence)
        self.found = found


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


# --- contradictions --------------------------------------------------------------------


def _contradictions(settings: Settings) -> Iterator[Wrong]:
    """Find contradictions, each with the names of the settings involved."""
    for name, given in settings.backends.items():
        from adapters.models.backends import faults_of  # a rehearsal needs none

        for sentence in faults_of(name, given.preset, given.base_url, given.api_key):
            yield Wrong(("backends",), sentence)
    yield from _unknown_backends(settings)
    try:
        faults = settings.topic_list().faults
    except SettingsError as error:
        faults = (str(error),)
    yield from (Wrong(("topics_file",), fault) for fault in faults)
    for sentence in _slack_faults(settings):
        yield Wrong(("slack", "secret_key"), sentence)
    yield from (Wrong(("web", "health"), sentence) for sentence in _web_faults(settings))
    yield from _sign_in_faults(settings.web)
    limits = settings.structured
    if limits.fewest > limits.most:
        yield Wrong(
            ("structured",),
            f"ROSTRUM_STRUCTURED__FEWEST is {limits.fewest}, more than "
            f"ROSTRUM_STRUCTURED__MOST, which is {limits.most}; lower the one or raise the other.",
        )
    if limits.closing_least > limits.closing_words:
        yield Wrong(
            ("structured",),
            f"ROSTRUM_STRUCTURED__CLOSING_LEAST is {limits.closing_least}, more than "
            f"ROSTRUM_STRUCTURED__CLOSING_WORDS, which is {limits.closing_words}; lower the one or "
            "raise the other.",
        )
    if settings.templates_dir and not settings.templates_dir.is_dir():
        yield Wrong(
            ("templates_dir",),
            f"ROSTRUM_TEMPLATES_DIR names {settings.templates_dir}, which is not a folder; "
            "create it or leave the setting out.",
        )


def _sign_in_faults(web: WebSettings) -> Iterator[Wrong]:
    """Find what is missing for people to sign in on the pages."""
    for platform, app in (("discord", "Discord"), ("slack", "Slack")):
        named = (f"{platform}_client_id", f"{platform}_client_secret")
        if len({getattr(web, name) is None for name in named}) == 2:
            both = " and ".join(variable(["web", name]) for name in named)
            yield Wrong(
                ("web",), f"Signing in with {app} needs two values; set {both}, or neither."
            )
    for who in web.managers:
        if not who.startswith(tuple(f"{platform}:" for platform in PLATFORMS)):
            yield Wrong(
                ("web",),
                f"ROSTRUM_WEB__MANAGERS names “{who}”; write discord:USER or slack:USER.",
            )


def _unknown_backends(settings: Settings) -> Iterator[Wrong]:
    known = {REHEARSAL, *settings.backends}
    for name, model in _named_models(settings):
        if model.backend not in known:
            close = nearest(model.backend, known)
            address = variable(["backends", model.backend, "base_url"])
            hint = f"did you mean {close}?" if close else f"set {address}."
            yield Wrong(
                ("backends", name),
                f"{variable([name])} names {model.ref}, but there is no backend "
                f"“{model.backend}”; {hint}",
            )


def _named_models(settings: Settings) -> Iterator[tuple[str, Model]]:
    for name, models in (
        ("models", settings.models),
        ("jurors", settings.jurors),
        ("default_a", (settings.default_a,)),
        ("default_b", (settings.default_b,)),
        ("default_judges", settings.default_judges),
        ("default_seats", settings.default_seats.values()),
        ("prices", map(Model.parse, settings.prices)),
    ):
        yield from ((name, model) for model in models if model)


def _web_faults(settings: Settings) -> Iterator[str]:
    """Yield what serving pages lacks."""
    web, health, slack = settings.web, settings.health, settings.slack
    if (web.url is None) != (web.port is None):
        yield (
            "Pages on the web need an address and a port; set ROSTRUM_WEB__URL and "
            "ROSTRUM_WEB__PORT, or neither."
        )
    if web.url is not None and any(mark in web.url.partition("://")[2] for mark in "/?#@"):
        yield "ROSTRUM_WEB__URL names more than a host; write it as in https://debates.example."
    others = [("ROSTRUM_HEALTH__PORT", health.host, health.port)]
    if slack.mode == "http":
        others.append(("ROSTRUM_SLACK__PORT", slack.host, slack.port))
    for name, host, port in others:
        if port and (host, port) == (web.host, web.port):
            yield f"ROSTRUM_WEB__PORT is also {name}; choose another port for one of them."


def _slack_faults(settings: Settings) -> list[str]:
    """Return what a Slack connection lacks."""
    slack = settings.slack
    oauth = slack.client_id is not None
    connects = oauth or slack.bot_token is not None
    app = slack.app_token is not None or slack.signing_secret is not None
    rules = (
        (
            oauth and slack.bot_token is not None,
            "Slack is served either in one workspace by its token or in all that install it; "
            "unset ROSTRUM_SLACK__BOT_TOKEN or ROSTRUM_SLACK__CLIENT_ID.",
        ),
        (
            oauth != (slack.client_secret is not None),
            "Installing on Slack by OAuth needs two values; set ROSTRUM_SLACK__CLIENT_ID and "
            "ROSTRUM_SLACK__CLIENT_SECRET, or neither.",
        ),
        (
            oauth and not settings.secret_key,
            "Installing on Slack by OAuth stores tokens, which are encrypted; "
            "set ROSTRUM_SECRET_KEY.",
        ),
        (
            app and not connects,
            "Slack has credentials of its app but no token to speak with; "
            "set ROSTRUM_SLACK__BOT_TOKEN, or ROSTRUM_SLACK__CLIENT_ID to have it installed.",
        ),
        (
            connects and slack.mode == "socket" and slack.app_token is None,
            "Slack in socket mode needs an app token; set ROSTRUM_SLACK__APP_TOKEN, or "
            "ROSTRUM_SLACK__MODE=http.",
        ),
        (
            connects and slack.mode == "http" and slack.signing_secret is None,
            "Slack with ROSTRUM_SLACK__MODE=http needs the app's signing secret; "
            "set ROSTRUM_SLACK__SIGNING_SECRET.",
        ),
    )
    return [sentence for broken, sentence in rules if broken]
