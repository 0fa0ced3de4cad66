"""Templates: overridden file by file, checked at start, and never fed as templates what is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.floor.shapes import TurnLimits
from engine.formats.roundtable.roundtable import Personas
from engine.prompts.library import JUDGED, SPOKEN, Prompts, load_prompts
from engine.values.errors import SettingsError
from tests.kit import ScriptedDesk, floor_on, setup_of


def override(folder: Path, name: str, text: str) -> Path:
    """Write one template into a folder of overrides."""
    path = folder / f"{name}.jinja"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return folder


def test_an_override_replaces_its_file_and_no_other(tmp_path: Path) -> None:
    built_in = load_prompts()
    changed = load_prompts(override(tmp_path, "classic/a/opening", "Open on {{ topic }}!"))
    assert changed.render("classic/a/opening", topic="tea") == "Open on tea!"
    others = {name for name, text in changed.texts.items() if text == built_in.texts[name]}
    assert others == set(built_in.texts) - {"classic/a/opening"}
    assert changed.digest != built_in.digest
    assert load_prompts().digest == built_in.digest


def test_a_file_that_is_no_template_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert load_prompts(tmp_path).texts == load_prompts().texts


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (
            "classic/a/openning",
            "x",
            r"classic/a/openning\.jinja .*replaces none.*classic/a/opening",
        ),
        ("opening", "x", r"opening\.jinja .*replaces none"),
        ("classic/a/opening", "{{ topic", r"classic/a/opening\.jinja cannot be read.*Correct it"),
        ("classic/a/opening", "{% if %}", r"classic/a/opening\.jinja cannot be read"),
        ("classic/b/closing", "{{ topc }}", r"uses topc, which .*it may use .*topic"),
        ("jury/retry", "{{ names }}", r"jury/retry\.jinja uses names.*it may use answers, problem"),
        ("jury/system", "{{ opposing }}", r"jury/system\.jinja uses opposing"),
    ],
)
def test_a_wrong_override_is_refused_at_start(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    with pytest.raises(SettingsError, match=why):
        load_prompts(override(tmp_path, name, text))


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"ROSTRUM_TEMPLATES_DIR is .*which is not a folder"):
        load_prompts(tmp_path / "nowhere")


def test_an_override_that_is_not_text_is_refused(tmp_path: Path) -> None:
    override(tmp_path, "classic/system", "")
    (tmp_path / "classic" / "system.jinja").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match=r"system\.jinja cannot be read"):
        load_prompts(tmp_path)


@pytest.mark.parametrize("folder", ["classic/a/rebuttal", "jury/ballot"])
def test_every_documented_variable_may_be_used(tmp_path: Path, folder: str) -> None:
    given = JUDGED if folder.startswith("jury/") else SPOKEN
    text = " ".join(f"{{{{ {name} }}}}" for name in sorted(given))
    assert load_prompts(override(tmp_path, folder, text)).texts[folder] == text


@pytest.mark.parametrize(
    "text", ["{{ limits.sentences }}", "{{ limits.words / 0 }}", "{{ topic | shout }}"]
)
def test_a_template_that_fails_while_it_is_filled_in_is_named(text: str) -> None:
    prompts = Prompts({"classic/a/opening": text})
    with pytest.raises(SettingsError, match=r"classic/a/opening\.jinja cannot be filled in"):
        prompts.render("classic/a/opening", topic="tea", limits=TurnLimits(words=3))


@pytest.mark.parametrize(
    "said", ["{{ 7*7 }}", "{% raw %}", "{# gone #}", "{{ topic }}", '{"a": 1}', "<b>&amp;"]
)
async def test_what_people_and_models_say_is_never_a_template(said: str) -> None:
    desk = ScriptedDesk(lambda step: said)
    floor = floor_on(desk, setup_of(topic=f"Topic {said}", conditions=f"Bound {said}"))
    for round_name in ("opening", "rebuttal"):
        await floor.speak(
            "A",
            round_name,
            template=f"classic/a/{round_name}",
            limits=TurnLimits(words=100, arguments=3),
            opposing=f"Against {said}",
        )
    opening, rebuttal = (call.last for call in desk.asked)
    assert f"Motion:\n> Topic {said}\n" in opening
    assert f"both sides accept:\n> Bound {said}\n" in opening
    assert f"said last:\n> Against {said}\n" in rebuttal


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("personas = [", r"roundtable/personas\.toml cannot be used"),
        ("\x00", r"roundtable/personas\.toml cannot be used"),
    ],
)
def test_a_data_file_that_cannot_be_read_is_refused_at_start(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "roundtable").mkdir()
    (tmp_path / "roundtable/personas.toml").write_text(text)
    with pytest.raises(SettingsError, match=why):
        load_prompts(tmp_path)


def test_a_data_file_can_be_replaced_and_counts_in_the_digest(tmp_path: Path) -> None:
    (tmp_path / "roundtable").mkdir()
    mine = '[personas]\ncook = "a cook who has to feed forty"\n'
    (tmp_path / "roundtable/personas.toml").write_text(mine)
    changed = load_prompts(tmp_path)
    assert changed.data("roundtable/personas", Personas).personas == {
        "cook": "a cook who has to feed forty"
    }
    assert changed.digest != load_prompts().digest


def test_a_data_file_of_another_form_is_named_when_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "roundtable").mkdir()
    (tmp_path / "roundtable/personas.toml").write_text("people = 3\n")
    with pytest.raises(SettingsError, match=r"roundtable/personas\.toml cannot be used.*personas"):
        load_prompts(tmp_path).data("roundtable/personas", Personas)
