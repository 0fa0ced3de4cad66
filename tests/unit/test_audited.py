"""`audited`: how turns are scored and docked, and how debaters change under pressure."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, strategies as st

from engine.formats import find_format
from engine.formats.audited.scores import (
    DRAW_MOST,
    LEAST_LEAD,
    LOSER_MOST,
    PRESSURES,
    SCALES,
    TRAITS,
    WINNER_LEAST,
    Archetypes,
    Outcome,
    _TraitConduct,
    direct,
    find_bands,
    loser_of,
    move_traits,
    settle,
    total_points,
)
from engine.prompts import load_prompts
from engine.values.errors import ModelError, SettingsError
from engine.values.messages import Arc, Report, ScoreBoard
from engine.values.verdicts import Adjustment
from engine.words.scores import board_lines
from tests.doubles.rehearsed import RehearsedHost, hold, setup_for

SCORES: dict[str, float] = {
    "cause": 6,
    "process": 6,
    "consequence": 6,
    "premise_addressed": 6,
    "framing": 5,
    "clarity": 5,
    "resonance": 5,
    "delivery": 5,
    "tactics": 20,
    "frame_control": 7,
    "credibility": 8,
}
# What every speech holds, so that a judge may quote it.
CLAIMS = (
    "Tea doubles output. Smith 2031 says so. People drink what is there. Tea cures. People choose."
)
REFUSED = {
    str(place): {"answered": False, "why": "It says nothing of it."} for place in range(1, 9)
}
DRAW = dict.fromkeys(SCALES, "draw")
CALM = dict.fromkeys(("cognitive", "emotional", "strategic", "credibility"), 0)


def answer(step: str) -> dict[str, Any]:
    """Return what a judge without a preference says at a step."""
    match step.split("/")[1]:
        case "absolute":
            return {"scores": SCORES, "suspect": []}
        case "pairwise":
            return {"outcomes": DRAW, "pressures": CALM}
        case "narrative":
            return {"narrative": "CANARY story", "winner": "tie"}
        case "convergence":
            return {"reason": "CANARY reason", "outcome": "degree_disagreement"}
        case _:
            return {"explanation": "CANARY conflict", "pattern": "asymmetric_depth"}


class Judge(dict[str, Any]):
    """What the judge says at a step; whatever is not told has no preference."""

    def __call__(self, step: str) -> str | ModelError | None:
        if not step.startswith("judge/"):
            return f"Speech {step}. {CLAIMS}"
        said = self.get(step.removesuffix("/again"), None) or answer(step)
        if isinstance(said, str | ModelError):
            return said
        if "absolute" in step:
            said = {"appeals": REFUSED} | said
        return orjson.dumps(said).decode()


async def debate(judge: Judge | None = None, turns: int = 4, **asked: Any) -> RehearsedHost:
    options = {"turns": turns} | asked.pop("options", {})
    setup = setup_for("audited", options=options, **asked)
    return await hold(setup, RehearsedHost(twist=judge or Judge()))


def adjustments(host: RehearsedHost) -> list[Adjustment]:
    return [adjustment for note in host.notes for adjustment in note.adjustments]


def score(host: RehearsedHost, turn: int, criterion: str) -> tuple[float, float | None]:
    step = host.turns[turn - 1].step
    (found,) = [s for s in host.scores if (s.subject, s.criterion) == (step, criterion)]
    return found.value, found.original


async def test_two_debaters_alternate_and_the_judge_follows_each_turn() -> None:
    host = await debate(turns=5)
    assert [turn.seat for turn in host.turns] == list("ABABA")
    assert [turn.round for turn in host.turns] == [f"exchange-{n}" for n in (1, 1, 2, 2, 3)]
    judged = [step for step in host.asked if step.startswith("judge/")]
    assert judged[:3] == ["judge/absolute/1", "judge/absolute/2", "judge/pairwise/2"]
    assert "judge/pairwise/1" not in judged
    script = find_format("audited")
    assert len(script.rounds(setup_for("audited", options={"turns": 5}).request)) == 3
    assert script.turns(setup_for("audited").request) == 10
    assert len(script.rounds(setup_for("audited").request)) == 5
    # Both kinds of scoring run at the same time.
    slow = RehearsedHost(twist=Judge(), latency=lambda step: 0.01 if "judge/" in step else 0.0)
    await hold(setup_for("audited", options={"turns": 3}), slow)
    assert slow.most_talking == 2


async def test_convergence_is_looked_at_from_ten_turns_on() -> None:
    assert "judge/convergence" not in (await debate(turns=9)).asked
    host = await debate(turns=10)
    prompt = host.said_to("judge/convergence")
    assert "[turn 1, A]" in prompt
    assert "[turn 10, B]" in prompt
    assert "[turn 5, A]" not in prompt
    assert '"degenerate": both end up defending the same thing' in prompt
    assert host.artifacts["convergence"].body["outcome"] == "degree_disagreement"
    assert "CANARY" not in host.shown
    assert [post.key for post in host.held] == [
        f"audited/{name}" for name in ("board", "arc", "register", "narrative", "drift")
    ]
    verdict = host.notes[-1].verdicts["audited"]
    assert (verdict.winner, verdict.valid, verdict.invalid, verdict.blind) == ("tie", 10, 0, False)


@pytest.mark.parametrize(
    ("framing", "delivery", "expected"), [(2.9, 7.0, 4.0), (3.0, 7.0, 7.0), (2.0, 3.5, 3.5)]
)
def test_a_turn_has_forty_thirty_and_thirty_points_and_delivery_little_without_framing(
    framing: float, delivery: float, expected: float
) -> None:
    points = total_points(SCORES | {"framing": framing, "delivery": delivery})
    assert points.values["delivery"] == expected
    assert points.originals == ({"delivery": delivery} if expected != delivery else {})
    points = total_points(SCORES)
    assert [points.values[name] for name in SCALES] == [24, 20, 20]
    assert points.total == 64


@pytest.mark.parametrize(
    ("dimension", "previous", "latest", "outcome", "expected"),
    [
        ("logic", 20, 10, "latest", (20, 22)),  # a winner has 55 % at least, and 2 more
        ("logic", 30, 25, "latest", (23, 25)),
        ("logic", 36, 38, "latest", (34, 38)),  # a loser has 85 % at most
        ("logic", 30, 10, "previous", (30, 10)),
        ("rhetoric", 10, 12, "latest", (10, 16.5)),
        ("tactics", 10, 12, "previous", (16.5, 12)),
        ("tactics", 29, 28.5, "previous", (29, 25.5)),
        ("logic", 20, 30, "draw", (26, 30)),  # a draw is within 10 %
        ("logic", 20, 23, "draw", (20, 23)),
        ("tactics", 20, 10, "draw", (13, 10)),
    ],
)
def test_scores_move_to_the_nearest_edge_of_their_band(
    dimension: str, previous: float, latest: float, outcome: Outcome, expected: tuple[float, float]
) -> None:
    bands = find_bands(SCALES[dimension], [outcome])
    assert settle([previous, latest], bands) == pytest.approx(expected)


@given(
    st.sampled_from(sorted(SCALES)),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from(["previous", "latest", "draw"]),
)
def test_every_pair_ends_within_its_bands(
    dimension: str, first: float, second: float, outcome: Outcome
) -> None:
    scale = SCALES[dimension]
    previous, latest = settle([first * scale, second * scale], find_bands(scale, [outcome]))
    assert 0 <= min(previous, latest) <= max(previous, latest) <= scale
    if outcome == "draw":
        assert abs(previous - latest) <= DRAW_MOST * scale + 1e-9
        return
    winner, loser = (latest, previous) if outcome == "latest" else (previous, latest)
    assert winner >= WINNER_LEAST * scale - 1e-9
    assert loser <= LOSER_MOST * scale + 1e-9
    assert winner - loser >= LEAST_LEAD - 1e-9


async def test_what_the_judge_said_and_what_the_bands_make_of_it_are_both_kept() -> None:
    low = SCORES | {"cause": 1, "process": 1}
    judge = Judge({"judge/absolute/2": {"scores": low, "suspect": []}})
    judge["judge/pairwise/2"] = {"outcomes": DRAW | {"logic": "latest"}, "pressures": CALM}
    host = await debate(judge)
    assert [score(host, turn, "logic") for turn in (1, 2)] == [(24, None), (14, None)]
    moved = {a.name: (a.subject, a.criterion, a.amount) for a in adjustments(host)}
    assert moved == {
        "calibration/1/logic": (host.turns[0].step, "logic", -4),
        "calibration/2/logic": (host.turns[1].step, "logic", 8),
    }
    board = host.waiting(ScoreBoard)
    assert [row.cells[0] for row in board.rows] == ["20.0*", "22.0*", "24.0", "24.0"]
    # The first turn has nothing before it, and was scored before it had a second.
    assert [row.name for row in board.rows] == ["A1°", "B2°", "A3", "B4"]
    assert all(s.original is None for s in host.scores if s.subject == host.turns[0].step)


@pytest.mark.parametrize(
    ("kind", "penalty"),
    [("hollow", -1), ("fabricated", -2), ("inverted_fact", -2), ("reversed_causality", -2)],
)
async def test_a_suspect_claim_docks_its_own_turn(kind: str, penalty: float) -> None:
    claim = {"claim": "Tea doubles output.", "kind": kind}
    judge = Judge({"judge/absolute/3": {"scores": SCORES, "suspect": [claim]}})
    host = await debate(judge, scores="live")
    lines = [post for post in host.posts if post.key.startswith("score/")]
    assert len(lines) == 4
    said = f"Turn 3, 🔵 A: {kind.replace('_', ' ')}, “Tea doubles output.”"
    assert said in lines[2].model_dump_json()
    (docked,) = adjustments(host)
    assert (docked.amount, docked.criterion) == (penalty, "logic")
    assert docked.subject == docked.by == host.turns[2].step


async def test_what_a_failure_costs_is_a_setting_that_a_debate_keeps() -> None:
    said = [
        {"claim": "Tea doubles output.", "kind": "hollow"},
        {"claim": "Tea cures.", "kind": "fabricated"},
    ]
    premise = {"turn": 1, "premise": "People drink what is there.", "kind": "dropped"}
    judge = Judge({"judge/absolute/1": {"scores": SCORES, "suspect": said}})
    judge["judge/absolute/3"] = {"scores": SCORES, "premises": [premise]}
    limits = {"penalty_hollow": 2.0, "penalty_fabricated": 0.0, "penalty_dropped": 1.5}
    host = await debate(judge, limits=limits)
    docked = [(a.amount, a.reason.partition(":")[0]) for a in adjustments(host)]
    assert docked == [(-2, "hollow"), (-1.5, "dropped")]
    told = {post.key: post.message.model_dump_json() for post in host.held}
    assert "(-2 logic; not answered)" in told["audited/register"]
    assert "(-1.5 logic)" in told["audited/register"]
    assert "fabricated, “Tea cures.”" in told["audited/register"]
    assert "A1 60 (-3.5)" in told["audited/arc"]


async def test_a_later_turn_docks_an_earlier_one_and_its_score_stays_as_it_was() -> None:
    exposed = {"turn": 1, "claim": "Smith 2031 says so.", "kind": "fabricated"}
    told = {"scores": SCORES, "suspect": [], "exposed": [exposed]}
    host = await debate(Judge({"judge/absolute/4": told}))
    (docked,) = adjustments(host)
    assert (docked.subject, docked.by) == (host.turns[0].step, host.turns[3].step)
    assert (docked.side, docked.amount) == ("A", -2)
    assert score(host, 1, "total") == (64, None)
    arc = host.waiting(Arc)
    assert [(p.score, p.docked) for p in arc.points] == [(62, -2), (64, 0), (64, 0), (64, 0)]
    assert "A1 62 (-2)" in arc.alt


async def test_the_same_claim_is_docked_once_also_in_fewer_words() -> None:
    hollow = {"claim": "Tea doubles output.", "kind": "hollow"}
    judge = Judge({"judge/absolute/1": {"scores": SCORES, "suspect": [hollow, hollow]}})
    again = {"turn": 1, "claim": "Tea doubles output.", "kind": "fabricated"}
    said = {"turn": 1, "claim": "Smith 2031 says so.", "kind": "fabricated"}
    judge["judge/absolute/2"] = {"scores": SCORES, "exposed": [again, said]}
    fewer = said | {"claim": "“Smith 2031 …”"}
    judge["judge/absolute/4"] = {"scores": SCORES, "exposed": [fewer, said | {"turn": 3}]}
    docked = [(a.subject, a.amount) for a in adjustments(await debate(judge))]
    first, third = "turn/exchange-1/A", "turn/exchange-2/A"
    assert docked == [(first, -1), (first, -2), (third, -2)]


@pytest.mark.parametrize(("kind", "penalty"), [("dropped", -1), ("contradicted", -2)])
async def test_a_premise_given_up_is_entered_with_both_turns(kind: str, penalty: float) -> None:
    premise = {"turn": 1, "premise": "People drink what is there.", "kind": kind}
    told = {"scores": SCORES, "suspect": [], "premises": [premise]}
    host = await debate(Judge({"judge/absolute/3": told}))
    (docked,) = adjustments(host)
    assert (docked.subject, docked.amount) == (host.turns[0].step, penalty)
    entries = host.artifacts["register"].body["entries"]
    assert entries == [
        {
            "turn": 1,
            "side": "A",
            "kind": kind,
            "text": "People drink what is there.",
            "exposed_by": 3,
            "penalty": penalty,
            "found": True,
            "appeal": "",
        }
    ]


async def test_a_claim_that_its_turn_does_not_hold_docks_nothing_and_is_marked() -> None:
    near = {"turn": 1, "claim": "People always drink what is there!", "kind": "hollow"}
    made_up = {"turn": 2, "claim": "Coffee causes floods in most towns.", "kind": "fabricated"}
    told = {"scores": SCORES, "exposed": [near, made_up]}
    host = await debate(Judge({"judge/absolute/3": told}))
    (docked,) = adjustments(host)
    assert (docked.subject, docked.amount) == (host.turns[0].step, -1)
    body: Any = host.artifacts["register"].body
    assert [(e["found"], e["penalty"]) for e in body["entries"]] == [(True, -1), (False, 0)]
    (post,) = [post for post in host.held if post.key == "audited/register"]
    assert "most towns.”, shown by turn 3 (not found in that turn, so nothing is docked)" in str(
        post
    )


@pytest.mark.parametrize("answered", [True, False])
async def test_a_sides_next_turn_may_answer_what_it_was_docked_for_once(answered: bool) -> None:
    exposed = {"turn": 1, "claim": "Smith 2031 says so.", "kind": "fabricated"}
    judge = Judge({"judge/absolute/2": {"scores": SCORES, "exposed": [exposed]}})
    appeals = REFUSED | {"1": {"answered": answered, "why": "Its pages are named."}}
    judge["judge/absolute/3"] = {"scores": SCORES, "appeals": appeals}
    host = await debate(judge, turns=6)
    asked = host.said_to("turn/exchange-2/A")
    assert "in doubt" in asked
    assert "> - turn 1, fabricated: “Smith 2031 says so.”" in asked
    assert "Smith 2031 says so.”" in str(host.artifacts["directive/3"].body["doubts"])
    assert "\n1:\n> turn 1, fabricated: Smith 2031 says so.\n" in host.said_to("judge/absolute/3")
    amounts = [(a.name, a.amount) for a in adjustments(host)]
    assert amounts == [("register/2/1", -2), *([("appeal/3/1", 2)] if answered else [])]
    assert host.waiting(Arc).points[0].score == (64 if answered else 62)
    for later in ("turn/exchange-2/B", "turn/exchange-3/A", "turn/exchange-3/B"):
        assert "in doubt" not in host.asked[later][-1].content
    for number in (4, 5, 6):
        assert '"appeals"' not in host.said_to(f"judge/absolute/{number}")
    assert "Smith 2031" not in str([post for post in host.posts if "exchange" not in post.key])


async def test_a_claim_docked_in_its_own_turn_is_answered_in_the_sides_next_one() -> None:
    claim = {"claim": "Tea doubles output.", "kind": "hollow"}
    judge = Judge({"judge/absolute/2": {"scores": SCORES, "suspect": [claim]}})
    appeals = {"1": {"answered": True, "why": "It says how."}}
    judge["judge/absolute/4"] = {"scores": SCORES, "appeals": appeals}
    host = await debate(judge)
    assert "in doubt" not in host.said_to("turn/exchange-2/A")
    assert "in doubt" in host.said_to("turn/exchange-2/B")
    assert [a.amount for a in adjustments(host)] == [-1, 1]
    judge["judge/absolute/4"] = {"scores": SCORES, "appeals": {}}
    asked = (await debate(judge)).asked["judge/absolute/4/again"][-1].content
    assert "appeals.1 is missing" in asked


MOOD = {"evidence": 5.0, "intensity": 9.0, "calm": 2.0}
PUSHES = {"cognitive": {"evidence": 1}, "emotional": {"intensity": 1, "calm": -1}}


@pytest.mark.parametrize(
    ("signals", "elasticity", "expected"),
    [
        ({"cognitive": 3}, 0.5, {"evidence": 6.5, "intensity": 9.0, "calm": 2.0}),
        ({"cognitive": -3}, 1.0, {"evidence": 2.0, "intensity": 9.0, "calm": 2.0}),
        ({"emotional": 3}, 1.0, {"evidence": 5.0, "intensity": 10.0, "calm": 1.0}),
        ({"cognitive": 3, "emotional": 3}, 0.0, MOOD),
    ],
)
def test_a_trait_moves_by_pressure_times_elasticity_within_one_and_ten(
    signals: Mapping[str, int], elasticity: float, expected: dict[str, float]
) -> None:
    assert move_traits(MOOD, signals, PUSHES, elasticity) == expected


def test_a_directive_names_what_changed_and_what_to_do_differently_and_nothing_else() -> None:
    assert direct(MOOD, MOOD | {"evidence": 6.5}, {}) == "- evidence: 6.5 of 10, +1.5"
    assert direct(MOOD, MOOD, {}) == ""
    conduct = {"evidence": _TraitConduct(more="Reach for evidence.", less="Leave figures aside.")}
    more, less = (direct(MOOD, MOOD | {"evidence": 5 + by}, conduct) for by in (1, -1))
    assert more == "- evidence: 6.0 of 10, +1.0. Reach for evidence."
    assert less == "- evidence: 4.0 of 10, -1.0. Leave figures aside."


@pytest.mark.parametrize(
    ("won", "lost"),
    [
        (("latest", "latest", "previous"), "previous"),
        (("previous", "draw", "draw"), "latest"),
        (("latest", "previous", "draw"), None),
        (("draw", "draw", "draw"), None),
    ],
)
def test_whoever_lost_most_dimensions_lost(won: tuple[Outcome, ...], lost: Outcome | None) -> None:
    assert loser_of(dict(zip(SCALES, won, strict=True))) == lost


async def test_the_loser_gets_a_hidden_directive_last_in_its_next_message() -> None:
    outcomes = dict.fromkeys(SCALES, "latest")
    pressed = {"outcomes": outcomes, "pressures": CALM | {"strategic": 3}}
    judge = Judge({"judge/pairwise/2": pressed})
    assert "For your eyes only" not in (await debate(judge, scores="live")).shown
    host = await debate(judge)
    asked = host.asked["turn/exchange-2/A"][-1].content
    assert "flexibility: 7.5 of 10, +1.5" in asked
    assert "Concede small points openly" in asked
    assert asked.index("For your eyes only") > asked.index("At most 250 words.")
    assert "For your eyes only" not in host.said_to("turn/exchange-2/B")
    assert "For your eyes only" not in host.said_to("turn/exchange-1/A")
    assert "flexibility" in str(host.artifacts["directive/3"].body["directive"])
    assert host.artifacts["drift/2"].body["side"] == "A"
    assert "The debaters adapt" in host.posts[0].model_dump_json()
    for hidden in ("flexibility", "Concede small points", "engineer"):
        assert hidden not in host.shown
    assert "A, engineer: flexibility 6 → 7.5" in read(host, "drift")
    assert "B, philosopher: not at all" in read(host, "drift")
    for step in host.asked:
        if step.startswith("judge/"):
            assert "eyes only" not in host.said_to(step)
    assert not re.search(r"\b64(\.0)?\b", host.said_to("judge/narrative"))
    # Each is told its character first, and not that of the other.
    assert "engineer (analytical depth 9" in host.said_to("turn/exchange-1/A")
    assert "philosopher (" in host.said_to("turn/exchange-1/B")
    assert "philosopher" not in host.said_to("turn/exchange-2/A")


async def test_each_side_has_an_elasticity_of_its_own_and_a_draw_presses_nobody() -> None:
    pressed = {"outcomes": dict.fromkeys(SCALES, "latest"), "pressures": CALM | {"strategic": 2}}
    judge = Judge({f"judge/pairwise/{number}": pressed for number in (2, 3)})
    judge["judge/pairwise/4"] = {"outcomes": DRAW, "pressures": dict.fromkeys(CALM, 3)}
    host = await debate(judge, options={"elasticity": "0.25, 1"})
    drift: Any = [host.artifacts[f"drift/{number}"].body for number in (2, 3)]
    moved = [body["after"]["flexibility"] - body["before"]["flexibility"] for body in drift]
    assert [body["side"] for body in drift] == ["A", "B"]
    assert moved == [0.5, 2.0]
    assert "drift/4" not in host.artifacts


STRONG = SCORES | {"cause": 9, "process": 9, "consequence": 9}


def ahead_on_points(pattern: str, story: str) -> Judge:
    """Return a judge whose scores have A ahead, whose story has another, and why."""
    judge = Judge({f"judge/absolute/{n}": {"scores": STRONG, "suspect": []} for n in (1, 3)})
    wins = {2: "previous", 3: "latest", 4: "previous"}
    for number, outcome in wins.items():
        outcomes = DRAW | {"logic": outcome}
        judge[f"judge/pairwise/{number}"] = {"outcomes": outcomes, "pressures": CALM}
    judge["judge/narrative"] = {"narrative": "CANARY story", "winner": story}
    judge["judge/conflict"] = {"explanation": "CANARY conflict", "pattern": pattern}
    return judge


@pytest.mark.parametrize(
    "pattern", ["coherence_collapse", "asymmetric_depth", "convergence_failure", "none"]
)
async def test_a_story_that_disagrees_with_the_scorecard_is_explained(pattern: str) -> None:
    host = await debate(ahead_on_points(pattern, "B"))
    assert host.notes[-1].verdicts["audited"].winner == "A"
    assert host.artifacts["narrative"].body["winner"] == "B"
    assert host.artifacts["conflict"].body["pattern"] == pattern
    told = read(host, "narrative")
    assert "CANARY conflict" in told
    assert (pattern.replace("_", " ") in told) is (pattern != "none")
    assert "A ahead" in host.said_to("judge/conflict")


@pytest.mark.parametrize(
    "said",
    [
        "no json",
        {"scores": SCORES | {"cause": 11}},
        {"scores": SCORES | {"cause": True}},
        {"scores": {}},
        {"scores": SCORES, "suspect": [{"claim": "x", "kind": "silly"}]},
        {"scores": SCORES, "exposed": [{"turn": 3, "claim": "x", "kind": "hollow"}]},
        {"scores": SCORES, "premises": [{"turn": 2, "premise": "x", "kind": "dropped"}]},
        ModelError("down"),
    ],
)
async def test_a_turn_that_cannot_be_scored_has_no_score(said: object) -> None:
    host = await debate(Judge({"judge/absolute/3": said}))
    assert not [s for s in host.scores if s.subject == host.turns[2].step]
    kept = host.artifacts["absolute/3"]
    assert not kept.valid
    assert kept.body["problem"]
    verdict = host.notes[-1].verdicts["audited"]
    assert (verdict.valid, verdict.invalid) == (3, 1)
    assert host.waiting(Arc).points[2].score is None


async def test_a_judge_that_is_unreadable_moves_nothing_and_one_that_is_down_gives_no_verdict() -> (
    None
):
    wrong = {"outcomes": {"logic": "both"}, "pressures": CALM}
    host = await debate(Judge({f"judge/pairwise/{n}": wrong for n in (2, 3, 4)}))
    assert adjustments(host) == []
    assert all(score.original is None for score in host.scores)
    assert not host.artifacts["pairwise/2"].valid
    steps = [f"judge/{kind}/{n}" for kind in ("absolute", "pairwise") for n in range(1, 5)]
    host = await debate(Judge(dict.fromkeys([*steps, "judge/narrative"], ModelError("down"))))
    verdict = host.notes[-1].verdicts["audited"]
    assert (verdict.winner, verdict.problem) == (None, "no turn of one side has a score")
    assert (host.scores, len(host.turns)) == ([], 4)


@pytest.mark.parametrize(
    "topic", ["Tea beats coffee", "Museums should be free", "Trains are better"]
)
@pytest.mark.parametrize("scores", ["after_vote", "live"])
async def test_no_stored_score_contradicts_a_comparison_in_the_end(topic: str, scores: str) -> None:
    """What was stored, added up as an export adds it up, against every comparison."""
    host = await hold(setup_for("audited", topic=topic, scores=scores))
    stands = {(s.subject, s.criterion): s.value for s in host.scores}
    for change in adjustments(host):
        stands[change.subject, change.criterion] += change.amount
    steps = [turn.step for turn in host.turns]
    for number in range(2, 11):
        outcomes: Any = host.artifacts[f"pairwise/{number}"].body["outcomes"]
        for dimension, scale in SCALES.items():
            previous, latest = (stands[steps[at], dimension] for at in (number - 2, number - 1))
            match outcomes[dimension]:
                case "draw":
                    assert abs(previous - latest) <= DRAW_MOST * scale + 1e-5
                case won:
                    winner, loser = (latest, previous) if won == "latest" else (previous, latest)
                    assert winner >= WINNER_LEAST * scale - 1e-5
                    assert winner > loser
                    assert loser <= LOSER_MOST * scale + 1e-5


# --- `audited`: what each prompt is built from, and what the judge is told to go by ---------------


TURNS = [f"turn/exchange-{n}/{side}" for n in (1, 2, 3) for side in "AB"]
CLAIM = {"claim": "CANARY claim", "kind": "hollow"}


async def test_nothing_that_the_judge_says_reaches_a_debater_but_a_directive() -> None:
    judge = Judge({f"judge/absolute/{n}": {"scores": SCORES, "suspect": [CLAIM]} for n in (1, 2)})
    host = await debate(judge, turns=6)
    for step in TURNS:
        assert "CANARY" not in host.said_to(step)
        assert "64" not in host.said_to(step)
    assert "CANARY claim" not in host.said_to("judge/absolute/1")
    assert "turn 1, hollow: CANARY claim" in host.said_to("judge/absolute/2")


# --- `audited`: what people read at the end, and the file of archetypes that they may edit --------


EVERY = [trait for group in TRAITS.values() for trait in group]


def read(host: RehearsedHost, key: str) -> str:
    (message,) = [post.message for post in host.held if post.key == f"audited/{key}"]
    assert isinstance(message, Report)
    return message.text


async def test_each_line_of_the_scorecard_adds_up_and_so_does_what_is_stored() -> None:
    """The score as first given and every adjustment since: nothing was overwritten."""
    exposed = {"turn": 1, "claim": "Smith 2031 says so.", "kind": "fabricated"}
    judge = Judge({"judge/absolute/4": {"scores": STRONG, "exposed": [exposed]}})
    judge["judge/pairwise/4"] = {"outcomes": DRAW | {"logic": "latest"}, "pressures": CALM}
    host = await debate(judge)
    board = host.waiting(ScoreBoard)
    assert board.columns == ("logic", "rhet.", "tact.", "total")
    assert board.rows[0].cells == ("22.0*", "20.0", "20.0", "62.0")
    assert max(len(line) for line in board_lines(board) if line.startswith("|")) <= 40
    for turn, row in zip(host.turns, board.rows, strict=True):
        *parts, total = (float(cell.rstrip("*")) for cell in row.cells)
        assert sum(parts) == pytest.approx(total)
        given = [s.value for s in host.scores if (s.subject, s.criterion) == (turn.step, "total")]
        since = [a.amount for a in adjustments(host) if a.subject == turn.step]
        assert sum(given) + sum(since) == pytest.approx(total)


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        (ahead_on_points("none", "A"), "🔵 A is ahead."),
        (Judge(), "That is level."),
        (Judge({f"judge/absolute/{n}": "no json" for n in (2, 4)}), "no one is ahead."),
    ],
)
async def test_the_scorecard_says_who_is_ahead_and_a_story_that_agrees_is_no_conflict(
    judge: Judge, told: str
) -> None:
    host = await debate(judge)
    notes = host.waiting(ScoreBoard).notes
    assert notes[0].startswith("Mean of 100: 🔵 A ")
    assert told in notes[0]
    assert "a judge has a style of its own" in notes[2]
    assert "judge/conflict" not in host.asked
    assert "conflict" not in host.artifacts


async def test_a_level_scorecard_and_a_story_with_a_winner_are_a_conflict_in_plain_words() -> None:
    host = await debate(Judge({"judge/narrative": {"narrative": "Story.", "winner": "B"}}))
    asked = host.said_to("judge/conflict")
    assert "has both sides level:" in asked
    assert "says that B held:" in asked
    host = await debate(ahead_on_points("none", "tie"))
    assert "has A ahead:" in host.said_to("judge/conflict")
    assert "says that neither side held:" in host.said_to("judge/conflict")
    assert "**Held in the end:** neither" in read(host, "narrative")


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
def test_wrong_archetypes_are_refused(tmp_path: Path, was: str, becomes: str, told: str) -> None:
    text = load_prompts().texts["audited/archetypes.toml"]
    assert was in text
    (tmp_path / "audited").mkdir()
    changed = text.replace(was, becomes, 1)
    (tmp_path / "audited" / "archetypes.toml").write_text(changed, encoding="utf-8")
    with pytest.raises(SettingsError, match=told):
        load_prompts(tmp_path).data("audited/archetypes", Archetypes)


async def test_a_directive_tells_only_what_changed_since_the_last_one() -> None:
    lost = {"outcomes": dict.fromkeys(DRAW, "latest"), "pressures": CALM | {"strategic": 1}}
    host = await debate(Judge({"judge/pairwise/2": lost, "judge/pairwise/4": lost}), turns=7)
    told = {name: a.body["directive"] for name, a in host.artifacts.items() if "directive" in name}
    assert list(told) == ["directive/3", "directive/5"]
    assert "- flexibility: 6.5 of 10, +0.5" in str(told["directive/3"])
    assert "- flexibility: 7.0 of 10, +0.5. Concede" in str(told["directive/5"])
    assert "For your eyes only" not in host.asked["turn/exchange-4/A"][-1].content


@pytest.mark.parametrize("signal", [-3, 3])
async def test_traits_move_all_through_a_debate_and_stay_within_one_and_ten(signal: int) -> None:
    outcomes = dict.fromkeys(DRAW, "latest")
    told: dict[str, Any] = {"outcomes": outcomes, "pressures": dict.fromkeys(CALM, signal)}
    judge = Judge({f"judge/pairwise/{n}": told for n in range(2, 11)})
    host = await debate(judge, turns=10, options={"elasticity": 1.0})
    ended: Any = host.artifacts["traits"].body["ended"]
    values = [value for traits in ended.values() for value in traits.values()]
    assert (min(values), max(values)) == (1.0, 10.0)
    # The directive says what is left of a move after it was kept within.
    lines = [a.body["directive"] for name, a in host.artifacts.items() if "directive/" in name]
    assert lines
    assert all(
        1 <= float(of) <= 10 for said in lines for of in re.findall(r"([\d.]+) of 10", str(said))
    )
