"""`team`: the order of speaking, the clock, captains, who reads what, and the judge beside it."""

from collections import Counter
from itertools import pairwise
from typing import Any

import orjson
import pytest

from engine.formats.team.rules import WEIGHTS
from engine.values.debate import Model
from engine.values.errors import ModelError
from engine.values.messages import Notice, Progress, Report, ScoreBoard, TurnPost
from engine.words.cards import card_of, turn_title
from engine.words.progress import progressed
from tests.doubles.rehearsed import RehearsedHost, hold, setup_for
from tests.slow import slow_after

SHEET = {"scores": dict.fromkeys(WEIGHTS, 6), "violations": [], "note": "CANARY note"}


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


async def debate(script: Script | None = None, **asked: Any) -> RehearsedHost:
    return await hold(
        setup_for("team", **asked), RehearsedHost(twist=Script() if script is None else script)
    )


def speakers(host: RehearsedHost, stage: str) -> list[str]:
    """Return who spoke in the rounds of a stage, in order."""
    return [turn.seat for turn in host.turns if turn.round.startswith(stage)]


async def test_stages_have_their_order_budgets_and_warmth_and_no_turn_is_told_as_the_last() -> None:
    host = await debate()
    assert speakers(host, "opening") == ["A1", "B1"]
    assert speakers(host, "cross")[::2] == ["A2", "B2", "A3", "B3"]
    assert speakers(host, "summary") == ["A1", "B1"]
    assert speakers(host, "closing") == ["B4", "A4"]
    limits = {turn.round.split("-")[0]: turn.limit for turn in host.turns}
    assert (limits["opening"], limits["summary"], limits["closing"]) == (750, 500, 750)
    crossed = [turn.limit for turn in host.turns if turn.round.startswith("cross")]
    assert crossed == [125, 250] * 4
    warmth = {(turn.round.split("-")[0], host.warmth[turn.step]) for turn in host.turns}
    cooler = {("cross", 0.5), ("summary", 0.5), ("closing", 0.5)}
    assert warmth == cooler | {("opening", 0.7), ("free", 0.7)}
    assert {host.warmth[step] for step in host.asked if not step.startswith("turn/")} == {0.2}
    turns = [post.message for post in host.posts if isinstance(post.message, TurnPost)]
    assert turn_title(turns[0]) == "A1 · opening · turn 1"
    assert {turn.total for turn in turns} == {0}  # before the clock has decided
    running = Progress(phase="running", turns=34, total=0)
    assert progressed(running, thread="#tea") == "🗣️ 34 turns posted in #tea"


async def test_answers_come_from_seats_two_and_three_of_the_other_side() -> None:
    host = await debate(Script(sends="3"))
    assert speakers(host, "cross")[1::2] == ["B3", "A3", "B3", "A3"]
    assert "at least three pointed, numbered questions" in host.said_to("turn/cross-1/A2")


async def test_a_team_speaks_for_four_minutes_in_turn_and_never_twice_running() -> None:
    host = await debate(Script(words=125))
    free = [turn for turn in host.turns if turn.round.startswith("free")]
    assert free[0].side == "A"
    assert all(before.side != after.side for before, after in pairwise(free))
    assert Counter(turn.side for turn in free) == {"A": 8, "B": 8}
    assert sum(turn.words for turn in free if turn.side == "A") == 1000


async def test_the_free_debate_ends_with_the_team_that_has_no_time_left() -> None:
    host = await debate(Script(words=(150, 60)))
    free = [turn for turn in host.turns if turn.round.startswith("free")]
    spoken = Counter(turn.side for turn in free)
    assert abs(spoken["A"] - spoken["B"]) <= 1
    notices = [post.message.text for post in host.posts if isinstance(post.message, Notice)]
    (unused,) = [text for text in notices if "Unused" in text]
    left = 1000 - sum(turn.words for turn in free if turn.side == "B")
    assert f"B {round(60 * left / 250) // 60}:{round(60 * left / 250) % 60:02d}" in unused
    host = await debate(Script(words=4))
    assert len(speakers(host, "free")) <= 40


async def test_every_seat_speaks_at_least_once_whatever_the_captains_want() -> None:
    host = await debate(Script(words=150, sends="2"))
    assert set(speakers(host, "free")) == {f"{side}{n}" for side in "AB" for n in range(1, 5)}
    sent = [a.body for name, a in host.artifacts.items() if name.startswith("captain/free")]
    forced = [body for body in sent if body["how"] == "precedence"]
    assert {body["chosen"] for body in forced} >= {"A1", "A3", "A4"}
    assert {body["wanted"] for body in forced} == {"A2", "B2"}


