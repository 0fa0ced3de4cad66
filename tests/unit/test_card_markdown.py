"""What a message says is said alike in every chat."""

from __future__ import annotations

import pytest

from adapters.discord.render import parts as discord
from adapters.slack.render import parts as slack
from adapters.terminal.render import plain
from engine.chat.answers.answers import to_markdown
from engine.chat.answers.debates import DebateLine, ResultAnswer
from engine.values.debate import Status, Violation
from engine.values.judging import Persuasion, Tally, Verdict, Why
from engine.values.messages import JurorLine, Message, Progress, VoteInvite
from engine.words.cards import broken_rule, card_of, invite_terms
from engine.words.reveal import jury_line
from tests.kit import announcement, make_debate, reveal, speech

TURN = speech("Tea.", seat="A2", round="free", number=3, total=9, words=80, limit=50)
COUNTS = {"A": 0, "B": 0}
REVEAL = reveal(
    tally=Tally(counts=COUNTS, gold=COUNTS, quorum_met=False, winner=None),
    jurors=(JurorLine(juror="near/j1", verdict="tie", order=("A", "B")),),
    calls=8,
)


def test_a_juror_that_contradicts_itself_stands_apart_in_the_jurys_count() -> None:
    named = (("near/j1", "A", False), ("near/j2", "B", True), ("near/j3", "B", True))
    jurors = tuple(
        JurorLine(juror=name, verdict=side, order=("A", "B"), contradictory=odd)
        for name, side, odd in named
    )
    verdict = Verdict(winner="A", p={"A": 0.7, "B": 0.3}, valid=3, invalid=0)
    said = jury_line(REVEAL.model_copy(update={"jurors": jurors, "verdict": verdict}))
    assert said == "Jury: **🔵 A**, fairly sure (🔵 A 1; 2 contradict themselves)"


def everywhere(message: Message) -> tuple[str, str, str]:
    """Return what Discord and Slack are sent, and what the terminal shows."""
    (there,), (elsewhere,) = discord(message, "k7f2qz·3"), slack(message, "k7f2qz·3")
    return there.body, elsewhere.body, plain(message, "k7f2qz·3·1/1")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("overtime", "80 words; the time allows 50"),
        ("unreadable", "not in the requested form"),
        ("counter_question", "counter question (80, at most 50)"),
        ("short_claim", "a claim of 80 characters; at least 50 are needed"),
    ],
)
def test_a_broken_rule_is_told_in_the_same_words_everywhere(kind: str, said: str) -> None:
    violation = Violation(kind=kind, measured=80, limit=50)
    for shown in everywhere(TURN.model_copy(update={"violations": (violation,)})):
        assert said in shown


def test_a_rule_that_allows_nothing_says_how_often_it_was_broken() -> None:
    violation = Violation(kind="missing_response", measured=3, limit=0)
    assert broken_rule(violation) == "missing response (3)"


@pytest.mark.parametrize(
    ("seconds", "limit", "said"),
    [(5, 180, "0:05 of 3:00"), (185, 180, "3:05 of 3:00"), (61, None, "1:01")],
)
def test_a_speech_has_its_time_as_a_clock_shows_it(
    seconds: int, limit: int | None, said: str
) -> None:
    turn = TURN.model_copy(update={"seconds": seconds, "seconds_limit": limit})
    for shown in everywhere(turn):
        assert said in shown
        assert (" of 3:00" in shown) == (limit is not None)


@pytest.mark.parametrize(
    ("people", "said"),
    [(4, "3 of 4 people changed sides"), (1, "1 of 1 person changed sides"), (0, None)],
)
def test_whom_a_debate_moved_is_told_where_somebody_was_asked_twice(
    people: int, said: str | None
) -> None:
    moved = {"A": min(people, 2), "B": 1 if people > 2 else 0}
    told = Persuasion(moved=moved, people=people, winner=None)
    reveal = REVEAL.model_copy(update={"persuasion": told})
    for shown in everywhere(reveal):
        assert (said or "People: no votes") in shown
        assert ("changed sides" in shown) == (said is not None)


def test_a_result_shows_the_lines_of_the_reveal() -> None:
    debate = DebateLine.of(make_debate(1, status=Status.CLOSED))
    _, *lines = to_markdown(ResultAnswer(debate=debate, reveal=REVEAL)).splitlines()
    there, elsewhere, terminal = everywhere(REVEAL)
    assert "**🔵 A** (for it) was `near/ana`" in lines
    for said in lines:
        assert said in there
        assert said in elsewhere
        assert said.replace("**", "").replace("`", "") in terminal


@pytest.mark.parametrize("message", [TURN, REVEAL, VoteInvite(options=("A",), minutes=1, quorum=0)])
def test_a_message_has_one_title_and_one_small_print_everywhere(message: Message) -> None:
    card = card_of(message)
    for shown in everywhere(message):
        assert card.title in shown
        assert card.small in shown
        assert card.topic in shown


@pytest.mark.parametrize(
    ("quorum", "said"),
    [(0, "every vote counts"), (1, "1 vote is enough"), (5, "needs 5 votes")],
)
def test_what_makes_a_vote_count_is_said_for_any_quorum(quorum: int, said: str) -> None:
    invite = VoteInvite(options=("A", "B"), minutes=30, quorum=quorum)
    assert said in invite_terms(invite)


def test_an_announcement_becomes_the_news_and_names_no_model_while_its_mirror_is_open() -> None:
    counts = {"A": 4, "B": 2}
    result = REVEAL.model_copy(
        update={
            "tally": Tally(counts=counts, gold=counts, quorum_met=True, winner="A"),
            "verdict": Verdict(winner="A", p={"A": 0.97, "B": 0.03}, valid=1, invalid=0),
            "jurors": (JurorLine(juror="near/j1", verdict="A", order=("A", "B")),),
            "why": Why(text="A met the main objection.", best={"A": "A cause."}),
        }
    )
    ended = Progress(phase="closed", turns=8, total=8, revealed="thread", result=result)
    outcome = "🏁 People: **🔵 A** (4–2) · Jury: **🔵 A**, very sure (1 of 1)"
    why = "**Why the jury decided so:** A met the main objection."
    for veiled in (False, True):
        progress = ended.model_copy(update={"veiled": veiled})
        message = announcement(conditions="At home", progress=progress)
        sides = ("**🔵 A** (for it)", "**🔴 B** (against it)")
        named = f"{sides[0]} was `near/ana`, {sides[1]} was `near/ben`"
        named = " · ".join(sides) if veiled else named
        assert card_of(message).lines == (outcome, named, why)
        again = [] if veiled else ["Rematch", "Swap sides"]
        labels = [button.label for button in card_of(message).buttons]
        assert labels == ["Why?", "Details", *again]
        for shown in everywhere(message)[:2]:
            assert ("near/" in shown) is not veiled
            assert "Read the whole debate in" in shown
