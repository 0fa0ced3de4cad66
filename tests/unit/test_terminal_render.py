"""What a reader of the terminal sees of each message, in colour and in plain lines."""

import io

import pytest
from rich.console import Console

from adapters.terminal.render import parts, plain, pretty
from engine.values.debate import Violation
from engine.values.judging import Persuasion, RoundTally, Tally, Verdict
from engine.values.messages import (
    MESSAGE,
    AgainInvite,
    ConfidenceInvite,
    JurorLine,
    Message,
    Notice,
    RoundInvite,
    StanceInvite,
    VoteClosed,
    VoteInvite,
)
from engine.words.result_picture import result_picture
from engine.words.reveal import people_line
from tests.kit import announcement, estimate, reveal, speech

TURN = speech("## Work\n\nIt **pays**.")
ANNOUNCEMENT = announcement(
    "Remote work is better",
    conditions="Consider only Türkiye",
    rounds=("opening", "rebuttal"),
    jurors=1,
    vote_minutes=0.5,
    estimate=estimate(minutes=1.5, usd=0.01, usd_max=0.3),
)
REVEAL = reveal(
    topic="Remote work is better",
    models={"A": "online/x", "B": "rehearsal/oak"},
    drawn=("B",),
    tally=Tally(
        counts={"A": 3, "B": 2, "tie": 1, "weak": 0},
        gold={"A": 3, "B": 2, "tie": 1, "weak": 0},
        quorum_met=True,
        winner="A",
        share=0.6,
        low=0.2307,
        high=0.8824,
    ),
    verdict=Verdict(
        winner="A", p={"A": 0.734, "B": 0.266}, z=1.1, valid=3, invalid=1, effective_votes=2.04
    ),
    jurors=(
        JurorLine(juror="rehearsal/elm", verdict="A", order=("A", "B")),
        JurorLine(juror="rehearsal/fir", verdict="tie", order=("B", "A"), contradictory=True),
        JurorLine(juror="rehearsal/ash", verdict=None, order=("A", "B"), problem="no JSON"),
    ),
    agree=True,
)


def said(message: Message) -> str:
    return plain(message, "k7f2qz·3·1/1")


def drawn(message: Message, *, colour: bool = True, dim: bool = False) -> str:
    screen = io.StringIO()
    console = Console(
        file=screen,
        force_terminal=True,
        width=100,
        color_system="standard" if colour else None,
        legacy_windows=False,
    )
    console.print(pretty(message, "k7f2qz·3·1/1", dim=dim))
    return screen.getvalue()


@pytest.mark.parametrize("message", [TURN, ANNOUNCEMENT, REVEAL], ids=lambda m: m.kind)
def test_a_part_carries_the_message_itself(message: Message) -> None:
    (part,) = parts(message, "k7f2qz·3")
    assert part.reference == "k7f2qz·3·1/1"
    assert MESSAGE.validate_json(part.body) == message


def test_a_turn_in_plain_lines() -> None:
    assert said(TURN) == (
        "[🔵 A · opening · turn 1 of 8] 3 of 500 words (#3)\n## Work\n\nIt **pays**.\n"
    )


def test_sides_and_jury_have_their_colours() -> None:
    assert "\x1b[34m" in drawn(TURN)
    assert "\x1b[31m" in drawn(TURN.model_copy(update={"side": "B", "seat": "B"}))
    assert "\x1b[33m" in drawn(REVEAL)
    assert "\x1b[2" in drawn(TURN, dim=True)


def test_markdown_is_formatted_in_a_terminal() -> None:
    screen = drawn(TURN, colour=False)
    assert "**" not in screen
    assert "pays" in screen
    assert "3 of 500 words" in screen


