"""Everything that can be set, read once at start and passed down.

`.env.example` lists every setting with its default; bot/settings_sources.py says where
values come from and which wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import unquote

from pydantic import BaseModel, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from adapters.models.backends import Backend
from bot.settings_formats import (
    AuditedSettings,
    ClassicSettings,
    FormatSettings,
    OxfordSettings,
    RoundtableSettings,
    StructuredSettings,
    TeamSettings,
)
from bot.settings_sections import (
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
    OneModel,
    PanelSettings,
    Prices,
    PrivacySettings,
    Roster,
    SamplingSettings,
    SlackSettings,
)
from bot.settings_sources import (
    PREFIX,
    as_tree,
    describe,
    nearest,
    read_layers,
    variable,
)
from engine.debate import REHEARSAL, Model, Scores, TurnOrder
from engine.errors import SettingsError

REHEARSAL_MODELS = "rehearsal/maple, rehearsal/cedar, rehearsal/oak, rehearsal/larch"
REHEARSAL_JURORS = (
    "rehearsal/birch, rehearsal/elm, rehearsal/rowan, "
    "rehearsal/aspen, rehearsal/hazel, rehearsal/willow"
)

_DATABASES = ("sqlite", "postgresql")
_PASSWORD = re.compile(r"://[^/@:\s]*:([^/@\s]+)@|[?&]password=([^&\s]+)")


class Settings(BaseSettings):
    """Every setting, complete and free of contradictions.

    `models` are what commands offer and `jurors` the roster in order of preference; both are
    empty when a backend is set and nobody has named a model. Raises SettingsError for a
    contradiction and pydantic's ValidationError for a single wrong value.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file_encoding="utf-8-sig",
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
    )

    database_url: DatabaseUrl = SecretStr("sqlite+aiosqlite:///rostrum.db")
    backends: dict[str, BackendSettings] = {}
    models: Roster = ()
    jurors: Roster = ()
    prices: Prices = {}

    topic: str = ""
    conditions: str = ""
    blind: bool = True
    turn_order: Annotated[TurnOrder, Folded] = TurnOrder.SEQUENTIAL
    scores: Annotated[Scores, Folded] = Scores.AFTER_VOTE
    default_a: OneModel | None = None
    default_b: OneModel | None = None
    default_format: FormatName = "classic"
    default_language: Language = "en"
    default_vote_minutes: float = Field(30, ge=0.001, le=10080)
    stance_seconds: float = Field(60, gt=0, le=86400)
    again_minutes: float = Field(1440, gt=0, le=10080)
    default_quorum: int = Field(5, ge=0, le=1_000_000)
    default_extend: bool = True

    classic: ClassicSettings = ClassicSettings()
    team: TeamSettings = TeamSettings()
    structured: StructuredSettings = StructuredSettings()
    roundtable: RoundtableSettings = RoundtableSettings()
    audited: AuditedSettings = AuditedSettings()
    oxford: OxfordSettings = OxfordSettings()
    sampling: SamplingSettings = SamplingSettings()
    panel: PanelSettings = PanelSettings()
    chars_per_word: float = Field(1.5, gt=0, allow_inf_nan=False)
    reply_chars: int = Field(40_000, ge=1_000, le=1_000_000)
    templates_dir: Path | None = None

    discord: DiscordSettings = DiscordSettings()
    slack: SlackSettings = SlackSettings()
    budget: BudgetSettings = BudgetSettings()
    health: HealthSettings = HealthSettings()
    export: ExportSettings = ExportSettings()
    privacy: PrivacySettings = PrivacySettings()
    log: LogSettings = LogSettings()
    secret_key: Keys = ()

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
        return {"models": REHEARSAL_MODELS, "jurors": REHEARSAL_JURORS, **values}

    @model_validator(mode="after")
    def _refuse_contradictions(self) -> Self:
        self.endpoints()
        _check_models(self)
        _check_slack(self)
        _check_structured(self.structured)
        if self.templates_dir and not self.templates_dir.is_dir():
            raise SettingsError(
                f"ROSTRUM_TEMPLATES_DIR names {self.templates_dir}, which is not a folder; "
                "create it or leave the setting out."
            )
        return self

    def endpoints(self) -> tuple[Backend, ...]:
        """Return the backends that were set, their presets filled in. Raises SettingsError."""
        return tuple(Backend.of(name, **dict(given)) for name, given in self.backends.items())

    def limits(self) -> dict[str, dict[str, float]]:
        """Return the limits of every format that has any, by format."""
        return {name: value.limits() for name, value in self if isinstance(value, FormatSettings)}

    def vault_keys(self) -> tuple[str, ...]:
        """Return the keys of stored tokens, the newest first."""
        return tuple(key.get_secret_value() for key in self.secret_key)

    def secrets(self) -> frozenset[str]:
        """Return every value that must never be shown, passwords within addresses included."""
        return frozenset(secret for secret in _secrets_in(self) if secret)


def load_settings(
    env_file: Path = Path(".env"), toml_file: Path = Path("rostrum.toml")
) -> Settings:
    """Read the environment, `.env` and `rostrum.toml`; a file may be missing.

    Raises SettingsError with one sentence that names the variable, never a secret's value.
    """
    given = read_layers(Settings, env_file, toml_file)
    try:
        return Settings(**as_tree(given))
    except ValidationError as error:
        raise SettingsError(describe(Settings, error, given)) from None


def _secrets_in(value: object) -> Iterator[str]:
    if isinstance(value, SecretStr):
        text = value.get_secret_value()
        # Of an address only the password is secret: logs may say which database it is.
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


def _check_models(settings: Settings) -> None:
    known = {REHEARSAL, *settings.backends}
    for name, model in _named_models(settings):
        if model.backend not in known:
            close = nearest(model.backend, known)
            hint = f"did you mean {close}?" if close else f"set {_address_of(model)}."
            raise SettingsError(
                f"{variable([name])} names {model.ref}, but there is no backend "
                f"“{model.backend}”; {hint}"
            )


def _named_models(settings: Settings) -> Iterator[tuple[str, Model]]:
    for name, models in (
        ("models", settings.models),
        ("jurors", settings.jurors),
        ("default_a", (settings.default_a,)),
        ("default_b", (settings.default_b,)),
        ("prices", map(Model.parse, settings.prices)),
    ):
        yield from ((name, model) for model in models if model)


def _address_of(model: Model) -> str:
    return variable(["backends", model.backend, "base_url"])


def _check_structured(limits: StructuredSettings) -> None:
    if limits.fewest > limits.most:
        raise SettingsError(
            f"ROSTRUM_STRUCTURED__FEWEST is {limits.fewest}, more than "
            f"ROSTRUM_STRUCTURED__MOST, which is {limits.most}; lower the one or raise the other."
        )


def _check_slack(settings: Settings) -> None:
    """Refuse a Slack connection that lacks a part."""
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
    for broken, sentence in rules:
        if broken:
            raise SettingsError(sentence)
