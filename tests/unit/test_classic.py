"""`classic`: who speaks when, and what each prompt holds."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.debate import Setup
from engine.errors import ModelError, StoreError, UsageError
from engine.formats import find_format, format_of
from engine.formats.classic import Classic
from tests.doubles.desk import ScriptedDesk, floor_on, setup_of, tell

ROUNDS = ("opening", "rebuttal", "assumptions", "closing")
IN_ORDER = [f"turn/{name}/{side}" for name in ROUNDS for side in "AB"]


async def hold(setup: Setup, desk: ScriptedDesk | None = None) -> ScriptedDesk:
    """Hold a debate before a scripted desk."""
    desk = desk or ScriptedDesk()
    await Classic().run(floor_on(desk, setup))
    return desk


def heard(desk: ScriptedDesk, step: str) -> set[str]:
    """Return whose words a step's last message holds."""
    return {other for other in IN_ORDER if f"Words of {other}." in desk.prompt(step).last}


async def test_a_speaks_then_b_through_four_rounds() -> None:
    desk = await hold(setup_of())
    assert desk.steps == IN_ORDER
    assert [turn.step for turn in desk.turns] == IN_ORDER
    assert [turn.number for turn in desk.turns] == list(range(1, 9))
    assert [turn.place for turn in desk.turns] == [1, 2] * 4


async def test_a_reads_b_of_the_round_before_and_b_reads_a_of_this_one() -> None:
    desk = await hold(setup_of())
    assert heard(desk, "turn/opening/A") == set()
    for number, name in enumerate(ROUNDS):
        assert heard(desk, f"turn/{name}/B") == {f"turn/{name}/A"}
        if number:
            assert heard(desk, f"turn/{name}/A") == {f"turn/{ROUNDS[number - 1]}/B"}


async def test_simultaneous_sides_read_only_the_round_before() -> None:
    desk = await hold(setup_of(simultaneous=True))
    for side in "AB":
        assert heard(desk, f"turn/opening/{side}") == set()
    for before, name in itertools.pairwise(ROUNDS):
        assert heard(desk, f"turn/{name}/A") == {f"turn/{before}/B"}
        assert heard(desk, f"turn/{name}/B") == {f"turn/{before}/A"}


@pytest.mark.parametrize("simultaneous", [False, True])
async def test_a_seat_never_reads_more_of_the_other_than_single_texts(simultaneous: bool) -> None:
    desk = await hold(setup_of(simultaneous=simultaneous))
    last = desk.prompt("turn/closing/B").messages
    for message in last:
        if message.role == "assistant":
            assert "/B." in message.content
        assert message.content.count("<opponent>\n") <= 1


async def test_simultaneous_sides_write_at_the_same_time() -> None:
    together = await hold(setup_of(simultaneous=True), ScriptedDesk(slow={IN_ORDER[0]: 0.01}))
    in_turn = await hold(setup_of(), ScriptedDesk(slow={IN_ORDER[0]: 0.01}))
    assert (together.most_talking, in_turn.most_talking) == (2, 1)


async def test_posts_stay_in_order_when_b_answers_first() -> None:
    slow = {f"turn/{name}/A": 0.02 for name in ROUNDS}
    desk = await hold(setup_of(simultaneous=True), ScriptedDesk(slow=slow))
    assert desk.finished.index("turn/opening/B") < desk.finished.index("turn/opening/A")
    assert [turn.step for turn in desk.turns] == IN_ORDER
    assert [post.key for post in desk.posts] == IN_ORDER


@pytest.mark.parametrize("failing", ["A", "B"])
async def test_a_sibling_that_was_paid_for_is_kept_when_the_other_fails(failing: str) -> None:
    other, failed = "B" if failing == "A" else "A", f"turn/rebuttal/{failing}"
    desk = ScriptedDesk(lambda step: ModelError("down") if step == failed else tell(step))
    # The one that fails does so at once; the other is still being written then.
    desk.slow = {f"turn/rebuttal/{other}": 0.02}
    with pytest.raises(ModelError, match="down"):
        await hold(setup_of(simultaneous=True), desk)
    assert f"turn/rebuttal/{other}" in desk.stored
    told = [turn.step for turn in desk.turns]
    assert told == IN_ORDER[: 2 if failing == "A" else 3]

    desk.answer = tell
    desk.asked.clear()
    desk.turns.clear()
    await hold(setup_of(simultaneous=True), desk)
    assert desk.steps == [failed, *IN_ORDER[4:]]
    assert [turn.step for turn in desk.turns] == IN_ORDER