def test_a_turn_without_limit_tells_its_words_alone() -> None:
    assert "] 3 words (" in said(TURN.model_copy(update={"limit": 0}))


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("too_many_words", "512 words; the limit is 500"),
        ("shouting", "shouting (512, at most 500)"),
    ],
)
def test_a_broken_rule_is_told(kind: str, sentence: str) -> None:
    broken = (Violation(kind=kind, measured=512, limit=500),)
    turn = TURN.model_copy(update={"violations": broken})
    assert f"Rule broken: {sentence}" in said(turn)
    assert f"Rule broken: {sentence}" in drawn(turn, colour=False)


def test_the_announcement_tells_the_terms() -> None:
    text = said(ANNOUNCEMENT)
    assert "Topic: Remote work is better" in text
    assert "Conditions: Consider only Türkiye" in text
    assert "1 juror reads it blind · the vote lasts 30 seconds" in text
    assert "Takes about 2 minutes · ≈ $0.01" in text


def test_marks_become_looks_and_a_side_and_its_model_have_its_colour() -> None:
    for message in (ANNOUNCEMENT, REVEAL):
        for text in (said(message), drawn(message, colour=False)):
            assert "**" not in text
            assert "`" not in text
    assert "\x1b[1;34m🔵 A\x1b[0m argues for it · \x1b[1;31m🔴 B\x1b[0m argues" in drawn(
        ANNOUNCEMENT
    )
    assert "\x1b[1;34m🔵 A\x1b[0m (for it) was \x1b[34monline/x\x1b[0m" in drawn(REVEAL)
    assert "\x1b[1;31m🔴 B\x1b[0m (against it) was \x1b[31mrehearsal/oak\x1b[0m, drawn" in drawn(
        REVEAL
    )


def test_a_topic_is_shown_as_it_was_written() -> None:
    topic = "Is 2**3**2 `512`, or **[b]64[/b]**?"
    stance = StanceInvite(topic=topic, after=True, options=("up",))
    renamed = [m.model_copy(update={"topic": topic}) for m in (ANNOUNCEMENT, REVEAL)]
    for message in (stance, *renamed):
        assert f"Topic: {topic}" in said(message)
        assert f"Topic: {topic}" in drawn(message, colour=False)


def test_stars_and_strokes_that_mark_nothing_stay() -> None:
    conditions = "a ** b ** c, ** d**, `open and ``"
    text = said(ANNOUNCEMENT.model_copy(update={"conditions": conditions}))
    assert f"Conditions: {conditions}" in text


def test_an_unknown_cost_is_not_nothing() -> None:
    estimate = ANNOUNCEMENT.estimate.model_copy(update={"usd": None})
    text = said(ANNOUNCEMENT.model_copy(update={"estimate": estimate}))
    assert "cost unknown" in text
    assert "USD" not in text


def test_the_vote_is_asked_for_and_closed() -> None:
    invite = said(VoteInvite(options=("A", "B", "tie", "weak"), minutes=30, quorum=5))
    assert "🔵 A · 🔴 B · tie · neither" in invite
    assert "The vote lasts 30 minutes · needs 5 votes" in invite
    assert "1 vote was cast" in said(VoteClosed(options=("A",), votes=1))
    assert "closed early" in said(VoteClosed(options=("A",), votes=2, early=True))


def test_a_stance_is_asked_for_before_and_after() -> None:
    before = StanceInvite(
        topic="Tea wins", after=False, options=("up", "down", "unsure"), seconds=60
    )
    assert "Topic: Tea wins" in said(before)
    assert "Where do you stand? for it · against it · unsure" in said(before)
    assert "The debate begins in 1 minute" in said(before)
    after = said(before.model_copy(update={"after": True, "seconds": None}))
    assert "seconds" not in after


def test_it_is_asked_again_in_full_after_the_reveal() -> None:
    invite = AgainInvite(options=("A", "B", "tie", "weak"), minutes=1440)
    text = said(invite)
    assert text.startswith("[Now that you know the models] (#3)")
    assert "Who debated better? You now know the models" in text
    assert "Your vote above stays unchanged.\n🔵 A · 🔴 B · tie · neither\n" in text
    assert "You can answer for 24 hours." in text


