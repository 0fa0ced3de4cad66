"""A model with its settings: how it is written, what it changes, and where it may stand."""

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.init.backends import Backends, _read_models
from bot.settings.load import load_settings
from engine.chat.invocation import parse_list
from engine.chat.settings import choose_model
from engine.series.spec import read_series
from engine.values.configuration import parse_model
from engine.values.debate import Model, Sampling
from engine.values.errors import SettingsError, UsageError
from engine.values.options import split_models
from engine.values.ports import Call, ChatMessage
from engine.values.topics import built_in_topics

VARIANTS = {
    "x-high": {"model": "online/x", "effort": "high", "note": "Think twice.", "extra": {"seed": 7}}
}
PLAIN = Sampling(temperature=0.7, max_tokens=500)


@pytest.mark.parametrize(
    ("text", "ref", "label", "family"),
    [
        ("online/x@effort=high,temperature=0", "online/x@effort=high,temperature=0", None, "x"),
        ("online/x@temperature=0.0 , effort=high", "online/x@effort=high,temperature=0", None, "x"),
        ("ONLINE/v/m@top_p=0.90#kin", "online/v/m@top_p=0.9", "top_p=0.9", "kin"),
        ("vertex/claude@20260101", "vertex/claude@20260101", "", "claude"),
        (
            "vertex/claude@20260101@max_tokens=900",
            "vertex/claude@20260101@max_tokens=900",
            None,
            "",
        ),
        ("rehearsal/maple?lean=2", "rehearsal/maple?lean=2", "", ""),
    ],
)
def test_settings_stand_behind_a_model_in_one_spelling(
    text: str, ref: str, label: str | None, family: str
) -> None:
    model = parse_model(text)
    assert model.ref == ref
    assert parse_model(model.ref).configuration == model.configuration
    assert label is None or model.label == label
    assert not family or model.family == family
    assert Model.model_validate_json(model.model_dump_json()) == model


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("efort=high", "“efort” is no setting of a model; there are effort, temperature"),
        ("temperature=3", "temperature of a model is “3”; write a number from 0 to 2."),
        ("temperature=warm", "temperature of a model is “warm”; write a number from 0 to 2."),
        ("effort=HIGH!", "effort of a model is “HIGH!”; write none, minimal, low, medium"),
        ("effort=hgh", "effort of a model is “hgh”; write none, minimal, low, medium, high, xhi"),
        ("max_tokens=0", "max_tokens of a model is “0”; write a whole number from 1 to 1,000,000."),
        ("top_p=", "top_p of a model is “”; write a number above 0, up to 1."),
        ("note=be kind", "note cannot be written behind a model; name a variant"),
        ("effort=low,effort=high", "effort stands twice behind a model; remove one."),
    ],
)
def test_a_setting_that_is_wrong_is_named_with_what_it_may_be(settings: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_model(f"online/x@{settings}")
    assert sentence in str(error.value)


def test_a_list_of_models_is_split_between_them_and_not_between_settings() -> None:
    text = "online/x@effort=high,temperature=0, online/y ,rehearsal/oak?lean=2"
    expected = ["online/x@effort=high,temperature=0", "online/y", "rehearsal/oak?lean=2"]
    assert split_models(text) == expected
    assert parse_list("jurors", text) == tuple(expected)


def test_init_takes_a_list_whose_models_have_settings() -> None:
    backends = cast(Backends, SimpleNamespace(listed={"online": None}, before={}))
    said = "online/x@effort=high,temperature=0, online/y"
    models = "online/x@effort=high,temperature=0,online/y"
    assert _read_models(said, 2, backends) == (models, [])


def test_it_changes_how_a_model_samples_and_what_it_reads_first() -> None:
    model = parse_model("online/x@effort=low,temperature=0,max_tokens=900")
    asked = ChatMessage(role="user", content="Argue.")
    call = Call("turn/A", model, (asked,), PLAIN)
    sampling = call.configured().sampling
    assert (sampling.temperature, sampling.max_tokens, sampling.effort) == (0, 900, "low")
    assert call.configured().messages == (asked,)
    plain = Call("turn/A", parse_model("online/x"), (asked,), PLAIN)
    assert plain.configured() is plain
    assert "top_p" not in PLAIN.model_dump(), "a record of a model as it comes is as before"
    assert set(plain.model.model_dump()) == {"backend", "name", "family"}


@pytest.fixture
def variants(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> dict[str, Model]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROSTRUM_BACKENDS", '{"online": {"base_url": "http://127.0.0.1:9/v1"}}')
    monkeypatch.setenv("ROSTRUM_VARIANTS", json.dumps(VARIANTS))
    monkeypatch.setenv("ROSTRUM_MODELS", "x-high, online/x@effort=low,temperature=0, online/y")
    settings = load_settings()
    assert [model.ref for model in settings.models] == [
        "online/x@x-high",
        "online/x@effort=low,temperature=0",
        "online/y",
    ]
    assert settings.jurors == settings.models
    return settings.variants


def test_a_variant_stands_wherever_a_model_may(variants: dict[str, Model]) -> None:
    model = variants["x-high"]
    call = Call("turn/A", model, (ChatMessage(role="user", content="Argue."),), PLAIN).configured()
    assert [one.content for one in call.messages] == ["Think twice.", "Argue."]
    assert (call.sampling.effort, call.sampling.extra) == ("high", {"seed": 7})
    for text in ("x-high", "X-High", "online/x@x-high"):
        assert choose_model(text, [model, parse_model("online/x")]) == model
    file = {"name": "s", "models": ["x-high", "online/x"], "jury": {"models": ["online/y"]}}
    series = read_series(file, built_in_topics(), (), variants)
    assert series.models == (model, parse_model("online/x"))


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"x": {"effort": "high"}}, "says nothing of x’s model"),
        ({"X Y": {"model": "online/x", "effort": "high"}}, "names “X Y”; use at most 40 small"),
        ({"x": {"model": "online/x"}}, "is wrong in x: It sets nothing"),
        ({"x": {"model": "online/x@effort=low", "effort": "high"}}, "has settings of its own"),
        ({"x": {"model": "online/x", "efort": "high"}}, "is wrong in x: “efort” is no setting"),
        ({"x": {"model": "nowhere", "effort": "high"}}, "is wrong in x: “nowhere” does not name"),
    ],
)
def test_a_variant_that_is_wrong_is_refused_by_its_name(
    entry: Any, sentence: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROSTRUM_VARIANTS", json.dumps(entry))
    with pytest.raises(SettingsError) as error:
        load_settings()
    assert sentence in str(error.value)
    assert "ROSTRUM_VARIANTS" in str(error.value)


def test_a_model_that_is_no_variant_is_refused_with_those_there_are(
    variants: dict[str, Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSTRUM_MODELS", "y-high")
    with pytest.raises(SettingsError, match="not backend/model or a variant: x-high"):
        load_settings()