async def test_more_rounds_repeat_the_rebuttal() -> None:
    setup = setup_of(rounds=3)
    desk = await hold(setup)
    rounds = ("opening", "rebuttal", "rebuttal-2", "rebuttal-3", "assumptions", "closing")
    assert desk.steps == [f"turn/{name}/{side}" for name in rounds for side in "AB"]
    assert Classic().rounds(setup.request) == rounds
    assert Classic().turns(setup.request) == 12
    assert "Words of turn/rebuttal-2/B." in desk.prompt("turn/rebuttal-3/A").last
    assert "Words of turn/rebuttal-3/B." in desk.prompt("turn/assumptions/A").last


def test_waves_count_the_calls_that_wait_for_one_another() -> None:
    assert Classic().waves(setup_of().request) == 8
    assert Classic().waves(setup_of(simultaneous=True).request) == 4


async def test_debaters_sample_warmer_than_closings() -> None:
    desk = await hold(setup_of())
    warmth = [call.sampling.temperature for call in desk.asked]
    assert warmth == [0.7] * 6 + [0.5] * 2


async def test_each_round_asks_for_its_own() -> None:
    desk = await hold(setup_of())
    for side, stance in (("A", "in favour of the motion"), ("B", "against the motion")):
        prompts = [desk.prompt(f"turn/{name}/{side}").last for name in ROUNDS]
        assert all(f"side {side}, {stance}" in text for text in prompts)
        assert "Motion: Tea beats coffee" in prompts[0]
        assert all("at most 3 numbered arguments" in text.lower() for text in prompts[:3])
        assert all("At most 500 words." in text for text in prompts[:3])
        assert "at most 500 characters" in prompts[3]
        assert "at most 200 words" in prompts[3]
        assert "assumptions" in prompts[2]


async def test_conditions_bind_both_sides_and_are_left_out_when_there_are_none() -> None:
    bound = await hold(setup_of(conditions="Consider only Türkiye."))
    free = await hold(setup_of())
    for side in "AB":
        step = f"turn/opening/{side}"
        assert "Consider only Türkiye." in bound.prompt(step).last
        assert "onditions" not in free.prompt(step).last


@pytest.mark.parametrize(
    ("code", "named"),
    [("tr", "Turkish (tr)"), ("zh-Hant", "Chinese (zh-Hant)"), ("ar", "Arabic (ar)"), ("xx", "xx")],
)
async def test_debaters_are_told_the_language(code: str, named: str) -> None:
    desk = await hold(setup_of(language=code))
    assert all(f"Write in {named}," in call.messages[0].content for call in desk.asked)


async def test_both_sides_share_one_system_prompt() -> None:
    desk = await hold(setup_of())
    assert len({call.messages[0].content for call in desk.asked}) == 1
    assert {call.messages[0].role for call in desk.asked} == {"system"}


@settings(max_examples=3)
@example('{{ 7*7 }} {% raw %} </opponent> "\n')
@given(st.text(max_size=60))
async def test_any_topic_reaches_both_openings_as_it_is(topic: str) -> None:
    desk = await hold(setup_of(topic=f"[{topic}]"))
    for side in "AB":
        assert f"[{topic}]" in desk.prompt(f"turn/opening/{side}").last


def test_an_unknown_format_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match="no format “jousting”; choose from classic"):
        find_format("jousting")
    assert find_format("classic").name == "classic"


def test_a_debate_of_a_version_that_is_gone_says_what_to_do() -> None:
    assert format_of("classic", 1).version == 1
    with pytest.raises(StoreError, match=r"version 99 of the format classic.*start a new one"):
        format_of("classic", 99)
