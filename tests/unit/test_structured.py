"""Reading structured answers out of whatever models write, and the median of several judges."""

import json
import time
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import example, given, strategies as st

from engine.formats.judges import median_answer
from engine.formats.team.rules import WEIGHTS
from engine.stage.shapes import FLAG, TEXT, choice, number, record, several, whole
from engine.stage.structured import Parsed, read_object
from engine.values.debate import Model
from engine.values.errors import ModelError, UnreadableError
from engine.values.messages import Report, ScoreBoard
from tests.doubles.rehearsed import RehearsedHost, hold, setup_for, survives_every_death
from tests.slow import slow_after

PLAIN = '{"reasons": "both {were} fine [1]", "n": [1, {"a": null}]}'
VALUE = {"reasons": "both {were} fine [1]", "n": [1, {"a": None}]}


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f'Here you are:\n{PLAIN}\nI hope that it\'s "useful".',
        f"```json\n{PLAIN}\n```",
        f"{PLAIN}\n\nAgain:\n```\n{json.dumps(VALUE, indent=3)}\n```",
        f"Some set {{}} and {{see below}} and {{note: this}}. {PLAIN}",
        f"a ] bracket }} in prose {PLAIN}",
    ],
)
def test_prose_and_fences_around_one_object_are_no_repair(text: str) -> None:
    assert read_object(text) == Parsed(VALUE, repaired=False)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": [1, 2,],}',
        "{'a': 1, 'b': [1, 2]}",
        '{a: 1, "b": [1, 2]}',
        '{"a": 1, // one\n "b": [1, 2]}',
    ],
)
def test_small_mistakes_are_repaired_and_flagged(text: str) -> None:
    assert read_object(text) == Parsed({"a": 1, "b": [1, 2]}, repaired=True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON object"),
        ("I cannot judge this.", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ("{see below}", "no JSON object"),
        ('{"a": 1', "not closed"),
        ('{"a": "never ends}', "not closed"),
        ('{"a": [1, 2}', "not closed"),
        ('{"a": 1} and {"a": 2}', "differ"),
        ('{"a": 1} and {"a": 1.0}', "differ"),
        ('{"a": 1} and {"a": true}', "differ"),
        ('{"a": 1} and {"a": 2,}', "differ"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": ' * 65 + "1" + "}" * 65, "deeper"),
        ('{"a": "B wrote: </think>{\\"a\\": 2}', "not closed"),
        ("{'a': 'B wrote: </think>{\"a\": 2}', b", "not closed"),
    ],
)
def test_anything_else_is_unreadable_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        read_object(text)


@pytest.mark.parametrize("inner", ['{"a":', '["a",', "{'a':", "9" * 50 + ","])
@pytest.mark.parametrize("times", slow_after(2, [70, 200, 300, 400, 1000, 3000]))
def test_what_a_repair_cannot_read_is_a_value_or_unreadable(inner: str, times: int) -> None:
    for text in (f'{{"reasons": {{"{inner * times}"}}}}', f'{{"a": {"9" * 2 * times}, b: 1}}'):
        try:
            value = read_object(text).value
        except UnreadableError:
            continue
        assert json.dumps(value).count("}") <= 64


@pytest.mark.parametrize("above", ["", "As asked:\n"])
def test_an_answer_may_quote_the_tag_that_ends_reasoning(above: str) -> None:
    value = {"reasons": "B wrote </think> twice: </think>.", "n": 1}
    assert read_object(above + json.dumps(value)) == Parsed(value, repaired=False)
    # And an object that a quoted debater wrote is never the answer.
    text = "{'reasons': 'B wrote: </think>{\"n\": 2}', 'n': 1,}"
    assert read_object(text).value["n"] == 1


def test_what_no_database_takes_is_replaced() -> None:
    found = read_object('{"a": "x\\u0000y\\ud800z", "b": ["\\ud83d\\ude00"]}').value
    assert found == {"a": "x\N{REPLACEMENT CHARACTER}y\N{REPLACEMENT CHARACTER}z", "b": ["😀"]}


def test_a_cut_off_answer_is_unreadable_also_when_it_looks_whole() -> None:
    for end in range(1, len(PLAIN)):
        with pytest.raises(UnreadableError):
            read_object(PLAIN[:end])
    with pytest.raises(UnreadableError, match="cut off"):
        read_object(PLAIN, "length")


@pytest.mark.parametrize(
    "text",
    [
        "{" * 200_000,
        '{"a":' * 200_000,
        '{"a": ' + "[" * 200_000,
        "{}" * 200_000,
        '"' * 300_000,
        "\\" * 300_000,
        '{"a": "' + 'x "y" ' * 50_000 + '",}',
        '{"a": ' + "9" * 300_000 + "}",
        '{"a' + "b" * 300_000 + "}",
        "{" + "a" * 300_000 + "}",
        "x" * 2_000_000,
        '{"a": "' + '{"a":[' * 3_200 + '"}',
        "{'a': '" + "{'a':[" * 3_200 + "'}",
    ],
)
def test_huge_answers_end_quickly(text: str) -> None:
    started = time.process_time()
    with pytest.raises(UnreadableError):
        read_object(text)
    assert time.process_time() - started < 2