@pytest.mark.parametrize(
    ("a", "b"),
    slow_after(3, [(150, 60), (8, 90), (700, 700), (150, 150), (60, 150), (96, 85), (51, 149)]),
)
async def test_a_silent_seat_is_not_cut_off_by_the_clock_of_either_team(a: int, b: int) -> None:
    """As long as nobody runs over time: the first team without any ends it for both."""
    for favourite in "14":
        host = await debate(Script(words=(a, b), sends=favourite))
        assert len(set(speakers(host, "free"))) == 8
        assert "did not speak" not in host.shown


async def test_overtime_costs_and_is_shown_and_who_takes_the_time_of_silent_seats_is_cut() -> None:
    """Time is kept for three more seats of the team, 150 words each: 550 of 1000 are left."""
    long = " ".join(f"word{n}" for n in range(1200))
    host = await debate(Script({"turn/free-1/A2": long, "turn/opening/A1": "word " * 1000}))
    assert set(speakers(host, "free")) == {f"{side}{n}" for side in "AB" for n in range(1, 5)}
    (turn,) = [turn for turn in host.turns if turn.step == "turn/free-1/A2"]
    assert turn.text.endswith("word549…")
    assert (turn.words, turn.limit) == (550, 150)
    marks = [(v.kind, v.measured, v.limit) for v in turn.violations]
    assert marks == [("overtime", 1200, 150), ("cut", 1200, 550)]
    assert host.stored[turn.step].text == long
    assert "did not speak" not in host.shown
    posts = {post.key: post.message for post in host.posts}
    assert "1200 words, cut after 550" in card_of(posts[turn.step]).warnings[1]
    post = posts["turn/opening/A1"]
    assert isinstance(post, TurnPost)
    assert (post.words, post.limit, post.seconds, post.seconds_limit) == (1000, 750, 240, 180)
    assert [violation.kind for violation in post.violations] == ["overtime"]
    assert "turn/opening/A1/shorten" not in host.asked
    lost = {a.subject: a.amount for note in host.notes for a in note.adjustments}
    assert lost == {"A1": -2, "A2": -2, "A": -3}


async def test_clock_stages_weights_and_penalties_are_settings() -> None:
    limits = {
        "words_a_minute": 100.0,
        "free_minutes": 2.0,
        "free_speech_minutes": 0.5,
        "opening_minutes": 1.0,
        "closing_minutes": 0.5,
        "weight_logic": 100.0,
        "penalty_overtime_seat": 7.0,
    }
    sheet = SHEET | {"scores": dict.fromkeys(WEIGHTS, 6) | {"logic": 9}}
    said = {"judge/turn/opening/A1": sheet, "turn/opening/A1": "word " * 300}
    host = await debate(Script(said, words=40), limits=limits)
    assert (host.turns[0].limit, host.turns[-1].limit) == (100, 50)
    free = [turn for turn in host.turns if turn.round.startswith("free")]
    assert free[0].limit == 50
    assert sum(turn.words for turn in free if turn.side == "A") == 200
    (score,) = [s.value for s in host.scores if s.criterion == "speech"][:1]
    assert score > 8.9
    lost = {a.subject: a.amount for note in host.notes for a in note.adjustments}
    assert lost == {"A1": -7, "A": -3}


@pytest.mark.parametrize(
    "said", ["nonsense", {"speaker": "A9", "direction": "x"}, {}, ModelError("x")]
)
async def test_an_invalid_choice_falls_to_whoever_spoke_least(said: object) -> None:
    script = Script({f"captain/free-{n}/{side}": said for n in range(1, 40) for side in "AB"})
    script |= {f"captain/cross-{n}/{side}": said for n in range(1, 5) for side in "AB"}
    host = await debate(script)
    assert speakers(host, "cross")[1::2] == ["B2", "A2", "B3", "A3"]
    assert speakers(host, "free")[:8] == ["A1", "B1", "A2", "B2", "A3", "B3", "A4", "B4"]
    kept = host.artifacts["captain/free-1/A"]
    assert (kept.valid, kept.body["how"], kept.body["chosen"]) == (False, "fallback", "A1")
    assert kept.body["problem"]


