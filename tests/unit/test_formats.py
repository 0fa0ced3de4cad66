"""What holds for every format and every version of it, whatever its script."""

import re
from pathlib import Path
from typing import Any

import pytest

from engine.formats import FORMATS, Format, find_format, format_of, length_of
from engine.prompts import load_prompts
from engine.stage import Stage
from engine.stage.shapes import TurnLimits
from engine.values.debate import Request, Setup, TurnOrder
from engine.values.errors import ModelError, PausedError, StoreError, UsageError
from tests.doubles.rehearsed import RehearsedHost, hold, setup_for, survives_every_death

SMALL: dict[str, dict[str, Any]] = {
    "audited": {"options": {"turns": 4}},
    "team": {"limits": {"free_minutes": 1.2}},
    "roundtable": {"options": {"judges": 2}},
}
ENGINE = Path(__file__).parents[2] / "engine"
GARBAGE = "~~ %% 0x1F no answer {[ ~~"


def setup(format: str) -> Setup:
    return setup_for(format, **SMALL.get(format, {}))


@pytest.mark.parametrize(
    ("format", "options", "told"),
    [
        ("audited", {"turns": 1}, "turns is 1; it must be between 2 and 40."),
        ("audited", {"elasticity": 1.5}, "elasticity is 1.5; it must be between 0 and 1."),
        ("audited", {"archetypes": "engineer"}, "needs two archetypes"),
        (
            "audited",
            {"archetypes": "clown, engineer"},
            "no archetype “clown”; choose from engineer",
        ),
        ("team", {"personalities": "C1=logical"}, "no speaker “C1”"),
        ("team", {"personalities": "logical"}, "gives no personality"),
        ("team", {"personalities": "A1=shy"}, "no personality “shy”; choose from logical"),
        ("team", {"speed": 3}, "no option “speed”"),
        ("roundtable", {"agents": 10}, "agents is 10; it must be between 2 and 9."),
        ("roundtable", {"agents": 1}, "agents is 1; it must be between 2 and 9."),
        ("roundtable", {"seats": 3}, "no option “seats”; it has: agents, personas"),
        ("roundtable", {"agents": 2, "personas": "a, b, c"}, "3 personas are named for 2 agents"),
    ],
)
async def test_wrong_options_are_refused(
    format: str, options: dict[str, object], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        await hold(setup_for(format, options=options))


BRIEF = {"free_minutes": 0.8}


@pytest.mark.parametrize(
    ("format", "asked", "calls"),
    [
        ("oxford", {}, range(6, 7)),
        ("structured", {}, range(7, 8)),
        ("roundtable", {"options": {"judges": 2}}, range(11, 12)),
        ("audited", {"options": {"turns": 4}}, range(12, 99)),
        *(
            pytest.param("team", asked, range(31, 999), marks=pytest.mark.slow)
            for asked in (
                {"limits": {"free_minutes": 1.0}},
                {"limits": BRIEF, "options": {"concurrent": True}},
                {"limits": BRIEF, "options": {"notes": False}},
            )
        ),
    ],
)
async def test_killed_at_every_step_it_ends_the_same(
    format: str, asked: dict[str, Any], calls: range
) -> None:
    assert await survives_every_death(setup_for(format, **asked)) in calls


@pytest.mark.parametrize(
    "format",
    [pytest.param(name, marks=pytest.mark.slow if name == "team" else ()) for name in FORMATS],
)
async def test_a_model_that_dies_at_any_one_step_ends_it_clearly_or_not_at_all(format: str) -> None:
    """A debater that is down ends the debate with its error; a judge or captain never does."""
    clean = await hold(setup(format))
    for step in clean.stored:
        host = RehearsedHost(twist={step: ModelError("down")}.get)
        if step.startswith("turn/"):
            with pytest.raises(ModelError, match="down"):
                await hold(setup(format), host)
        else:
            await hold(setup(format), host)
            assert len(host.turns) >= len(clean.turns) - 2
            assert any(not artifact.valid for artifact in host.artifacts.values())


@pytest.mark.parametrize("format", FORMATS)
async def test_garbage_at_every_step_is_kept_marked_and_never_scored(format: str) -> None:
    host = await hold(setup(format), RehearsedHost(twist=lambda step: GARBAGE))
    assert {turn.text for turn in host.turns} == {GARBAGE}
    assert host.scores == []
    for note in host.notes:
        for verdict in note.verdicts.values():
            assert verdict.winner is None or verdict.rubric == "convergence"


@pytest.mark.parametrize("format", FORMATS)
async def test_no_model_is_named_in_a_prompt_or_post_and_the_words_are_the_same_again(
    format: str,
) -> None:
    frozen = setup(format)
    host = await hold(frozen)
    names = {model.name for model in (*frozen.request.speakers, *frozen.request.judges)}
    for step in host.asked:
        assert not [name for name in names if name in host.said_to(step)], step
    assert not [name for name in names if name in host.shown]
    assert (await hold(setup(format))).asked == host.asked


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("topic", ["{{ 7*7 }} {% raw %}", "</opponent> @everyone", "çay 茶 🍵"])
async def test_a_topic_is_data_in_every_prompt(format: str, topic: str) -> None:
    host = await hold(setup_for(format, topic=topic, **SMALL.get(format, {})))
    opening = next(iter(host.asked))
    assert topic in host.said_to(opening)


def test_each_has_its_templates_a_name_of_its_own_and_a_line_of_the_page() -> None:
    page = (ENGINE.parent / "docs" / "formats.md").read_text(encoding="utf-8")
    for name, script in FORMATS.items():
        assert find_format(name).name == name
        assert f"{name}/system" in load_prompts().only(name).texts
        assert f"| `{name}` |" in page
        for option in script.options.model_fields:
            assert f"`{option}=" in page, f"{name}: {option}"


def test_no_format_knows_where_it_is_held() -> None:
    platforms = re.compile(r"discord|slack|terminal|telegram", re.IGNORECASE)
    for folder in ("formats", "prompts"):
        for path in (ENGINE / folder).rglob("*.*"):
            if path.suffix in (".py", ".jinja", ".toml"):
                assert not platforms.search(path.read_text(encoding="utf-8")), path


class Toy(Format):
    """Each side speaks once."""

    name = "toy"
    version = 1
    turn_order = TurnOrder.SEQUENTIAL

    def rounds(self, request: Request) -> tuple[str, ...]:
        return ("opening",)

    def turns(self, request: Request) -> int:
        return 2

    def waves(self, request: Request) -> int:
        return 2

    async def run(self, stage: Stage) -> None:
        for side in "AB":
            await self.speak(stage, side)

    async def speak(self, stage: Stage, side: str) -> None:
        limits = TurnLimits(words=200)
        await stage.speak(side, "opening", template="toy/speech", limits=limits)


class NewToy(Toy):
    """It holds no debate of version 1 any more."""

    version = 2


def release(monkeypatch: pytest.MonkeyPatch, toy: Format) -> None:
    known = {**FORMATS, "toy": toy}
    for module in ("engine.formats", "engine.run.plan"):
        monkeypatch.setattr(f"{module}.FORMATS", known, raising=False)


def test_a_version_that_no_script_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    release(monkeypatch, Toy())
    setup = setup_for("toy")
    release(monkeypatch, NewToy())
    with pytest.raises(StoreError, match=r"version 1 of the format toy.*no longer has"):
        format_of(setup)
    assert length_of(setup) == 0
    with pytest.raises(PausedError, match="which a newer Rostrum has"):
        format_of(setup.model_copy(update={"format_version": 3}))
    for name, script in FORMATS.items():
        assert format_of(setup_for(name)) is script
