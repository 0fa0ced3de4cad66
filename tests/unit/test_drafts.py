"""A turn while it is written: no name is seen even for a moment, and nothing too late."""

from __future__ import annotations

import asyncio
import re

import pytest
from hypothesis import given, strategies as st

from engine.floor.drafts import UPDATE_SECONDS, Drafting, veil_growing
from engine.floor.structured import read_growing
from engine.values.debate import Debate, Status
from engine.values.ports import AnswerSchema
from tests.kit import Onlooker, new_debate, setup_of, skipped_time, stored

NAMES = frozenset({"command-r-plus", "zephyrine/canary-7b", "zephyrine"})
SPEECH = (
    "Tea is calmer. As Claude Opus 4.5, I say so; Command R Plus agreed, and zephyrine/canary-7b "
    "did. Gemini is a model, and I am Gemini. GPT-5 here: trained by OpenAI, I drink tea all day "
    "long and never regret a single cup of it."
)
TOLD = re.compile(r"claude|opus|command|zephyr|canary|gemini|gpt|openai|plus", re.IGNORECASE)


@given(st.integers(0, len(SPEECH)))
def test_no_name_is_seen_wherever_the_text_has_come_to(end: int) -> None:
    assert not TOLD.search(veil_growing(SPEECH[:end], NAMES))


def test_half_a_name_at_the_end_waits_for_its_other_half() -> None:
    for end in ("Cla", "Claude", "Claude Op", "Command", "Command R"):
        shown = veil_growing(f"One two three four five six seven eight {end}", NAMES)
        assert shown.startswith("One two")
        assert not TOLD.search(shown)


def test_a_text_without_spaces_grows_too() -> None:
    shown = veil_growing("我认为茶比咖啡好得多，因为它更健康，也更便宜。", ())
    assert shown.startswith("我认为茶比咖啡好得多")


def debate_of() -> Debate:
    return stored(new_debate(setup=setup_of()), status=Status.RUNNING)


SCHEMA = AnswerSchema(
    "Opening",
    {
        "type": "object",
        "properties": {
            "arguments": {"type": "array", "items": {"properties": {"claim": {}, "grounds": {}}}},
            "decision": {"type": "string", "enum": ["maintains", "gives_up"]},
        },
    },
)
ANSWER = (
    '{"note": "mine", "arguments": [{"claim": "Tea lasts.", "grounds": "It \\"does\\"."}],'
    ' "decision": "maintains"}'
)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (0, ""),
        (25, ""),
        (ANSWER.index("lasts"), "Tea "),
        (ANSWER.index('", "grounds'), "Tea lasts."),
        (len(ANSWER), 'Tea lasts.\nIt "does".'),
    ],
)
def test_a_structured_answer_is_read_as_far_as_it_says_what_was_asked(end: int, said: str) -> None:
    assert read_growing(ANSWER[:end], SCHEMA) == said
    assert read_growing("```json\n" + ANSWER[:end], SCHEMA) == said


@given(st.text())
def test_whatever_is_no_json_says_nothing(text: str) -> None:
    assert read_growing(text.replace("{", ""), SCHEMA) == ""


CUE = {"kind": "turn", "seat": "A", "round": "opening", "words": "500"}


async def pass_the_pause() -> None:
    with skipped_time():
        await asyncio.sleep(2 * UPDATE_SECONDS)


async def test_what_comes_quickly_is_told_together_and_newest() -> None:
    onlooker = Onlooker()
    drafting = Drafting(onlooker, debate_of(), CUE)
    words = [f"word{number}" for number in range(50)]
    for count in range(50):
        drafting.hear(" ".join(words[: count + 1]), "m")
    await pass_the_pause()
    [draft] = onlooker.seen
    assert (draft.seat, draft.side, draft.round, draft.words, draft.limit) == (
        "A",
        "A",
        "opening",
        50,
        500,
    )
    assert draft.text.startswith("word0 word1")


@pytest.mark.parametrize("spoken", [True, False])
async def test_nothing_is_told_after_the_end(spoken: bool) -> None:
    onlooker = Onlooker()
    drafting = Drafting(onlooker, debate_of(), CUE)
    drafting.hear("One two three", "m")
    drafting.end(spoken=spoken)
    await pass_the_pause()
    assert [draft.dropped for draft in onlooker.seen] == ([] if spoken else [True])


async def test_the_model_that_really_writes_is_not_named_either() -> None:
    onlooker = Onlooker()
    drafting = Drafting(onlooker, debate_of(), CUE)
    drafting.hear("Quokkatron speaks: tea is calmer than coffee, every day.", "quokkatron-9")
    await pass_the_pause()
    assert onlooker.seen[0].text.startswith("[name] speaks")