async def test_seats_write_to_their_team_and_its_captain_decides_knowing_counts_and_time() -> None:
    host = await debate()
    steps = list(host.asked)
    notes = [f"note/free-3/A{n}" for n in (2, 3, 4)]
    assert [step for step in steps if step.startswith("note/free-3/")] == notes
    assert steps.index(notes[-1]) < steps.index("captain/free-3/A")
    captain = host.said_to("captain/free-3/A")
    told = [f"[{seat}]\n> NOTE of {seat} in free-3" for seat in ("A2", "A3", "A4")]
    told += ["A2 1", "Not yet: A1, A3, A4.", "time for 900 more words", "Speechfree2B2"]
    assert [words for words in told if words not in captain] == []
    assert "NOTE of A4 in free-3" in host.said_to("turn/free-3/A2")
    assert "in at most 30 words" in host.said_to(notes[0])
    asked = [step for step in steps if step.startswith("note/cross-1/")]
    assert asked == ["note/cross-1/B2", "note/cross-1/B3"]
    kept = host.artifacts["note/free-3/A4"]
    assert (kept.kind, kept.body["note"]) == ("note", "NOTE of A4 in free-3")
    # Sealed until the reveal, which shows only the chosen seat's note.
    assert "NOTE of" not in host.shown
    (report,) = [p.message for p in host.held if p.key == "team/captains"]
    assert isinstance(report, Report)
    assert "Free debate 3: 🔵 A chose A2. A2 had noted: “NOTE of A2 in free-3”" in report.text
    assert report.text.count("SECRET of A") == 1
    assert "NOTE of A3 in free-3" not in report.text


async def test_a_note_is_read_up_to_its_limit_and_kept_whole() -> None:
    long = " ".join(f"w{n}" for n in range(80))
    host = await debate(Script({"note/free-1/A2": {"message": long}}))
    assert "w29…" in host.said_to("captain/free-1/A")
    assert "w30" not in host.said_to("captain/free-1/A")
    assert host.artifacts["note/free-1/A2"].body["note"] == long


@pytest.mark.parametrize("said", ["nonsense", {"message": ""}, ModelError("x")])
async def test_without_a_note_the_captain_decides_all_the_same(said: object) -> None:
    script = Script({f"note/free-{n}/A{m}": said for n in range(1, 40) for m in range(1, 5)})
    host = await debate(script)
    assert "NOTE of A" not in host.said_to("captain/free-3/A")
    assert host.artifacts["captain/free-3/A"].body["how"] == "captain"


