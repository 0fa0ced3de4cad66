"""`classic`: who speaks when, and what each prompt holds."""

import re

import pytest
from hypothesis import example, given, settings, strategies as st

from engine.formats import find_format, format_of
from engine.formats.classic import Classic
from engine.prompts import quote
from engine.values.debate import Setup
from engine.values.errors import ModelError, StoreError, UsageError
from engine.values.verdicts import Artifact
from tests.kit import ScriptedHost, conclude, setup_of, stage_on, tell

ROUNDS = ("opening", "rebuttal", "assumptions", "closing")
IN_ORDER = [f"turn/{name}/{side}" for name in ROUNDS for side in "AB"]


async def hold(setup: Setup, host: ScriptedHost | None = None) -> ScriptedHost:
    host = host or ScriptedHost()
    await Classic().run(stage_on(host, setup))
    return host


def heard(host: ScriptedHost, step: str) -> set[str]:
    return {other for other in IN_ORDER if f"Words of {other}." in host.prompt(step).last}


@pytest.mark.parametrize("simultaneous", [False, True])
async def test_a_and_b_speak_through_four_rounds_and_read_the_last_text_of_the_other(
    simultaneous: bool,
) -> None:
    setup = setup_of(simultaneous=simultaneous)
    host = await hold(setup)
    assert host.steps == IN_ORDER
    assert [turn.step for turn in host.turns] == IN_ORDER
    assert [turn.number for turn in host.turns] == list(range(1, 9))
    assert [turn.place for turn in host.turns] == [1, 2] * 4
    assert Classic().waves(setup.request) == (4 if simultaneous else 8)
    for number, name in enumerate(ROUNDS):
        before = ROUNDS[number - 1] if number else None
        assert heard(host, f"turn/{name}/A") == ({f"turn/{before}/B"} if before else set())
        other = before if simultaneous else name
        assert heard(host, f"turn/{name}/B") == ({f"turn/{other}/A"} if other else set())
    for message in host.prompt("turn/closing/B").messages:
        if message.role == "assistant":
            assert "/B." in message.content
        assert len(re.findall(r"(?<!>)\n\n>|said last:\n>", message.content)) <= 1
    assert [call.sampling.temperature for call in host.asked] == [0.7] * 6 + [0.5] * 2
    (system,) = {call.messages[0] for call in host.asked}
    assert system.role == "system"


async def test_simultaneous_sides_write_at_once_and_posts_stay_in_order_when_b_is_first() -> None:
    slow = {f"turn/{name}/A": 0.02 for name in ROUNDS}
    host = await hold(setup_of(simultaneous=True), ScriptedHost(slow=slow))
    assert host.finished.index("turn/opening/B") < host.finished.index("turn/opening/A")
    assert [turn.step for turn in host.turns] == IN_ORDER
    assert [post.key for post in host.posts] == IN_ORDER
    in_turn = await hold(setup_of(), ScriptedHost(slow={IN_ORDER[0]: 0.01}))
    assert (host.most_talking, in_turn.most_talking) == (2, 1)


@pytest.mark.parametrize("failing", ["A", "B"])
async def test_a_sibling_that_was_paid_for_is_kept_when_the_other_fails(failing: str) -> None:
    other, failed = "B" if failing == "A" else "A", f"turn/rebuttal/{failing}"
    host = ScriptedHost(lambda step: ModelError("down") if step == failed else tell(step))
    # The one that fails does so at once; the other is still being written then.
    host.slow = {f"turn/rebuttal/{other}": 0.02}
    with pytest.raises(ModelError, match="down"):
        await hold(setup_of(simultaneous=True), host)
    assert f"turn/rebuttal/{other}" in host.stored
    told = [turn.step for turn in host.turns]
    assert told == IN_ORDER[: 2 if failing == "A" else 3]

    host.answer = tell
    host.asked.clear()
    host.turns.clear()
    await hold(setup_of(simultaneous=True), host)
    assert host.steps == [failed, *IN_ORDER[4:]]
    assert [turn.step for turn in host.turns] == IN_ORDER


async def test_more_rounds_repeat_the_rebuttal() -> None:
    setup = setup_of(rounds=3)
    host = await hold(setup)
    rounds = ("opening", "rebuttal", "rebuttal-2", "rebuttal-3", "assumptions", "closing")
    assert host.steps == [f"turn/{name}/{side}" for name in rounds for side in "AB"]
    assert Classic().rounds(setup.request) == rounds
    assert Classic().turns(setup.request) == 12
    assert "Words of turn/rebuttal-2/B." in host.prompt("turn/rebuttal-3/A").last
    assert "Words of turn/rebuttal-3/B." in host.prompt("turn/assumptions/A").last


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
    host = await hold(setup_of(language=code))
    assert all(f"Write in {named}," in call.messages[0].content for call in host.asked)


@pytest.mark.slow
@settings(max_examples=3)
@example('{{ 7*7 }} {% raw %} </opponent> "\n')
@given(st.text(max_size=60))
async def test_any_topic_reaches_both_openings_as_it_is(topic: str) -> None:
    host = await hold(setup_of(topic=f"[{topic}]"))
    for side in "AB":
        assert quote(f"[{topic}]") in host.prompt(f"turn/opening/{side}").last


