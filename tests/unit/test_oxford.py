"""`oxford`: seats that alternate, and a winner by changed minds."""

import pytest

from engine.formats.format import Decision
from engine.formats.oxford import Oxford
from engine.prompts import quote
from engine.values.verdicts import Question, Verdict, Vote
from tests.doubles.rehearsed import hold, setup_for
from tests.kit import some, vote

PANEL = Verdict(winner="B", p={"A": 0.2, "B": 0.8}, valid=3, invalid=0)


def room(*moves: tuple[str, str]) -> list[Vote]:
    """Return the stances of people who were asked twice, each before and after."""
    asked = (Question.STANCE_BEFORE, Question.STANCE_AFTER)
    return [
        vote(person, option, question=question)
        for person, move in enumerate(moves)
        for question, option in zip(asked, move, strict=True)
        if option
    ]


def decided(*moves: tuple[str, str], quorum: int = 3, panel: Verdict = PANEL) -> Decision:
    """Return what these people's stances decide."""
    request = setup_for("oxford", quorum=quorum).request
    return some(Oxford().decide(request, room(*moves), panel))


async def test_two_seats_a_side_alternate_and_a_closer_is_sent_what_it_has_not_seen() -> None:
    setup = setup_for("oxford")
    host = await hold(setup)
    assert [turn.seat for turn in host.turns] == ["A1", "B1", "A2", "B2", "A1", "B1"]
    assert [turn.side for turn in host.turns] == list("ABABAB")
    assert len(host.turns) == Oxford().turns(setup.request)
    opening, other, *rebuttals = (turn.text for turn in host.turns[:4])
    for seat, heard in (("A1", [other, *rebuttals]), ("B1", rebuttals)):
        asked = host.asked[f"turn/closing/{seat}"]
        before = host.asked[f"turn/opening/{seat}"]
        assert asked[: len(before)] == before
        assert asked[len(before)].content == host.stored[f"turn/opening/{seat}"].text
        sent = asked[-1].content
        assert [text for text in (opening, other, *rebuttals) if quote(text) in sent] == heard
        assert "Motion:" not in sent


async def test_people_are_always_asked_and_a_seat_may_have_a_model_of_its_own() -> None:
    assert setup_for("oxford", stance=False).request.stance
    assert not setup_for("classic").request.stance
    model = setup_for("oxford").panel.roster[0]
    host = await hold(setup_for("oxford", models={"A2": model}))
    assert host.models["turn/rebuttal/A2"] == model
    assert host.models["turn/opening/A1"] != model


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ([("against", "for"), ("for", "for"), ("unsure", "unsure")], "stance: A"),
        ([("unsure", "against"), ("for", "for"), ("for", "for")], "stance: B"),
        # B still has more people; A gained more.
        ([("unsure", "for"), ("against", "against"), ("against", "against")], "stance: A"),
        ([("for", "for"), ("for", "for"), ("against", "against")], "stance: tie"),
        # Both lose as much: nobody gained more than the other.
        ([("for", "unsure"), ("against", "unsure"), ("for", "for")], "stance: tie"),
        ([("for", "unsure"), ("against", "against"), ("for", "for")], "stance: B"),
        ([("against", "for"), ("unsure", "for")], "panel_for_stance: B"),
        ([("", "for"), ("against", ""), ("for", "against"), ("", "")], "panel_for_stance: B"),
        ([], "panel_for_stance: B"),
    ],
)
def test_the_larger_gain_wins_from_a_quorum_on(moves: list[tuple[str, str]], expected: str) -> None:
    verdict = decided(*moves, quorum=3 if moves else 0).verdict
    assert f"{verdict.rubric}: {verdict.winner}" == expected


def test_a_stance_that_contradicts_itself_counts_for_nobody() -> None:
    moves = [("against", "for"), ("unsure", "for"), ("for", "for")]
    stances = room(*moves)
    stances[0] = stances[0]._replace(ambiguous=True)
    decision = some(Oxford().decide(setup_for("oxford", quorum=3).request, stances, PANEL))
    assert decision.verdict.rubric == "panel_for_stance"


def test_people_are_told_the_shares_and_who_decided() -> None:
    moved = decided(("against", "for"), ("for", "for"), ("unsure", "unsure"), ("for", "for"))
    assert (moved.title, moved.verdict.valid) == ("The room chooses 🔵 A", 4)
    assert "🔵 A 50% → 75%, 🔴 B 25% → 0%" in moved.text
    few = decided(("against", "for"))
    assert few.title == "The jury chooses 🔴 B"
    assert few.text == "People who answered both times: 1; the room decides from 3 on."
    level = decided(("for", "for"), quorum=1)
    assert level.title == "The room is undecided"
    none = Verdict(winner=None, problem="nobody could be read", valid=0, invalid=3)
    assert decided(panel=none).title == "The jury has no winner"


@pytest.mark.parametrize("language", ["tr", "zh"])
async def test_it_is_held_in_other_languages(language: str) -> None:
    host = await hold(setup_for("oxford", language=language))
    assert all(turn.words <= 300 and not turn.violations for turn in host.turns)