async def test_with_concurrent_both_teams_speak_at_once_and_are_posted_in_order() -> None:
    host = RehearsedHost(
        twist=Script(words=150), latency=lambda s: 0.02 if s == "turn/free-1/A2" else 0
    )
    await hold(setup_for("team", options={"concurrent": "on"}), host)
    free = [turn for turn in host.turns if turn.round.startswith("free")]
    assert [turn.side for turn in free] == list("AB") * (len(free) // 2)
    assert [turn.round for turn in free] == [f"free-{n}" for n in range(1, len(free) + 1)]
    assert len({turn.seat for turn in free}) == 8
    assert "Speechfree1A2" not in host.said_to("turn/free-2/B2")
    assert "Speechfree1A2" not in host.said_to("captain/free-2/B")
    later = next(turn for turn in free if turn.round == "free-4")
    assert "Speechfree1A2" in host.said_to(later.step)
    steps = list(host.asked)
    assert steps.index("turn/free-2/B2") == steps.index("turn/free-1/A2") + 1


async def test_models_and_personalities_are_set_by_seat_and_notes_can_be_switched_off() -> None:
    named = {name: Model.parse(f"rehearsal/{name.lower()}") for name in ("A", "A3", "B", "Judge")}
    models = {"A": named["A"], "B": named["B"], "A3": named["A3"]}
    options = {"notes": "off", "personalities": "A1=emotional, b2=diplomatic"}
    host = await debate(models=models, judges=(named["Judge"],), options=options)
    assert host.models["turn/opening/A1"] == named["A"]
    assert host.models["turn/cross-3/A3"] == named["A3"]
    assert host.models["turn/opening/B1"] == named["B"]
    assert host.models["judge/turn/opening/A1"] == named["Judge"]
    assert "Your way of arguing is emotional" in host.said_to("turn/opening/A1")
    assert "Your way of arguing is diplomatic" in host.said_to("turn/cross-2/B2")
    assert "Your way of arguing is logical" in host.said_to("turn/opening/B1")
    assert not [step for step in host.asked if step.startswith("note/")]
    alike = setup_for("team", options={"one_model": True}).request
    assert len(set(alike.sides.values())) == 1


async def test_scores_and_totals_are_kept_and_computed_by_us() -> None:
    script = Script({"judge/review": {"review": "B won 99 to 0.", "winner": "B"}})

    def late(step: str) -> float:
        return 0.02 if step.startswith("judge/turn") else 0.0

    host = await hold(setup_for("team"), RehearsedHost(twist=script, latency=late))
    assert host.most_talking >= 3  # beside the next speech
    assert "6.00" in host.said_to("judge/review")
    speeches = [s for s in host.scores if s.criterion == "speech"]
    assert len(speeches) == len(host.turns)
    assert all(s.value == pytest.approx(6.0) for s in speeches)
    totals: dict[str, Any] = dict(host.artifacts["totals"].body)
    spoken = Counter(turn.side for turn in host.turns)
    kept = {(score.subject, score.side, score.criterion): score.value for score in host.scores}
    for side in "AB":
        assert kept["total", side, "mean"] == pytest.approx(6.0)
    assert kept["total", "A", "team"] == pytest.approx(6.0 * spoken["A"])
    assert kept["A2", "A", "individual"] == pytest.approx(6.0 * speakers(host, "").count("A2"))
    assert totals["teams"] == {side: pytest.approx(6.0 * spoken[side]) for side in "AB"}
    verdict = host.notes[-1].verdicts["team"]
    assert (verdict.valid, verdict.blind) == (len(host.turns), False)


@pytest.mark.parametrize(
    "said", ["nonsense", {"scores": {}}, SHEET | {"violations": ["rude"]}, ModelError("x")]
)
async def test_a_speech_that_cannot_be_scored_has_no_score(said: object) -> None:
    step = "turn/opening/A1"
    host = await debate(Script({f"judge/{step}": said}))
    assert not [score for score in host.scores if score.subject == step]
    assert not host.artifacts[f"judge/{step}"].valid
    assert host.notes[-1].verdicts["team"].invalid == 1
    board = host.waiting(ScoreBoard)
    assert "1 speech could not be scored." in board.notes


async def test_reports_in_cross_examination_cost_and_others_are_shown() -> None:
    script = Script()
    asked = SHEET | {"violations": ["counter_question", "off_topic"]}
    script["judge/turn/cross-1/B2"] = asked
    script["judge/turn/free-1/A2"] = asked
    host = await debate(script)
    lost = [(a.subject, a.amount) for note in host.notes for a in note.adjustments]
    assert lost == [("B2", -2)]
    board = host.waiting(ScoreBoard)
    assert "🔴 B2 in cross-examination 1: counter question, off topic (🔴 B2 -2)." in board.notes
    assert "🔵 A2 in free debate 1: counter question, off topic." in board.notes


async def test_all_judging_waits_for_the_vote() -> None:
    host = await debate()
    for canary in ("CANARY", "SECRET", "Scoreboard"):
        assert canary not in host.shown
    assert [post.key for post in host.held] == ["scoreboard", "team/review", "team/captains"]
    review = host.held[1].message
    assert isinstance(review, Report)
    assert "CANARY review" in review.text
    assert "Best debater" in review.text
    assert "CANARY summary" in review.text
    assert "SECRET of A" in host.held[2].model_dump_json()
    texts = {p.key: p.message.text for p in host.posts if isinstance(p.message, Notice)}
    stages = [text.split(": ")[1] for key, text in texts.items() if key.startswith("stage/")]
    assert stages == ["opening", "cross-examination", "free debate", "closing"]


async def test_a_live_scoreboard_is_one_message_edited_in_the_order_of_speeches() -> None:
    slow = "judge/turn/opening/A1"
    host = RehearsedHost(twist=Script(), latency=lambda step: 0.05 if step == slow else 0.0)
    await hold(setup_for("team", scores="live"), host)
    boards = [post for post in host.posts if isinstance(post.message, ScoreBoard)]
    later = [f"scoreboard/{turn.step}" for turn in host.turns[1:]]
    assert [board.key for board in boards] == ["scoreboard", *later]
    assert [board.target for board in boards] == [None, *["scoreboard"] * len(later)]


@pytest.mark.parametrize(("words", "flagged"), [((90, 90), False), ((90, 100), True)])
async def test_sum_and_mean_that_disagree_are_flagged(
    words: tuple[int, int], flagged: bool
) -> None:
    host = await debate(Script(words=words))
    spoken = Counter(turn.side for turn in host.turns)
    assert spoken["A"] - spoken["B"] == flagged  # whose clock runs out first speaks less often
    board = host.waiting(ScoreBoard)
    assert any("disagree" in note for note in board.notes) is flagged
    assert {row.cells[-1] for row in board.rows if row.cells[0] != "0"} == {"6.00"}
    totals = host.artifacts["totals"].body
    assert (totals["winner"], totals["mean_winner"]) == ("A" if flagged else "tie", "tie")


@pytest.mark.parametrize("language", ["tr", "zh"])
async def test_the_rehearsal_models_hold_it_in_other_languages(language: str) -> None:
    host = await hold(setup_for("team", language=language))
    assert 24 <= len(host.turns) <= 54
    assert not [turn for turn in host.turns if turn.violations]