def test_an_unknown_format_or_version_is_refused_with_what_to_do() -> None:
    with pytest.raises(UsageError, match="no format “jousting”; choose from classic"):
        find_format("jousting")
    setup = setup_of()
    assert find_format("classic").name == format_of(setup).name == "classic"
    with pytest.raises(StoreError, match=r"version 0 of the format classic.*start a new one"):
        format_of(setup.model_copy(update={"format_version": 0}))


def closing_with(*answers: str) -> ScriptedHost:
    """Return a host on which A's last turn is answered like this, and again like this."""

    def answer(step: str) -> str:
        if not step.startswith("turn/closing/A"):
            return tell(step)
        return answers[-1] if step.endswith("/again") else answers[0]

    return ScriptedHost(answer)


def decision_of(host: ScriptedHost, seat: str = "A") -> Artifact:
    name = f"decision/turn/closing/{seat}"
    kept = [one for note in host.notes for one in note.artifacts if one.name == name]
    assert len(kept) == 1
    return kept[0]


@pytest.mark.parametrize(
    ("language", "decision", "shown"),
    [
        ("en", "gives_up", "Gives up its position."),
        ("de", "maintains", "Hält an der Position fest."),
        ("es-MX", "qualifies", "Matiza su posición."),
        ("tr", "maintains", "Tutumunu koruyor."),
        ("zh", "qualifies", "有保留地坚持立场。"),
        ("fi", "maintains", "Maintains its position."),
    ],
)
async def test_the_thread_shows_a_decision_in_words_of_its_language(
    language: str, decision: str, shown: str
) -> None:
    host = closing_with(conclude("It came to costs.", "Nobody met them.", decision))
    await hold(setup_of(language=language), host)
    turn = next(turn for turn in host.turns if turn.step == "turn/closing/A")
    assert turn.text == f"It came to costs.\n\n---\n\n**{shown}**\n\nNobody met them."
    assert turn.violations == ()
    assert shown in host.prompt("turn/closing/B").last
    assert "{" not in turn.text


@pytest.mark.parametrize("said", ["Gives up", "GIVES-UP", " gives_up "])
async def test_a_decision_is_read_in_any_spelling_of_its_word(said: str) -> None:
    host = await hold(setup_of(), closing_with(conclude("So.", "Why.", said)))
    assert decision_of(host).body["decision"] == "gives_up"
    assert "turn/closing/A/again" not in host.steps


@pytest.mark.parametrize("first", ["I keep to it.", conclude("So.", "Why.", "I rather keep it")])
async def test_a_decision_that_cannot_be_read_is_asked_for_once_more(first: str) -> None:
    host = await hold(setup_of(), closing_with(first, conclude("So.", "Why.", "qualifies")))
    assert host.steps[-3:] == ["turn/closing/A", "turn/closing/A/again", "turn/closing/B"]
    assert '"maintains", "qualifies" or "gives_up"' in host.prompt("turn/closing/A/again").last
    assert decision_of(host).body["decision"] == "qualifies"


@pytest.mark.parametrize(
    ("answer", "shown", "kind"),
    [
        ("I maintain my position.", "I maintain my position.", "unreadable"),
        (conclude("So.", "I maintain it.", ""), "So.\n\n---\n\nI maintain it.", "no_decision"),
    ],
)
async def test_a_decision_that_stays_unreadable_is_unknown_and_never_guessed(
    answer: str, shown: str, kind: str
) -> None:
    host = await hold(setup_of(), closing_with(answer))
    assert host.steps.count("turn/closing/A/again") == 1
    assert decision_of(host).body["decision"] == "unknown"
    assert not decision_of(host).valid
    turn = next(turn for turn in host.turns if turn.step == "turn/closing/A")
    assert (turn.text, [one.kind for one in turn.violations]) == (shown, [kind])


async def test_a_last_turn_over_its_limits_is_sent_back_and_then_marked() -> None:
    host = await hold(setup_of(), closing_with(conclude("s" * 501, "word " * 201)))
    told = host.prompt("turn/closing/A/again").last
    assert "synthesis has 501 characters; at most 500 are allowed" in told
    assert "decision has 201 words; at most 200 are allowed" in told
    turn = next(turn for turn in host.turns if turn.step == "turn/closing/A")
    measured = [(one.kind, one.measured, one.limit) for one in turn.violations]
    assert measured == [("long_synthesis", 501, 500), ("long_decision", 201, 200)]
    assert decision_of(host).body["decision"] == "maintains"


async def test_a_missing_key_is_told_plainly_and_not_in_the_words_of_a_library() -> None:
    host = await hold(setup_of(), closing_with('{"synthesis": 3, "decision": "maintains"}'))
    again = host.prompt("turn/closing/A/again").last
    assert "> “synthesis” is not a text\n" in again
    assert "> the key “why” is missing\n" in again