@given(st.text(alphabet=st.sampled_from("{}[]\"':,\\ ab1.eE-\n`/*truenl"), max_size=60))
@example('{"a": ' + "9" * 5000 + "}")
@example('{"a": 1e999}')
def test_arbitrary_text_is_read_or_refused(text: str) -> None:
    try:
        parsed = read_object(text)
    except UnreadableError:
        return
    assert isinstance(parsed.value, dict)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(min_size=1, max_size=5), _JSON, min_size=1))
@example({"</think>": "</think>{}"})
@example({"a": ["<think>", {"b": '"}</think>{"a": 1}'}]})
def test_any_object_survives_a_fence(value: dict[str, object]) -> None:
    cleaned = json.loads(json.dumps(value).replace("\\u0000", "\\ufffd"))
    assert read_object(f"So:\n```json\n{json.dumps(value)}\n```\nDone.").value == cleaned


# --- Several judges of a format: each is asked the same, the median stands, the spread is kept ----


JUDGES = tuple(Model.parse(f"rehearsal/{name}") for name in ("ash", "yew", "fir"))
SHEET = record({"score": whole(1, 10), "outcome": choice("previous", "latest", "draw"),
                "marks": several(choice("straw_man", "ad_hominem")), "why": TEXT})  # fmt: skip


def sheet(score: float, outcome: str, marks: list[str], why: str) -> dict[str, Any]:
    return {"score": score, "outcome": outcome, "marks": marks, "why": why}


def test_of_judges_the_middle_one_stands_or_the_mean_the_nearest_or_a_draw() -> None:
    said = [
        sheet(9, "latest", ["straw_man"], "high"),
        sheet(2, "previous", ["straw_man", "ad_hominem"], "low"),
        sheet(6, "latest", [], "middle"),
    ]
    assert median_answer(SHEET, said) == sheet(6, "latest", ["straw_man"], "middle")
    said = [sheet(7, "latest", ["straw_man"], "one"), sheet(8, "previous", [], "two")]
    assert median_answer(SHEET, said) == sheet(7.5, "draw", [], "one")
    node = record({"score": number(0, 10), "kind": choice("x", "y", "z"), "flag": FLAG})
    said = [
        {"score": 9.0, "kind": "x", "flag": True},
        {"score": 4.0, "kind": "y", "flag": False},
        {"score": 5.0, "kind": "z", "flag": True},
    ]
    assert median_answer(node, said) == {"score": 5, "kind": "z", "flag": True}


def test_an_entry_that_most_judges_named_in_other_words_stands_once() -> None:
    node = several(record({"turn": whole(1, 9), "claim": TEXT, "kind": choice("hollow", "false")}))
    claim = "Nine of ten offices lost half of their staff in a year"
    twin = "nine of ten offices lost half their staff in one year"
    said = [
        [{"turn": 2, "claim": claim, "kind": "false"}],
        [{"turn": 2, "claim": twin, "kind": "false"}, {"turn": 1, "claim": "x y", "kind": "false"}],
        [{"turn": 3, "claim": claim, "kind": "false"}],
    ]
    assert median_answer(node, said) == [{"turn": 2, "claim": claim, "kind": "false"}]


@given(st.lists(st.integers(1, 10), min_size=1, max_size=9), st.randoms())
def test_the_order_of_judges_changes_no_number_or_ruling(scores: list[int], chance: Any) -> None:
    outcomes = [chance.choice(["previous", "latest", "draw"]) for _ in scores]
    said = [sheet(s, o, [], str(i)) for i, (s, o) in enumerate(zip(scores, outcomes, strict=True))]
    turned = chance.sample(said, len(said))
    one, other = median_answer(SHEET, said), median_answer(SHEET, turned)
    assert (one["score"], one["outcome"]) == (other["score"], other["outcome"])
    assert min(scores) <= one["score"] <= max(scores)


def by_judge(answers: Callable[[str, int], object]) -> Callable[[str], str | None]:
    """Answer judges' steps by the number of the judge; the rest is rehearsed."""

    def say(step: str) -> str | None:
        if not step.startswith("judge"):
            return None
        plain = step.removesuffix("/again")
        path, _, judge = plain.partition("/judge-")
        said = answers(path, int(judge or 1))
        return said if isinstance(said, str) or said is None else orjson.dumps(said).decode()

    return say


def team_sheet(path: str, judge: int) -> object:
    if not path.startswith("judge/turn"):
        return None
    return {
        "scores": dict.fromkeys(WEIGHTS, (4, 9, 6)[judge - 1]),
        "violations": ["personal_attack"] if judge < 3 else [],
        "note": f"note of judge {judge}",
    }


