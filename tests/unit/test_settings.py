"""Settings: where they come from, what is refused, and in which words."""

import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest
from pydantic import ValidationError

from bot.settings.load import load_settings
from bot.settings.settings import Settings
from engine.jury.rubric import CLASSIC_SIX, DEBATE
from engine.values.debate import Model, PanelMode, Price, Sampling, Scores, TurnOrder
from engine.values.errors import SettingsError
from tests.kit import some

SECRET = "hunter2-very-secret-value"
HUGE = "9" * 21


class Place(NamedTuple):
    """A folder with an environment of its own."""

    folder: Path
    patch: pytest.MonkeyPatch

    def env(self, **variables: str) -> None:
        for name, value in variables.items():
            self.patch.setenv(f"ROSTRUM_{name}", value)

    def file(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def refusal(self) -> str:
        with pytest.raises(SettingsError) as caught:
            load_settings()
        sentence = str(caught.value)
        assert SECRET not in sentence
        assert "\n" not in sentence
        assert sentence.endswith((".", "?"))
        assert caught.value.__cause__ is None
        return sentence


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    for name in [name for name in os.environ if name.upper().startswith("ROSTRUM_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path, monkeypatch)


def test_seats_are_read_as_a_list_of_pairs() -> None:
    seats = Settings(default_seats="A2=rehearsal/oak, b4=rehearsal/elm").default_seats
    assert {seat: model.ref for seat, model in seats.items()} == {
        "A2": "rehearsal/oak",
        "B4": "rehearsal/elm",
    }
    with pytest.raises(ValidationError, match="must be a list such as A2=online/x"):
        Settings(default_seats="rehearsal/oak")


def test_without_any_setting_everything_runs_on_rehearsal_models(place: Place) -> None:
    settings = load_settings()
    assert {m.backend for m in (*settings.models, *settings.jurors)} == {"rehearsal"}
    debaters = {m.family for m in settings.models}
    jurors = {m.family for m in settings.jurors}
    assert len(debaters) >= 2
    assert len(jurors) >= 6
    assert not debaters & jurors
    assert settings.endpoints() == ()
    assert settings.discord.token is None
    assert settings.slack.bot_token is None


def test_the_defaults_are_those_of_the_documents(place: Place) -> None:
    settings = load_settings()
    assert settings.database_url.get_secret_value() == "sqlite+aiosqlite:///rostrum.db"
    limits = {"words": 500, "arguments": 3, "synthesis_chars": 500, "decision_words": 200}
    assert settings.classic.numbers() == limits
    temperatures = {role: s.temperature for role, s in settings.sampling.roles().items()}
    cool, cold = dict.fromkeys(("closing", "cross"), 0.5), ("juror", "judge", "captain")
    assert temperatures == {"debater": 0.7} | cool | dict.fromkeys(cold, 0.2)
    assert tuple(dict(settings.budget).values()) == (1, 10, 10, 3, None, None, 80)
    slack = settings.slack
    assert (slack.mode, slack.host, slack.port) == ("socket", "127.0.0.1", 3000)
    assert (settings.options.quorum, settings.chars_per_word) == (5, 1.5)
    assert settings.panel.mode is PanelMode.ADAPTIVE


def test_an_empty_value_is_none_and_a_cap_can_be_switched_off(place: Place) -> None:
    place.env(DISCORD__TOKEN="", LOG__LEVEL="  ", BACKENDS="", BUDGET__DEBATE_USD="")
    place.file("rostrum.toml", 'topic = ""')
    assert load_settings() == Settings()
    place.env(
        BUDGET__DEBATE_USD="off", BUDGET__USER_DAILY_DEBATES="Off", BUDGET__COMMUNITY_DAILY_USD="0"
    )
    budget = load_settings().budget
    assert budget.debate_usd is None
    assert budget.user_daily_debates is None
    assert budget.community_daily_usd == 0


def test_models_and_jurors_are_lists_of_backend_and_model(place: Place) -> None:
    place.env(
        BACKENDS__ONLINE__PRESET="OpenRouter",
        BACKENDS__ONLINE__API_KEY=SECRET,
        BACKENDS__LOCAL__BASE_URL="http://127.0.0.1:9/v1/",
        MODELS="Online/deepseek/deepseek-v3.2, local/llama-3.3,",
        JURORS="local/qwen3#other",
    )
    settings = load_settings()
    assert settings.models == (
        Model(backend="online", name="deepseek/deepseek-v3.2", family="deepseek"),
        Model(backend="local", name="llama-3.3", family="llama"),
    )
    assert [juror.family for juror in settings.jurors] == ["other"]
    online, local = sorted(settings.endpoints(), key=lambda b: b.name, reverse=True)
    assert online.base_url == "https://openrouter.ai/api/v1"
    assert online.secret == SECRET
    assert local.base_url == "http://127.0.0.1:9/v1"


def test_with_a_backend_the_roster_is_the_models_and_rehearsal_ones_judge_nothing_unasked(
    place: Place,
) -> None:
    place.env(BACKENDS__LOCAL__PRESET="ollama")
    settings = load_settings()
    assert settings.models == settings.jurors == ()
    place.env(MODELS="local/a,local/b")
    settings = load_settings()
    assert settings.jurors == settings.models != ()


@pytest.mark.parametrize(
    ("text", "blind"),
    [("on", True), ("off", False), ("TRUE", True), ("false", False), ("1", True), ("no", False)],
)
def test_switches_and_words_from_a_fixed_list_take_any_case(
    place: Place, text: str, blind: bool
) -> None:
    place.env(BLIND=text, TURN_ORDER="Simultaneous", SCORES="LIVE")
    place.env(PANEL__MODE="Strict", LOG__FORMAT="JSON", SAMPLING__JUROR__TEMPERATURE="0")
    settings = load_settings()
    assert settings.options.blind is blind
    assert settings.options.turn_order is TurnOrder.SIMULTANEOUS
    assert settings.options.scores is Scores.LIVE
    assert settings.panel.mode is PanelMode.STRICT
    assert settings.log.format == "json"
    # One part of a role's sampling leaves the other alone.
    assert settings.sampling.roles()["juror"] == Sampling(temperature=0, max_tokens=6000)


def test_a_debates_defaults_are_read(place: Place) -> None:
    place.env(TOPIC="Tea beats coffee {{ 7*7 }}", DEFAULT_VOTE_MINUTES="0.5")
    place.env(DEFAULT_LANGUAGE="zh-Hans-CN", DEFAULT_A="rehearsal/oak")
    place.env(DISCORD__GUILD_IDS="12, 34", SLACK__MANAGERS="U1,U2")
    settings = load_settings()
    assert settings.options.topic == "Tea beats coffee {{ 7*7 }}"
    assert settings.options.vote_minutes == 0.5
    assert settings.options.language == "zh-Hans-CN"
    assert settings.default_a == Model.parse("rehearsal/oak")
    assert settings.discord.guild_ids == (12, 34)
    assert settings.slack.managers == ("U1", "U2")


def test_prices_take_pairs_and_objects(place: Place) -> None:
    place.env(
        BACKENDS__ONLINE__BASE_URL="https://example.org/v1",
        PRICES='{"Online/x": {"in": 0.3, "out": 1.2}, "online/y#z": [1, 2], '
        '"online/v": {"in": 3, "out": 15, "cached": 0.3, "written": 3.75}}',
    )
    assert load_settings().prices == {
        "online/x": Price(usd_in=0.3, usd_out=1.2),
        "online/y": Price(usd_in=1, usd_out=2),
        "online/v": Price(usd_in=3, usd_out=15, usd_cached=0.3, usd_written=3.75),
    }


def test_the_environment_wins_over_the_env_file_and_that_over_toml(place: Place) -> None:
    place.file("rostrum.toml", 'topic = "t"\nconditions = "t"\n[log]\nlevel = "error"\n')
    # An .env file may begin with a byte order mark.
    place.file(".env", "\ufeffROSTRUM_CONDITIONS='e e'\nROSTRUM_TOPIC=e\nOTHER=1\n")
    place.env(TOPIC="v")
    settings = load_settings()
    assert (settings.options.topic, settings.options.conditions, settings.log.level) == (
        "v",
        "e e",
        "error",
    )


def test_toml_takes_lists_and_tables(place: Place) -> None:
    place.file(
        "rostrum.toml",
        """
        models = ["box/a", "box/b"]
        [backends.Box]
        base_url = "http://127.0.0.1:9/v1"
        timeout_s = 7
        [prices]
        "box/a" = [1, 2.5]
        [discord]
        guild_ids = [5]
        [budget]
        debate_usd = "off"
        """,
    )
    settings = load_settings()
    assert [model.ref for model in settings.models] == ["box/a", "box/b"]
    assert settings.endpoints()[0].timeout_s == 7
    assert settings.prices["box/a"].usd_out == 2.5
    assert settings.discord.guild_ids == (5,)
    assert settings.budget.debate_usd is None


def test_backends_as_json_and_nested_are_one(place: Place) -> None:
    """And JSON in the environment wins over nested names in a file."""
    document = {"Local": {"base_url": "http://127.0.0.1:2/v1", "timeout_s": 5, "api_key": None}}
    place.env(BACKENDS=json.dumps(document), BACKENDS__LOCAL__TIMEOUT_S="9")
    place.env(BACKENDS__ONE__PRESET="vllm")
    nested = ("MAX_CONCURRENCY=3", "TIMEOUT_S=1", "BASE_URL=http://127.0.0.1:1/v1")
    place.file(".env", "\n".join(f"rostrum_backends__LOCAL__{line}" for line in nested))
    local, one = sorted(load_settings().endpoints(), key=lambda b: b.name)
    assert (local.name, one.name) == ("local", "one")
    given = (local.base_url, local.timeout_s, local.max_concurrency)
    assert given == ("http://127.0.0.1:2/v1", 9, 3)


def test_an_unknown_name_is_found_in_every_layer(place: Place) -> None:
    place.file("rostrum.toml", f'[discord]\ntokn = "{SECRET}"\n')
    assert "ROSTRUM_DISCORD__TOKN in rostrum.toml is not a setting" in place.refusal()
    place.file("rostrum.toml", "")
    place.file(".env", f"ROSTRUM_SLACK__BOT_TOKN={SECRET}\n")
    assert "ROSTRUM_SLACK__BOT_TOKN in .env is not a setting" in place.refusal()
    place.file(".env", "ROSTRUM_LOG__LEVEL=loud\n")
    assert place.refusal().startswith("ROSTRUM_LOG__LEVEL in .env must be debug, info,")
    place.file(".env", "")
    place.env(BACKENDS=json.dumps({"box": {"apikey": SECRET}}))
    assert "ROSTRUM_BACKENDS__BOX__API_KEY?" in place.refusal()
    place.env(BACKENDS="", QQQQQ="1")
    assert place.refusal() == ("ROSTRUM_QQQQQ is not a setting; .env.example lists every setting.")


VALUES = [
    ("LOG__FORMAT", "xml", " must be text or json."),
    ("SCORES", "never", " must be after_vote or live."),
    ("BLIND", "perhaps", " must be on or off."),
    ("DEFAULT_VOTE_MINUTES", "0", " must be between 0.001 and 10080."),
    ("DEFAULT_VOTE_MINUTES", "nan", " must be"),
    ("DEFAULT_QUORUM", "2.5", " must be a whole number."),
    ("SLACK__PORT", "99999", " must be between 0 and 65535."),
    ("DISCORD__GUILD_IDS", "1,x", ", entry 2, must be a whole number."),
    ("BUDGET__DEBATE_USD", "-1", " must be at least 0."),
    ("SAMPLING__JUROR__TEMPERATURE", "3", " must be between 0 and 2."),
    (
        "PANEL__RUBRIC",
        "vibes",
        " must be one of debate, answers, classic-six, evidence_first, truth, or a",
    ),
    ("DEFAULT_LANGUAGE", "Turkish", " must be a BCP-47 code"),
    ("DEFAULT_LANGUAGE", "qq", " must be a BCP-47 code"),
    ("MODELS", "llama", " names “llama”, which is not backend/model"),
    ("JURORS", "rehearsal/a,Rehearsal/a", " names rehearsal/a twice"),
    ("DEFAULT_B", "x", " names “x”, which is not backend/model"),
    ("DISCORD__API_URL", "discord", " must be an http or https address."),
    ("LOG", "debug", " is not valid JSON at line 1, column 1;"),
    ("BACKENDS", "[1]", " must be a JSON object"),
    ("BACKENDS", '{"x": "' + SECRET + '"}', "__X is not valid JSON"),
    ("PRICES", "{", " is not valid JSON"),
    ("PRICES", '{"rehearsal/a": 3}', " gives no price for “rehearsal/a”"),
    ("PRICES", '{"rehearsal/a": [1, -2]}', " gives no price for “rehearsal/a”"),
    ("TEMPLATES_DIR", "nowhere", " names nowhere, which is not a folder"),
    ("DEFAULT_FORMAT", "clasic", " is “clasic”; it must be one of classic,"),
    ("DEFAULT_VOTE_MINUTES", "1e-9", " must be between 0.001 and 10080."),
    ("STANCE_SECONDS", "0", " must be more than 0 and at most 86400."),
    ("DEFAULT_QUORUM", HUGE, " must be between 0 and 1000000."),
    ("CLASSIC__WORDS", HUGE, " must be between 1 and 1000000."),
    ("TEAM__FREE_MINUTES", "inf", " must be more than 0 and at most 1000000."),
    ("SAMPLING__JUROR__MAX_TOKENS", HUGE, " must be between 1 and 10000000."),
    ("BACKENDS__BOX__MAX_CONCURRENCY", HUGE, " must be between 1 and 1000000."),
    ("BACKENDS__LOCAL__TIMEOUT_S", "0", " must be more than 0 and at most 86400."),
    ("DISCORD__GUILD_IDS", "1,0", ", entry 2, must be at least 1."),
    ("TOPIC", "\udcff", " is not UTF-8 text; write it as UTF-8."),
    ("STRUCTURED__FEWEST", "6", " is 6, more than ROSTRUM_STRUCTURED__MOST, which is 5;"),
]


def test_a_rubric_is_read_from_a_file_or_that_is_refused(place: Place) -> None:
    for name, rubric in (("Classic-Six", CLASSIC_SIX), ("debate", DEBATE)):
        place.env(PANEL__RUBRIC=name)
        assert load_settings().panel.rubric is rubric
    begins = "ROSTRUM_PANEL__RUBRIC names mine.toml, "
    place.env(PANEL__RUBRIC="mine.toml")
    assert place.refusal() == f"{begins}which cannot be read: No such file or directory."
    place.file("mine.toml", "[[criteria]]\nname = 'wit'\nweight = -1")
    assert place.refusal().startswith(f"{begins}whose criterion 1 is wrong at “weight”: ")
    (place.folder / "mine.toml").write_bytes(b"\xff\xfe")
    assert place.refusal().startswith(f"{begins}which is not UTF-8 text")
    place.file("mine.toml", "[[criteria]]\nname = 'wit'\nhighest = 5")
    mine = some(load_settings().panel.rubric)
    assert (mine.name, [one.name for one in mine.criteria]) == ("mine", ["wit"])


@pytest.mark.parametrize(("name", "value", "said"), VALUES)
def test_a_wrong_value_is_refused(place: Place, name: str, value: str, said: str) -> None:
    place.env(**{name: value})
    assert place.refusal().startswith(f"ROSTRUM_{name}{said}")


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_postgresql_is_accepted(place: Place, scheme: str) -> None:
    place.env(DATABASE_URL=f"{scheme}://me:{SECRET}@db/x")
    assert load_settings().secrets() == {SECRET}


ONLINE = {"BACKENDS__ONLINE__PRESET": "vllm"}
APP = {"SLACK__CLIENT_ID": "1", "SLACK__CLIENT_SECRET": SECRET}
UNKNOWN = {
    "TOPIK": "ROSTRUM_TOPIC",
    "DISCORD__TOKN": "ROSTRUM_DISCORD__TOKEN",
    "DISCORD_TOKEN": "ROSTRUM_DISCORD__TOKEN",
    "BACKENDS__LOCAL__BASEURL": "ROSTRUM_BACKENDS__LOCAL__BASE_URL",
    "SAMPLING__JURER__TEMPERATURE": "ROSTRUM_SAMPLING__JUROR__TEMPERATURE",
    "BACKENDS____API_KEY": "ROSTRUM_BACKENDS____API_KEY",
    "TOPIC__MORE": "ROSTRUM_TOPIC",
}
DATABASES = {
    "sqlite:///x.db": "write sqlite+aiosqlite:///… instead",
    f"postgresql+asyncpg://me:{SECRET}@db/x": "write postgresql://… instead",
    f"mysql://me:{SECRET}@db/x": "must begin with sqlite+aiosqlite:///",
    "sqlite+aiosqlite:///": "must go on after sqlite+aiosqlite:///",
    "postgres://": "must go on after postgres://",
}
REFUSED = [
    *(
        ({name: SECRET}, f"ROSTRUM_{name} is not a setting; did you mean ROSTRUM_", close)
        for name, close in UNKNOWN.items()
    ),
    *(
        ({"DATABASE_URL": url}, "ROSTRUM_DATABASE_URL must", said)
        for url, said in DATABASES.items()
    ),
    ({"MODELS": "onlin/x", **ONLINE}, "ROSTRUM_MODELS names onlin/x", "did you mean online?"),
    ({"JURORS": "box/x"}, "ROSTRUM_JURORS names box/x", "set ROSTRUM_BACKENDS__BOX__BASE_URL."),
    ({"DEFAULT_A": "box/x"}, "ROSTRUM_DEFAULT_A names box/x", "no backend “box”"),
    ({"PRICES": '{"box/x": [1, 2]}'}, "ROSTRUM_PRICES names box/x", "no backend “box”"),
    ({"BACKENDS__REHEARSAL__API_KEY": SECRET}, "ROSTRUM_BACKENDS redefines “rehearsal”", "another"),
    ({"BACKENDS__BOX__API_KEY": SECRET}, "Backend “box” has no address", "BACKENDS__BOX__BASE_URL"),
    ({"BACKENDS__BOX__PRESET": "openrooter"}, "Backend “box” has the unknown", "openrouter?"),
    ({"BACKENDS__BOX__PRESET": "openai"}, "Backend “box” has no key", "BACKENDS__BOX__API_KEY"),
    ({"SLACK__BOT_TOKEN": SECRET}, "Slack in socket mode", "ROSTRUM_SLACK__APP_TOKEN"),
    ({"SLACK__BOT_TOKEN": SECRET, "SLACK__MODE": "http"}, "Slack", "ROSTRUM_SLACK__SIGNING_SECRET"),
    ({"SLACK__APP_TOKEN": SECRET}, "Slack", "ROSTRUM_SLACK__BOT_TOKEN"),
    ({"SLACK__CLIENT_SECRET": SECRET}, "Installing on Slack", "ROSTRUM_SLACK__CLIENT_ID"),
    ({"SLACK__CLIENT_ID": "1"}, "Installing on Slack", "ROSTRUM_SLACK__CLIENT_SECRET"),
    (
        {"SLACK__BOT_TOKEN": SECRET, **APP},
        "Slack is served either",
        "unset ROSTRUM_SLACK__BOT_TOKEN or",
    ),
    (
        {**APP, "SECRET_KEY": SECRET, "SLACK__MODE": "http"},
        "Slack with ROSTRUM_SLACK__MODE=http",
        "ROSTRUM_SLACK__SIGNING_SECRET",
    ),
    ({"SECRET_KEY": "0123456789abcdef,short"}, "ROSTRUM_SECRET_KEY has a key", "openssl rand"),
    (APP, "Installing on Slack", "ROSTRUM_SECRET_KEY"),
    ({"WEB__PORT": "8081"}, "Pages on the web need", "set ROSTRUM_WEB__URL and"),
    ({"WEB__URL": "https://web.example"}, "Pages on the web need", "ROSTRUM_WEB__PORT, or neither"),
    (
        {"WEB__URL": "https://web.example/below", "WEB__PORT": "8081"},
        "ROSTRUM_WEB__URL names more than a host",
        "https://debates.example",
    ),
    (
        {"WEB__URL": "https://web.example", "WEB__PORT": "8081", "HEALTH__PORT": "8081"},
        "ROSTRUM_WEB__PORT is also ROSTRUM_HEALTH__PORT",
        "choose another port",
    ),
    ({"WEB__SLACK_CLIENT_ID": "12.34"}, "Signing in with Slack needs two", "CLIENT_SECRET, or"),
    ({"WEB__MANAGERS": "slack:U1, ada"}, "ROSTRUM_WEB__MANAGERS names “ada”", "discord:USER or"),
]


@pytest.mark.parametrize(("variables", "beginning", "advice"), REFUSED)
def test_an_unknown_name_an_unusable_value_and_a_contradiction_are_refused_with_what_to_set(
    place: Place, variables: dict[str, str], beginning: str, advice: str
) -> None:
    place.env(**variables)
    sentence = place.refusal()
    assert sentence.startswith(beginning)
    assert advice in sentence


def test_a_file_that_cannot_be_read_is_refused(place: Place) -> None:
    place.file("rostrum.toml", f"token = {SECRET}")
    assert place.refusal().startswith("rostrum.toml is not valid TOML")
    (place.folder / "rostrum.toml").write_bytes(b'topic = "\xff"\n')
    assert place.refusal() == "rostrum.toml is not UTF-8 text; save it as UTF-8."
    place.file("rostrum.toml", "")
    (place.folder / ".env").write_bytes(b"ROSTRUM_TOPIC=\xff\n")
    assert place.refusal() == ".env is not UTF-8 text; save it as UTF-8."


def test_secrets_are_listed_for_redaction_and_never_printed(place: Place) -> None:
    place.env(
        BACKENDS__BOX__API_KEY="box-key",
        BACKENDS__BOX__BASE_URL="http://127.0.0.1:9/v1",
        DISCORD__TOKEN="discord-token",
        EXPORT__HMAC_KEY="hmac-key",
        SECRET_KEY="a-newer-secret-key, an-older-secret-key",
        DATABASE_URL="postgresql+psycopg://me:p%40ss@db/x?sslmode=require",
    )
    settings = load_settings()
    keys = {"box-key", "discord-token", "hmac-key", "p%40ss", "p@ss"}
    keys |= {"a-newer-secret-key", "an-older-secret-key"}
    assert settings.secrets() == keys
    printed = repr(settings.discord) + repr(settings.export) + repr(settings.database_url)
    assert not any(key in printed for key in keys)