def test_people_are_asked_who_is_ahead_and_the_reveal_shows_the_course_in_one_line() -> None:
    text = said(RoundInvite(round="opening", options=("A", "B", "even")))
    assert text.startswith("[After opening] (#3)")
    assert "Who is ahead? 🔵 A · 🔴 B · even" in text
    agents = RoundInvite(
        round="draft", options=("1", "2", "even"), names={"1": "Nurse", "2": "Ada"}
    )
    assert "Whose answer leads? Nurse · Ada · even" in said(agents)
    course = (
        RoundTally(round="opening", counts={"A": 4, "B": 2, "even": 0}),
        RoundTally(round="rebuttal", counts={"A": 3, "B": 3, "even": 1}),
    )
    line = "Ahead after opening: 🔵 A 4, 🔴 B 2 · rebuttal: 🔵 A 3, 🔴 B 3, even 1"
    assert line in said(REVEAL.model_copy(update={"course": course})).splitlines()


def test_people_are_asked_how_clear_it_was() -> None:
    text = said(ConfidenceInvite(options=("close", "clear", "onesided")))
    assert text.startswith("[How clear was it?] (#3)")
    assert "How far ahead is your choice? close · clear · one-sided" in text
    assert "Optional. It closes with the vote" in text


def test_the_reveal_names_who_sat_where_and_the_formats_own_judges() -> None:
    seated = {"seats": {"A1": "online/x", "A2": "online/y"}, "judges": ("online/z",)}
    text = said(REVEAL.model_copy(update=seated))
    assert "A1 online/x · A2 online/y" in text
    assert "Also judged by online/z" in text


def test_the_reveal_tells_whom_the_debate_moved() -> None:
    moved = Persuasion(moved={"A": 2, "B": 1}, people=4, winner="A")
    told = said(REVEAL.model_copy(update={"persuasion": moved}))
    assert "3 of 4 people changed sides: 🔵 A 2 · 🔴 B 1" in told
    nobody = Persuasion(moved={"A": 0, "B": 0}, people=0, winner=None)
    assert "moved" not in said(REVEAL.model_copy(update={"persuasion": nobody}))


def test_the_reveal_tells_everything() -> None:
    for text in (said(REVEAL), drawn(REVEAL, colour=False)):
        assert "🔵 A (for it) was online/x" in text
        assert "🔴 B (against it) was rehearsal/oak, drawn at random" in text
        assert "🔵 A 3 · 🔴 B 2 · tie 1 · neither 0; 🔵 A's share 60% (23–88%)" in text
        assert (
            "People: 🔵 A (3–2 · tie 1) · Jury: 🔵 A, fairly sure (🔵 A 1; 1 contradicts itself)"
            in text
        )
        assert "Jury: 🔵 A (73% sure that 🔵 A won, 3 jurors read it, 3 readings counted, " in text
        assert "1 not counted, worth 2.0 independent" in " ".join(text.replace("│", "").split())
        assert "rehearsal/elm: 🔵 A (read 🔵 A, 🔴 B)" in text
        assert "rehearsal/fir: tie (read 🔴 B, 🔵 A), contradicts its own scores" in text
        assert "rehearsal/ash: no answer that counts" in text
        assert "People and jury agree" in text
        assert "11 model calls, cost unknown" in text


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"agree": False}, "People and jury disagree"),
        ({"agree": None}, "cannot be compared"),
        ({"usd": 0.0}, "11 model calls, free"),
    ],
)
def test_the_reveal_in_other_cases(change: dict[str, object], expected: str) -> None:
    assert expected in said(REVEAL.model_copy(update=change))


