"""`team`: the order of speaking, the clock, captains, who reads what, and the judge beside it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import orjson
import pytest

from engine.formats.team.rules import WEIGHTS
from engine.values.debate import Model
from engine.values.errors import ModelError, UsageError
from engine.values.messages import Notice, Progress, Report, ScoreBoard, TurnPost
from engine.words.cards import card_of, progressed, turn_title
from tests.doubles.rehearsed import RehearsedDesk, hold, setup_for, survives_every_death
from tests.slow import slow_after

SHEET = {"scores": dict.fromkeys(WEIGHTS, 6), "violations": [], "note": "CANARY note"}
OPENING = ["A1", "B1"]
ASKED = ["A2", "B2", "A3", "B3"]


class Script(dict[str, Any]):
    """What is said at a step: speeches of `words` words, captains that send seat `sends`.

    `words` may differ between the teams, as a pair.
    """

    def __init__(
        self,
        given: dict[str, Any] | None = None,
        words: int | tuple[int, int] = 100,
        sends: str = "2",
    ):
        super().__init__(given or {})
        a, b = words if isinstance(words, tuple) else (words, words)
        self.words = {"A": a, "B": b}
        self.sends = sends

    def __call__(self, step: str) -> str | ModelError | None:
        said = self.get(step.removesuffix("/again"))
        if said is None:
            said = self._usual(step)
        if isinstance(said, str | ModelError):
            return said
        return orjson.dumps(said).decode()

    def _usual(self, step: str) -> object:
        kind, *rest = step.split("/")
        if kind == "turn":
            return f"Speech{rest[0]}{rest[1]} ".replace("-", "") + "word " * (
                self.words[rest[1][0]] - 1
            )
        if kind == "note":
            return {"message": f"NOTE of {rest[1]} in {rest[0]}"}
        if kind == "captain":
            return {"speaker": f"{rest[1]}{self.sends}", "direction": f"SECRET of {rest[1]}"}
        if rest[0] == "summary":
            return {"summary": "CANARY summary"}
        return {"review": "CANARY review"} if rest[0] == "review" else SHEET


async def debate(script: Script | None = None, **asked: Any) -> RehearsedDesk:
    """Hold a team debate in which everybody says what a script tells them."""
    return await hold(
        setup_for("team", **asked), RehearsedDesk(twist=Script() if script is None else script)
    )


def speakers(desk: RehearsedDesk, stage: str) -> list[str]:
    """Return who spoke in the rounds of a stage, in order."""
    return [turn.seat for turn in desk.turns if turn.round.startswith(stage)]


# --- order and clock -------------------------------------------------------------------


async def test_stages_have_their_order_and_budgets() -> None:
    desk = await debate()
    assert speakers(desk, "opening") == OPENING
    assert speakers(desk, "cross")[::2] == ASKED
    assert speakers(desk, "summary") == ["A1", "B1"]
    assert speakers(desk, "closing") == ["B4", "A4"]
    limits = {turn.round.split("-")[0]: turn.limit for turn in desk.turns}
    assert (limits["opening"], limits["summary"], limits["closing"]) == (750, 500, 750)
    crossed = [turn.limit for turn in desk.turns if turn.round.startswith("cross")]
    assert crossed == [125, 250] * 4


async def test_answers_come_from_seats_two_and_three_of_the_other_side() -> None:
    desk = await debate(Script(sends="3"))
    assert speakers(desk, "cross")[1::2] == ["B3", "A3", "B3", "A3"]
    assert "at least three pointed, numbered questions" in desk.said_to("turn/cross-1/A2")


async def test_a_team_speaks_for_four_minutes_in_turn_and_never_twice_running() -> None:
    desk = await debate(Script(words=125))
    free = [turn for turn in desk.turns if turn.round.startswith("free")]
    assert free[0].side == "A"
    assert all(before.side != after.side for before, after in pairwise(free))
    assert Counter(turn.side for turn in free) == {"A": 8, "B": 8}
    assert sum(turn.words for turn in free if turn.side == "A") == 1000


async def test_the_free_debate_ends_with_the_team_that_has_no_time_left() -> None:
    desk = await debate(Script(words=(150, 60)))
    free = [turn for turn in desk.turns if turn.round.startswith("free")]
    spoken = Counter(turn.side for turn in free)
    assert abs(spoken["A"] - spoken["B"]) <= 1
    notices = [post.message.text for post in desk.posts if isinstance(post.message, Notice)]
    (unused,) = [text for text in notices if "Unused" in text]
    left = 1000 - sum(turn.words for turn in free if turn.side == "B")
    assert f"B {round(60 * left / 250) // 60}:{round(60 * left / 250) % 60:02d}" in unused


async def test_speeches_of_a_few_words_do_not_spin_it_out() -> None:
    desk = await debate(Script(words=4))
    assert len(speakers(desk, "free")) <= 40


async def test_every_seat_speaks_at_least_once_whatever_the_captains_want() -> None:
    desk = await debate(Script(words=150, sends="2"))
    assert set(speakers(desk, "free")) == {f"{side}{n}" for side in "AB" for n in range(1, 5)}
    sent = [a.body for name, a in desk.artifacts.items() if name.startswith("captain/free")]
    forced = [body for body in sent if body["how"] == "precedence"]
    assert {body["chosen"] for body in forced} >= {"A1", "A3", "A4"}
    assert {body["wanted"] for body in forced} == {"A2", "B2"}


@pytest.mark.parametrize(
    ("a", "b"), slow_after(2, [(150, 60), (8, 90), (150, 150), (60, 150), (96, 85), (51, 149)])
)
async def test_a_silent_seat_is_not_cut_off_by_the_clock_of_either_team(a: int, b: int) -> None:
    """As long as nobody runs over time: the first team without any ends it for both."""
    for favourite in "14":
        desk = await debate(Script(words=(a, b), sends=favourite))
        assert len(set(speakers(desk, "free"))) == 8
        assert "did not speak" not in desk.shown


async def test_a_speaker_who_takes_the_time_of_silent_seats_is_cut_and_marked() -> None:
    """Time is kept for three more seats of the team, 150 words each: 550 of 1000 are left."""
    long = " ".join(f"word{n}" for n in range(1200))
    desk = await debate(Script({"turn/free-1/A2": long}))
    assert set(speakers(desk, "free")) == {f"{side}{n}" for side in "AB" for n in range(1, 5)}
    (turn,) = [turn for turn in desk.turns if turn.step == "turn/free-1/A2"]
    assert turn.text.endswith("word549…")
    assert (turn.words, turn.limit) == (550, 150)
    assert [(v.kind, v.measured, v.limit) for v in turn.violations] == [
        ("overtime", 1200, 150),
        ("cut", 1200, 550),
    ]
    assert desk.stored[turn.step].text == long
    assert "did not speak" not in desk.shown
    (post,) = [p.message for p in desk.posts if p.key == turn.step]
    assert "1200 words, cut after 550" in card_of(post).warnings[1]


async def test_every_seat_speaks_even_if_all_run_over() -> None:
    desk = await debate(Script(words=700, sends="2"))
    assert set(speakers(desk, "free")) == {f"{side}{n}" for side in "AB" for n in range(1, 5)}
    assert "did not speak" not in desk.shown


async def test_words_and_time_are_shown_and_overtime_is_not_sent_back() -> None:
    script = Script({"turn/opening/A1": "word " * 1000})
    desk = await debate(script)
    (post,) = [p.message for p in desk.posts if p.key == "turn/opening/A1"]
    assert isinstance(post, TurnPost)
    assert (post.words, post.limit, post.seconds, post.seconds_limit) == (1000, 750, 240, 180)
    assert [violation.kind for violation in post.violations] == ["overtime"]
    assert "turn/opening/A1/shorten" not in desk.asked
    lost = {a.subject: a.amount for note in desk.notes for a in note.adjustments}
    assert lost == {"A1": -2, "A": -3}


async def test_nobody_is_told_of_a_last_turn_before_the_clock_has_decided() -> None:
    desk = await debate(Script(words=60))
    turns = [post.message for post in desk.posts if isinstance(post.message, TurnPost)]
    assert len(turns) > 36
    assert turn_title(turns[0]) == "A1 · opening · turn 1"
    assert {turn.total for turn in turns} == {0}
    running = Progress(phase="running", turns=34, total=0)
    assert progressed(running, thread="#tea") == "🗣️ 34 turns posted in #tea"


async def test_cross_examination_and_closing_are_cooler_than_debate_and_judges_coldest() -> None:
    desk = await debate()
    warmth = {(turn.round.split("-")[0], desk.warmth[turn.step]) for turn in desk.turns}
    assert warmth == {
        ("opening", 0.7),
        ("cross", 0.5),
        ("summary", 0.5),
        ("free", 0.7),
        ("closing", 0.5),
    }
    assert {desk.warmth[step] for step in desk.asked if not step.startswith("turn/")} == {0.2}


async def test_the_clock_is_a_setting() -> None:
    limits = {"words_a_minute": 100.0, "free_minutes": 2.0, "free_speech_minutes": 0.5}
    desk = await debate(Script(words=40), limits=limits)
    assert desk.turns[0].limit == 300
    free = [turn for turn in desk.turns if turn.round.startswith("free")]
    assert free[0].limit == 50
    assert sum(turn.words for turn in free if turn.side == "A") == 200


# --- captains --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said", ["nonsense", {"speaker": "A9", "direction": "x"}, {}, ModelError("x")]
)
async def test_an_invalid_choice_falls_to_whoever_spoke_least(said: object) -> None:
    script = Script({f"captain/free-{n}/{side}": said for n in range(1, 40) for side in "AB"})
    script |= {f"captain/cross-{n}/{side}": said for n in range(1, 5) for side in "AB"}
    desk = await debate(script)
    assert speakers(desk, "cross")[1::2] == ["B2", "A2", "B3", "A3"]
    assert speakers(desk, "free")[:8] == ["A1", "B1", "A2", "B2", "A3", "B3", "A4", "B4"]
    kept = desk.artifacts["captain/free-1/A"]
    assert (kept.valid, kept.body["how"], kept.body["chosen"]) == (False, "fallback", "A1")
    assert kept.body["problem"]


async def test_a_captain_is_told_counts_silence_and_time() -> None:
    desk = await debate()
    prompt = desk.said_to("captain/free-3/A")
    assert "A2 1" in prompt
    assert "Not yet: A1, A3, A4." in prompt
    assert "time for 900 more words" in prompt
    assert "Speechfree2B2" in prompt
    assert desk.warmth["captain/free-3/A"] == 0.2


# --- notes -----------------------------------------------------------------------------


async def test_seats_write_to_their_team_before_its_captain_decides() -> None:
    desk = await debate()
    steps = list(desk.asked)
    notes = [f"note/free-3/A{n}" for n in (2, 3, 4)]
    assert [step for step in steps if step.startswith("note/free-3/")] == notes
    captain = desk.said_to("captain/free-3/A")
    for seat in ("A2", "A3", "A4"):
        assert f"[{seat}]\n> NOTE of {seat} in free-3" in captain
    assert steps.index(notes[-1]) < steps.index("captain/free-3/A")
    assert "NOTE of A4 in free-3" in desk.said_to("turn/free-3/A2")
    assert "in at most 30 words" in desk.said_to(notes[0])
    assert not any("NOTE" in desk.said_to(note) for note in notes if "free-1" in note)
    asked = [step for step in steps if step.startswith("note/cross-1/")]
    assert asked == ["note/cross-1/B2", "note/cross-1/B3"]
    kept = desk.artifacts["note/free-3/A4"]
    assert (kept.kind, kept.body["note"]) == ("note", "NOTE of A4 in free-3")


async def test_notes_wait_for_the_reveal_and_only_the_chosen_seats_is_shown_then() -> None:
    desk = await debate()
    assert "NOTE of" not in desk.shown
    (told,) = [p.message for p in desk.held if p.key == "team/captains"]
    assert isinstance(told, Report)
    assert "Free debate 3: 🔵 A chose A2. A2 had noted: “NOTE of A2 in free-3”" in told.text
    assert told.text.count("SECRET of A") == 1
    assert "NOTE of A3 in free-3" not in told.text


async def test_a_note_is_read_up_to_its_limit_and_kept_whole() -> None:
    long = " ".join(f"w{n}" for n in range(80))
    desk = await debate(Script({"note/free-1/A2": {"message": long}}))
    assert "w29…" in desk.said_to("captain/free-1/A")
    assert "w30" not in desk.said_to("captain/free-1/A")
    assert desk.artifacts["note/free-1/A2"].body["note"] == long


@pytest.mark.parametrize("said", ["nonsense", {"message": ""}, ModelError("x")])
async def test_without_a_note_the_captain_decides_all_the_same(said: object) -> None:
    script = Script({f"note/free-{n}/A{m}": said for n in range(1, 40) for m in range(1, 5)})
    desk = await debate(script)
    assert "NOTE of A" not in desk.said_to("captain/free-3/A")
    assert desk.artifacts["captain/free-3/A"].body["how"] == "captain"


async def test_notes_can_be_switched_off() -> None:
    desk = await debate(options={"notes": "off"})
    assert not [step for step in desk.asked if step.startswith("note/")]


# --- both teams at once ----------------------------------------------------------------


async def test_with_concurrent_both_teams_speak_at_once_and_are_posted_in_order() -> None:
    desk = RehearsedDesk(
        twist=Script(words=150), latency=lambda s: 0.02 if s == "turn/free-1/A2" else 0
    )
    await hold(setup_for("team", options={"concurrent": "on"}), desk)
    free = [turn for turn in desk.turns if turn.round.startswith("free")]
    assert [turn.side for turn in free] == list("AB") * (len(free) // 2)
    assert [turn.round for turn in free] == [f"free-{n}" for n in range(1, len(free) + 1)]
    assert len({turn.seat for turn in free}) == 8
    assert "Speechfree1A2" not in desk.said_to("turn/free-2/B2")
    assert "Speechfree1A2" not in desk.said_to("captain/free-2/B")
    later = next(turn for turn in free if turn.round == "free-4")
    assert "Speechfree1A2" in desk.said_to(later.step)
    steps = list(desk.asked)
    assert steps.index("turn/free-2/B2") == steps.index("turn/free-1/A2") + 1


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"concurrent": True}, {"notes": False}])
async def test_killed_at_every_step_it_ends_the_same_with_options(
    options: dict[str, object],
) -> None:
    limits = {"free_minutes": 0.8}
    assert await survives_every_death(setup_for("team", limits=limits, options=options)) > 30


async def test_stage_minutes_weights_and_penalties_are_frozen_with_the_debate() -> None:
    limits = {
        "opening_minutes": 1.0,
        "closing_minutes": 0.5,
        "weight_logic": 100.0,
        "penalty_overtime_seat": 7.0,
    }
    sheet = SHEET | {"scores": dict.fromkeys(WEIGHTS, 6) | {"logic": 9}}
    script = Script({"judge/turn/opening/A1": sheet, "turn/opening/A1": "word " * 300})
    desk = await debate(script, limits=limits)
    assert (desk.turns[0].limit, desk.turns[-1].limit) == (250, 125)
    (score,) = [s.value for s in desk.scores if s.criterion == "speech"][:1]
    assert score > 8.9
    lost = {a.subject: a.amount for note in desk.notes for a in note.adjustments}
    assert lost == {"A1": -7, "A": -3}


# --- who reads what --------------------------------------------------------------------


async def test_what_a_team_says_within_itself_reaches_no_other_prompt() -> None:
    desk = await debate()
    for step in desk.asked:
        kind, *rest = step.split("/")
        prompt = desk.said_to(step)
        side = rest[1][0] if kind in ("turn", "captain", "note") else ""
        for other in "AB":
            if other != side:
                assert f"SECRET of {other}" not in prompt, step
                assert f"NOTE of {other}" not in prompt, step
    assert "SECRET of A" in desk.said_to("turn/free-1/A2")


async def test_what_the_judge_notes_reaches_no_debater() -> None:
    desk = await debate()
    for step in desk.asked:
        if not step.startswith("judge/"):
            assert "CANARY" not in desk.said_to(step), step
    assert "6.00" in desk.said_to("judge/review")


async def test_a_seat_has_heard_all_that_was_public_and_itself_comes_last() -> None:
    desk = await debate()
    prompt = desk.asked["turn/summary/B1"][-1].content
    for number, seat in enumerate(ASKED, 1):
        assert f"Speechcross{number}{seat}" in prompt
    assert prompt.index("Speechcross1") < prompt.index("You are B1")
    systems = {desk.asked[step][0].content for step in desk.asked if step.startswith("turn/")}
    assert len(systems) == 1


async def test_personalities_can_be_set_by_seat() -> None:
    desk = await debate(options={"personalities": "A1=emotional, b2=diplomatic"})
    assert "Your way of arguing is emotional" in desk.said_to("turn/opening/A1")
    assert "Your way of arguing is diplomatic" in desk.said_to("turn/cross-2/B2")
    assert "Your way of arguing is logical" in desk.said_to("turn/opening/B1")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"personalities": "C1=logical"}, "no speaker “C1”"),
        ({"personalities": "logical"}, "gives no personality"),
        ({"speed": 3}, "no option “speed”"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        setup_for("team", options=options)


async def test_an_unknown_personality_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="no personality “shy”; choose from logical"):
        await debate(options={"personalities": "A1=shy"})


async def test_models_are_set_by_seat_by_team_and_for_the_judge() -> None:
    named = {name: Model.parse(f"rehearsal/{name.lower()}") for name in ("A", "A3", "B", "Judge")}
    models = {"A": named["A"], "B": named["B"], "A3": named["A3"]}
    desk = await debate(models=models, judges=(named["Judge"],))
    assert desk.models["turn/opening/A1"] == named["A"]
    assert desk.models["turn/cross-3/A3"] == named["A3"]
    assert desk.models["turn/opening/B1"] == named["B"]
    assert desk.models["judge/turn/opening/A1"] == named["Judge"]
    alike = setup_for("team", options={"one_model": True}).request
    assert len(set(alike.sides.values())) == 1


# --- the judge -------------------------------------------------------------------------


async def test_scoring_runs_beside_the_next_speech() -> None:
    desk = RehearsedDesk(
        twist=Script(), latency=lambda s: 0.02 if s.startswith("judge/turn") else 0
    )
    await hold(setup_for("team"), desk)
    assert desk.most_talking >= 3


async def test_scores_and_totals_are_kept_and_computed_by_us() -> None:
    desk = await debate(Script({"judge/review": {"review": "B won 99 to 0.", "winner": "B"}}))
    speeches = [s for s in desk.scores if s.criterion == "speech"]
    assert len(speeches) == len(desk.turns)
    assert all(s.value == pytest.approx(6.0) for s in speeches)
    totals: dict[str, Any] = dict(desk.artifacts["totals"].body)
    spoken = Counter(turn.side for turn in desk.turns)
    kept = {(score.subject, score.side, score.criterion): score.value for score in desk.scores}
    for side in "AB":
        assert kept["total", side, "mean"] == pytest.approx(6.0)
    assert kept["total", "A", "team"] == pytest.approx(6.0 * spoken["A"])
    assert kept["A2", "A", "individual"] == pytest.approx(6.0 * speakers(desk, "").count("A2"))
    assert totals["teams"] == {side: pytest.approx(6.0 * spoken[side]) for side in "AB"}
    verdict = desk.notes[-1].verdicts["team"]
    assert (verdict.valid, verdict.blind) == (len(desk.turns), False)


@pytest.mark.parametrize(
    "said", ["nonsense", {"scores": {}}, SHEET | {"violations": ["rude"]}, ModelError("x")]
)
async def test_a_speech_that_cannot_be_scored_has_no_score(said: object) -> None:
    step = "turn/opening/A1"
    desk = await debate(Script({f"judge/{step}": said}))
    assert not [score for score in desk.scores if score.subject == step]
    assert not desk.artifacts[f"judge/{step}"].valid
    assert desk.notes[-1].verdicts["team"].invalid == 1
    (board,) = [post.message for post in desk.held if isinstance(post.message, ScoreBoard)]
    assert "1 speech could not be scored." in board.notes


async def test_reports_in_cross_examination_cost_and_others_are_shown() -> None:
    script = Script()
    asked = SHEET | {"violations": ["counter_question", "off_topic"]}
    script["judge/turn/cross-1/B2"] = asked
    script["judge/turn/free-1/A2"] = asked
    desk = await debate(script)
    lost = [(a.subject, a.amount) for note in desk.notes for a in note.adjustments]
    assert lost == [("B2", -2)]
    (board,) = [post.message for post in desk.held if isinstance(post.message, ScoreBoard)]
    assert "🔴 B2 in cross-examination 1: counter question, off topic (🔴 B2 -2)." in board.notes
    assert "🔵 A2 in free debate 1: counter question, off topic." in board.notes


async def test_all_judging_waits_for_the_vote() -> None:
    desk = await debate()
    for canary in ("CANARY", "SECRET", "Scoreboard"):
        assert canary not in desk.shown
    assert [post.key for post in desk.held] == ["scoreboard", "team/review", "team/captains"]
    review = desk.held[1].message
    assert isinstance(review, Report)
    assert "CANARY review" in review.text
    assert "Best debater" in review.text
    assert "CANARY summary" in review.text
    assert "SECRET of A" in desk.held[2].model_dump_json()
    stages = [p.message.text for p in desk.posts if p.key.startswith("stage/")
              and isinstance(p.message, Notice)]  # fmt: skip
    assert [text.split(": ")[1] for text in stages] == [
        "opening",
        "cross-examination",
        "free debate",
        "closing",
    ]


async def test_a_live_scoreboard_is_one_message_that_is_edited() -> None:
    desk = await debate(scores="live")
    boards = [post for post in desk.posts if isinstance(post.message, ScoreBoard)]
    assert len(boards) == len(desk.turns)
    assert (boards[0].key, boards[0].target) == ("scoreboard", None)
    assert {post.target for post in boards[1:]} == {"scoreboard"}


async def test_a_score_that_takes_long_does_not_change_the_order_of_scores() -> None:
    slow = "judge/turn/opening/A1"
    desk = RehearsedDesk(twist=Script(), latency=lambda step: 0.05 if step == slow else 0.0)
    await hold(setup_for("team", scores="live"), desk)
    boards = [post for post in desk.posts if isinstance(post.message, ScoreBoard)]
    spoken = [turn.step for turn in desk.turns]
    assert [board.key for board in boards] == [
        "scoreboard",
        *(f"scoreboard/{step}" for step in spoken[1:]),
    ]


@pytest.mark.parametrize(("words", "flagged"), [((90, 90), False), ((90, 100), True)])
async def test_sum_and_mean_that_disagree_are_flagged(
    words: tuple[int, int], flagged: bool
) -> None:
    desk = await debate(Script(words=words))
    spoken = Counter(turn.side for turn in desk.turns)
    assert spoken["A"] - spoken["B"] == flagged  # whose clock runs out first speaks less often
    (board,) = [post.message for post in desk.held if isinstance(post.message, ScoreBoard)]
    assert any("disagree" in note for note in board.notes) is flagged
    assert {row.cells[-1] for row in board.rows if row.cells[0] != "0"} == {"6.00"}
    totals = desk.artifacts["totals"].body
    assert (totals["winner"], totals["mean_winner"]) == ("A" if flagged else "tie", "tie")


@pytest.mark.parametrize("language", ["tr", "zh"])
async def test_the_rehearsal_models_hold_it_in_other_languages(language: str) -> None:
    desk = await hold(setup_for("team", language=language))
    assert 24 <= len(desk.turns) <= 54
    assert not [turn for turn in desk.turns if turn.violations]


@pytest.mark.slow
async def test_killed_at_every_step_it_ends_the_same() -> None:
    limits = {"free_minutes": 1.0}
    assert await survives_every_death(setup_for("team", limits=limits)) > 30