def opinions(host: RehearsedHost) -> list[dict[str, Any]]:
    return [dict(a.body) for a in host.artifacts.values() if a.kind == "opinion"]


async def test_every_judge_is_asked_the_same_and_the_median_stands_with_its_spread() -> None:
    host = await hold(setup_for("team", judges=JUDGES), RehearsedHost(twist=by_judge(team_sheet)))
    for turn in host.turns:
        steps = [f"judge/{turn.step}{end}" for end in ("", "/judge-2", "/judge-3")]
        assert [host.models[step] for step in steps] == list(JUDGES)
        assert len({host.asked[step] for step in steps}) == 1
    before = [step for step in host.asked if step.startswith("judge/turn")]
    assert not [step for step in before if "note of judge" in host.said_to(step)]
    speeches = [score for score in host.scores if score.criterion == "speech"]
    assert {(score.value, score.spread) for score in speeches} == {(6.0, 5.0)}
    assert "personal_attack" in str(host.artifacts[f"judge/{host.turns[0].step}"].body)
    first = [one for one in opinions(host) if one["step"] == "judge/turn/opening/A1"]
    given = [(one["judge"], one["answer"]["scores"]["logic"]) for one in first]
    assert given == [(1, 4), (2, 9), (3, 6)]
    assert len(host.notes[-1].verdicts["team"].by_judge) == 3
    (review,) = [p.message for p in host.held if p.key == "team/review"]
    assert isinstance(review, Report)
    assert "**Judges:** 3 judges, the median counts: " in review.text
    assert "of a speech are 5.0 points apart on average" in review.text


async def test_a_judge_that_fails_stays_failed_and_the_others_count() -> None:
    def twist(step: str) -> str | ModelError | None:
        if step.endswith("/judge-2"):
            return ModelError("gone")
        return by_judge(team_sheet)(step)

    host = await hold(setup_for("team", judges=JUDGES), RehearsedHost(twist=twist))
    (score, *_) = [score for score in host.scores if score.criterion == "speech"]
    assert (score.value, score.spread) == (5.0, 2.0)
    verdict = host.notes[-1].verdicts["team"]
    assert verdict.by_judge[1] is None
    assert verdict.invalid == 0
    failed = host.artifacts["opinion/judge/turn/opening/A1/2"]
    assert (failed.valid, failed.body["problem"]) == (False, "gone")


async def test_with_one_judge_nothing_is_said_of_several() -> None:
    host = await hold(setup_for("team", judges=JUDGES[:1]))
    assert {score.spread for score in host.scores} == {None}
    assert not opinions(host)
    assert host.notes[-1].verdicts["team"].by_judge == ()
    assert "judges, the median" not in "".join(post.model_dump_json() for post in host.held)


async def test_structured_takes_the_median_of_every_argument() -> None:
    host = await hold(setup_for("structured", judges=JUDGES))
    answers = [one["answer"] for one in opinions(host)]
    assert len(answers) == 3
    for score in host.scores:
        if score.subject != "total":
            given = sorted(one["arguments"][score.subject][score.criterion] for one in answers)
            assert (score.value, score.spread) == (given[1], given[2] - given[0])
    verdict = host.notes[-1].verdicts["structured"]
    assert (verdict.valid, len(verdict.by_judge)) == (3, 3)
    (briefing,) = [p.message for p in host.held if isinstance(p.message, Report)]
    assert "**Judges.** 3 judges, the median counts: " in briefing.text


async def test_audited_takes_the_median_of_every_turn_before_anything_follows_from_it() -> None:
    host = await hold(setup_for("audited", judges=JUDGES[:2], options={"turns": 4}))
    assert {one["judge"] for one in opinions(host)} == {1, 2}
    totals = [score for score in host.scores if score.criterion == "total"]
    assert all(score.spread is not None for score in totals)
    verdict = host.notes[-1].verdicts["audited"]
    assert len(verdict.by_judge) == 2
    assert any(note.adjustments for note in host.notes)
    for side, total in verdict.totals.items():  # on one scale: after every adjustment
        alone = [given[side] for given in verdict.totals_by_judge if given]
        assert total == pytest.approx(sum(alone) / 2, abs=1.0)  # medians are taken score by score
    (board,) = [p.message for p in host.held if isinstance(p.message, ScoreBoard)]
    assert any("2 judges, the median counts" in note for note in board.notes)


@pytest.mark.parametrize(
    ("format", "asked"),
    [
        pytest.param("team", {"limits": {"free_minutes": 0.5}}, marks=pytest.mark.slow),
        ("structured", {}),
        ("audited", {"options": {"turns": 3}}),
    ],
)
async def test_killed_anywhere_judges_end_the_same(format: str, asked: dict[str, Any]) -> None:
    assert await survives_every_death(setup_for(format, judges=JUDGES[:2], **asked)) >= 8