@pytest.mark.parametrize(
    ("tally", "expected"),
    [
        ({"winner": "tie"}, "People: a tie (3–2 · tie 1)"),
        ({"counts": {"A": 0}, "gold": {"A": 0}, "winner": None, "share": None}, "People: no votes"),
        (
            {"gold": {"A": 1, "B": 2}},
            "With 3 votes that are not independent: 🔵 A 3 · 🔴 B 2 · tie 1",
        ),
    ],
)
def test_the_reveal_of_other_votes(tally: dict[str, object], expected: str) -> None:
    changed = REVEAL.tally.model_copy(update=tally)
    assert expected in said(REVEAL.model_copy(update={"tally": changed}))


@pytest.mark.parametrize(
    ("gold", "quorum", "expected"),
    [
        ({}, 9, "too few votes (🔵 A 3 · 🔴 B 2 · tie 1), needs 9"),
        (
            {"A": 1},
            4,
            "too few independent votes (🔵 A 1; with 5 votes that are not independent 🔵 A 3 · "
            "🔴 B 2 · tie 1), needs 4",
        ),
        ({}, 4, "no winner (🔵 A 3 · 🔴 B 2 · tie 1), as none of these votes was independent"),
        ({}, 0, "no winner (🔵 A 3 · 🔴 B 2 · tie 1), as none of these votes was independent"),
    ],
)
def test_votes_that_decide_nothing_say_how_many_count(
    gold: dict[str, int], quorum: int, expected: str
) -> None:
    tally = REVEAL.tally.model_copy(update={"winner": None, "quorum_met": False, "gold": gold})
    assert expected in said(REVEAL.model_copy(update={"tally": tally, "quorum": quorum}))


def test_a_reveal_shows_the_counts_that_decide_and_the_others_apart() -> None:
    """The winner came from the independent votes, the count from all: "B (3–3)"."""
    votes = Tally(counts={"A": 3, "B": 3}, gold={"A": 2, "B": 3}, quorum_met=True, winner="B")
    reveal = REVEAL.model_copy(update={"tally": votes})
    assert people_line(reveal) == (
        "People: **🔴 B** (3–2; with 1 vote that is not independent 3–3)"
    )
    assert "B (3–2; with 1 vote that is not independent 3–3)" in result_picture(reveal).alt
    one_each = votes.model_copy(
        update={"counts": {"A": 2, "B": 1}, "gold": {"A": 1, "B": 1}, "winner": "tie"}
    )
    tied = people_line(REVEAL.model_copy(update={"tally": one_each}))
    assert tied == "People: **a tie** (1–1; with 1 vote that is not independent 2–1)"


def test_a_jury_without_a_verdict_says_why() -> None:
    verdict = Verdict(winner=None, problem="fewer than 2 valid ballots", valid=1, invalid=2)
    text = said(REVEAL.model_copy(update={"verdict": verdict}))
    counted = "3 jurors read it, 1 reading counted, 2 not counted"
    assert f"Jury: no verdict, too few jurors gave an answer that counts ({counted})" in text
    tied = verdict.model_copy(update={"winner": "tie", "blind": False})
    text = said(REVEAL.model_copy(update={"verdict": tied}))
    assert f"Jury: a tie ({counted}, jurors saw the models' names)" in text


def test_the_plain_look_has_neither_boxes_nor_escapes() -> None:
    for message in (TURN, ANNOUNCEMENT, REVEAL, Notice(text="Extended.", level="warning")):
        text = said(message)
        assert not set("\x1b│─╭╮╰╯┃━") & set(text)
        assert text.endswith("\n")


def test_what_models_write_is_data() -> None:
    evil = TURN.model_copy(update={"text": "[red]x[/red] \x1b[31my\x1b[0m {seat} :smile:"})
    for text in (said(evil), drawn(evil, colour=False)):
        assert "[red]x[/red] [31my[0m {seat} :smile:" in text
        assert "\x1b[31my" not in text
    notice = Notice(text="[bold]{text}\x1b[2J")
    assert "[bold]{text}[2J" in drawn(notice, colour=False)
