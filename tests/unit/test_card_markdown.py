"""What a message says is said alike in every chat."""

from __future__ import annotations

import pytest

from adapters.discord.render import parts as discord
from adapters.slack.render import parts as slack
from adapters.terminal.render import plain
from engine.card_markdown import broken_rule
from engine.debate import Violation
from engine.messages import TurnPost


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("overtime", "80 words where the time allows 50"),
        ("unreadable", "not in the form that was asked for"),
        ("counter_question", "counter question (80, at most 50)"),
        ("short_claim", "a claim of 80 characters where 50 are needed"),
    ],
)
def test_a_broken_rule_is_told_in_the_same_words_everywhere(kind: str, said: str) -> None:
    violation = Violation(kind=kind, measured=80, limit=50)
    turn = TurnPost(
        side="A",
        seat="A2",
        round="free",
        number=3,
        total=9,
        text="Tea.",
        words=80,
        limit=50,
        violations=(violation,),
    )
    (there,), (elsewhere,) = discord(turn, "k7f2qz·3"), slack(turn, "k7f2qz·3")
    assert said in there.body
    assert said in elsewhere.body
    assert said in plain(turn, "k7f2qz·3·1/1")


def test_a_rule_that_allows_nothing_says_how_often_it_was_broken() -> None:
    violation = Violation(kind="missing_response", measured=3, limit=0)
    assert broken_rule(violation) == "missing response (3)"
