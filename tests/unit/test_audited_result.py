"""`audited`: what people read at the end, and the file of archetypes that they may edit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from engine.formats.audited.scoring import PRESSURES, TRAITS, Archetypes
from engine.prompts.library import load_prompts
from engine.values.errors import SettingsError
from engine.values.messages import Report, ScoreBoard
from engine.words.scores import board_lines
from tests.doubles.rehearsed import RehearsedDesk
from tests.unit.test_audited import (
    CALM,
    DRAW,
    SCORES,
    STRONG,
    Judge,
    adjustments,
    ahead_on_points,
    debate,
)

EVERY = [trait for group in TRAITS.values() for trait in group]


def read(desk: RehearsedDesk, key: str) -> str:
    """Return the text of a report of the end."""
    (message,) = [post.message for post in desk.held if post.key == f"audited/{key}"]
    assert isinstance(message, Report)
    return message.text


def board_of(desk: RehearsedDesk) -> ScoreBoard:
    """Return the scorecard."""
    (board,) = [post.message for post in desk.held if isinstance(post.message, ScoreBoard)]
    return board


async def test_each_line_of_the_scorecard_adds_up_to_its_total() -> None:
    exposed = {"turn": 1, "claim": "Smith 2031 says so.", "kind": "fabricated"}
    judge = Judge({"judge/absolute/4": {"scores": STRONG, "exposed": [exposed]}})
    judge["judge/pairwise/4"] = {"outcomes": DRAW | {"logic": "latest"}, "pressures": CALM}
    desk = await debate(judge)
    board = board_of(desk)
    assert board.columns == ("logic", "rhet.", "tact.", "total")
    for row in board.rows:
        *parts, total = (float(cell.rstrip("*")) for cell in row.cells)
        assert sum(parts) == pytest.approx(total)
    assert board.rows[0].cells == ("22.0*", "20.0", "20.0", "62.0")
    assert max(len(line) for line in board_lines(board) if line.startswith("|")) <= 40


async def test_what_is_stored_adds_up_to_what_is_shown() -> None:
    """The score as first given and every adjustment since: nothing was overwritten."""
    claim = {"claim": "Tea doubles output.", "kind": "hollow"}
    judge = Judge({"judge/absolute/1": {"scores": STRONG, "suspect": [claim]}})
    judge["judge/pairwise/2"] = {"outcomes": DRAW | {"logic": "latest"}, "pressures": CALM}
    desk = await debate(judge)
    assert board_of(desk).rows[0].cells == ("22.0*", "20.0", "20.0", "62.0")
    for turn, row in zip(desk.turns, board_of(desk).rows, strict=True):
        given = [s.value for s in desk.scores if (s.subject, s.criterion) == (turn.step, "total")]
        since = [a.amount for a in adjustments(desk) if a.subject == turn.step]
        assert sum(given) + sum(since) == pytest.approx(float(row.cells[-1]))


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        (ahead_on_points("none", "A"), "🔵 A is ahead."),
        (Judge(), "That is level."),
        (Judge({f"judge/absolute/{n}": "no json" for n in (2, 4)}), "no one is ahead."),
    ],
)
async def test_the_scorecard_says_who_is_ahead(judge: Judge, told: str) -> None:
    notes = board_of(await debate(judge)).notes
    assert notes[0].startswith("Mean of 100: 🔵 A ")
    assert told in notes[0]
    assert "a judge has a style of its own" in notes[2]


async def test_a_level_scorecard_and_a_story_with_a_winner_are_a_conflict_in_plain_words() -> None:
    desk = await debate(Judge({"judge/narrative": {"narrative": "Story.", "winner": "B"}}))
    asked = desk.said_to("judge/conflict")
    assert "has both sides level:" in asked
    assert "says that B held:" in asked
    desk = await debate(ahead_on_points("none", "tie"))
    assert "has A ahead:" in desk.said_to("judge/conflict")
    assert "says that neither side held:" in desk.said_to("judge/conflict")
    assert "**Held in the end:** neither" in read(desk, "narrative")


async def test_the_narrative_knows_no_score_and_no_directive() -> None:
    outcomes = dict.fromkeys(DRAW, "latest")
    pressed = {"outcomes": outcomes, "pressures": CALM | {"strategic": 3}}
    desk = await debate(Judge({"judge/pairwise/2": pressed}))
    for step in desk.asked:
        if step.startswith("judge/"):
            assert "eyes only" not in desk.said_to(step)
    assert not re.search(r"\b64(\.0)?\b", desk.said_to("judge/narrative"))


async def test_the_register_tells_suspect_claims_from_premises_that_were_given_up() -> None:
    judge = Judge()
    judge["judge/absolute/2"] = {
        "scores": SCORES,
        "suspect": [{"claim": "Tea cures.", "kind": "reversed_causality"}],
        "exposed": [{"turn": 1, "claim": "Smith 2031.", "kind": "fabricated"}],
    }
    premise = {"turn": 1, "premise": "People choose.", "kind": "dropped"}
    judge["judge/absolute/3"] = {"scores": SCORES, "premises": [premise]}
    assert read(await debate(judge), "register").splitlines() == [
        "- Turn 2, 🔴 B: reversed causality, “Tea cures.” (-2 logic; not answered)",
        "- Turn 1, 🔵 A: fabricated, “Smith 2031.”, shown by turn 2 (-2 logic; not answered)",
        "- Turn 1, 🔵 A: dropped, “People choose.”, in turn 3 (-1 logic)",
    ]
    assert read(await debate(), "register") == "Nothing was entered."


# --- the file of archetypes ------------------------------------------------------------


def test_four_archetypes_have_twelve_traits_and_each_pressure_moves_some() -> None:
    data = load_prompts().data("audited/archetypes", Archetypes)
    assert list(data.archetypes) == ["engineer", "philosopher", "strategist", "provocateur"]
    assert [len(group) for group in TRAITS.values()] == [4, 4, 4]
    assert all(list(traits) == EVERY for traits in map(_in_order, data.archetypes.values()))
    assert set(data.pressures) == set(PRESSURES)
    assert all(data.pressures.values())


def _in_order(traits: dict[str, float]) -> dict[str, float]:
    return {trait: traits[trait] for trait in EVERY if trait in traits}


@pytest.mark.parametrize(
    ("was", "becomes", "told"),
    [
        ("analytical_depth = 9\n", "", "engineer has to have the traits analytical_depth, "),
        ("analytical_depth = 9\n", "analytical_depth = 11\n", "less than or equal to 10"),
        ("analytical_depth = 9\n", "analytical_depth = 0\n", "greater than or equal to 1"),
        ("composure = -1", "temper = -1", "pressures names temper, which is no trait"),
        ("composure = -1", "composure = 0.5", "Input should be -1 or 1"),
        ("[conduct.empathy]", "[conduct.temper]", "conduct names temper, which is no trait"),
        ("[pressures.credibility]", "[pressures.fame]", "pressures has to hold cognitive, "),
    ],
)
def test_a_file_of_archetypes_that_cannot_be_is_refused(
    tmp_path: Path, was: str, becomes: str, told: str
) -> None:
    text = load_prompts().texts["audited/archetypes.toml"]
    assert was in text
    (tmp_path / "audited").mkdir()
    changed = text.replace(was, becomes, 1)
    (tmp_path / "audited" / "archetypes.toml").write_text(changed, encoding="utf-8")
    with pytest.raises(SettingsError, match=told):
        load_prompts(tmp_path).data("audited/archetypes", Archetypes)


async def test_a_directive_tells_only_what_changed_since_the_last_one() -> None:
    lost = {"outcomes": dict.fromkeys(DRAW, "latest"), "pressures": CALM | {"strategic": 1}}
    desk = await debate(Judge({"judge/pairwise/2": lost, "judge/pairwise/4": lost}), turns=7)
    told = {name: a.body["directive"] for name, a in desk.artifacts.items() if "directive" in name}
    assert list(told) == ["directive/3", "directive/5"]
    assert "- flexibility: 6.5 of 10, +0.5" in str(told["directive/3"])
    assert "- flexibility: 7.0 of 10, +0.5. Concede" in str(told["directive/5"])
    assert "For your eyes only" not in desk.asked["turn/exchange-4/A"][-1].content


@pytest.mark.parametrize("signal", [-3, 3])
async def test_traits_move_all_through_a_debate_and_stay_within_one_and_ten(signal: int) -> None:
    outcomes = dict.fromkeys(DRAW, "latest")
    told: dict[str, Any] = {"outcomes": outcomes, "pressures": dict.fromkeys(CALM, signal)}
    judge = Judge({f"judge/pairwise/{n}": told for n in range(2, 11)})
    desk = await debate(judge, turns=10, options={"elasticity": 1.0})
    ended: Any = desk.artifacts["traits"].body["ended"]
    values = [value for traits in ended.values() for value in traits.values()]
    assert (min(values), max(values)) == (1.0, 10.0)
    # The directive says what is left of a move after it was kept within.
    lines = [a.body["directive"] for name, a in desk.artifacts.items() if "directive/" in name]
    assert lines
    assert all(
        1 <= float(of) <= 10 for said in lines for of in re.findall(r"([\d.]+) of 10", str(said))
    )
