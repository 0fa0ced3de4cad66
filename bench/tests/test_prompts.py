"""What a debate's prompts are billed as, by the rules of providers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest

from bench.prompts import RULES, Sent, _before, _billed, as_text, bill, cuts_of, hold
from engine.values.ports import ChatMessage

ANTHROPIC = RULES["anthropic"]
LINE = "Evidence from the field supports the point made here, and that is said at length.\n"
LONG = LINE * 100  # about 2,000 tokens


def history(*texts: str, models: Iterable[str] = "m" * 9) -> list[Sent]:
    """Return prompts that follow one another, each with the same reply."""
    named = enumerate(zip(models, texts, strict=False))
    return [Sent(model, f"turn/{n}", text, 2 * n, "Yes.", 2 * n + 1) for n, (model, text) in named]


def replied(text: str) -> str:
    return f"{text}<assistant>\nYes.\n"


def marked(*texts: str, at: int) -> list[Sent]:
    """Return prompts whose first part ends at a place, where it is marked."""
    sent = history(*texts)
    for prompt in sent:
        prompt.cuts, prompt.marks = (at, len(prompt.text)), (at,)
    return sent


def test_a_beginning_that_was_read_before_is_billed_at_each_rules_price() -> None:
    asked = replied(LONG)
    half = bill(history(LONG, asked)).billed
    new = len(asked) - len(LONG)
    whole = len(LONG) + len(asked)
    assert half["gemini"] == pytest.approx((len(LONG) * 1.25 + new) / whole, abs=1e-3)
    assert half["anthropic"] == 1.0  # nothing is marked
    marks = bill(marked(LONG, asked, at=len(LONG))).billed["anthropic"]
    assert marks == pytest.approx((len(LONG) * 1.35 + new) / whole, abs=1e-3)
    assert 0.55 < half["openai"] < half["gemini"]  # in steps of 128
    assert half["deepseek"] == pytest.approx(half["openai"], abs=0.03)


def test_only_deepseek_reads_replies_from_its_cache_and_finds_only_whole_requests() -> None:
    follow_up = replied(LONG) + LONG
    one, other = (
        bill(history(*texts)).billed for texts in ((LONG, follow_up), (LONG, LONG[:-400]))
    )
    assert one["deepseek"] < one["openai"] + 0.03
    assert other["deepseek"] == 1.0 > other["openai"]


def test_deepseek_finds_the_beginning_that_two_earlier_requests_share() -> None:
    parted = [f"{LONG}{number}" for number in range(3)]
    assert bill(history(*parted[:2])).billed["deepseek"] == 1.0
    assert bill(history(*parted)).billed["deepseek"] == pytest.approx(0.7, abs=0.01)


def test_what_is_marked_is_found_by_a_request_with_the_same_parts() -> None:
    apart = marked(LONG, replied(LONG), at=len(LONG))
    apart[1].cuts = (len(apart[1].text),)  # one part where there were two
    apart[1].marks = apart[1].cuts
    assert bill(apart).billed["anthropic"] == pytest.approx(1.25, abs=1e-3)


def test_a_prompt_is_cut_and_marked_where_its_messages_are() -> None:
    system = ChatMessage(role="system", content="Rules.", kept=(6,))
    user = ChatMessage(role="user", content="one two", kept=(3,))
    cuts, marks = cuts_of((system, user))
    text = as_text((system, user))
    assert [text[:cut] for cut in cuts] == [
        "<system>\nRules.\n",
        "<system>\nRules.\n<user>\none",
        text,
    ]
    assert marks == cuts[:2]


def test_what_is_short_or_another_models_or_still_out_is_billed_in_full() -> None:
    assert bill(history(LINE, LINE)).billed["openai"] == 1.0
    apart = history(LONG, LONG, models="ab")
    assert set(bill(apart).billed.values()) == {1.0}
    assert bill(apart, one=True).billed["openai"] < 0.6
    together = history(LONG, LONG)
    together[0].ended = 9
    assert bill(together).billed["gemini"] == bill(together).floors["openai"] == 1.0


def test_no_layout_is_billed_less_than_the_floor() -> None:
    scattered = bill(history(LONG, f"new\n{LONG}"))
    assert scattered.billed["openai"] == 1.0
    assert scattered.floors["openai"] == pytest.approx(0.55, abs=0.01)
    assert scattered.floors["anthropic"] == pytest.approx(0.675, abs=0.01)  # it is written first


async def test_each_side_of_classic_is_sent_its_own_history_with_something_appended() -> None:
    sent = await hold("classic", 400)
    assert [prompt.step for prompt in sent][:2] == ["turn/opening/A", "turn/opening/B"]
    for side in "AB":
        mine = [prompt for prompt in sent if prompt.step.endswith(f"/{side}")]
        for before, after in pairwise(prompt for prompt in mine if "turn/" in prompt.step):
            assert after.text.startswith(f"{before.text}<assistant>\n{before.reply}\n<user>\n")
    found = bill([prompt for prompt in sent if prompt.step.startswith("turn/")])
    assert found.billed["deepseek"] <= min(0.35, found.floors["deepseek"] + 0.02)
    assert found.billed.keys() == found.floors.keys() == RULES.keys()


async def test_seats_captains_and_judges_of_team_find_the_record_in_the_cache() -> None:
    sent = await hold("team", 200)
    for kind in ("turn/", "note/", "captain/", "judge/turn/", "judge/summary/"):
        some = [prompt for prompt in sent if prompt.step.startswith(kind)]
        billed = sum(
            _billed(prompt, list(_before(prompt, sent, one=False)), ANTHROPIC) for prompt in some
        )
        assert billed / sum(prompt.tokens for prompt in some) < 0.5, kind
    assert bill(sent).billed["anthropic"] < 0.4
