"""What is offered while somebody types."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from engine.chat.choices import (
    CommandChoice,
    debate_choices,
    format_choices,
    language_choices,
    matching,
    model_choices,
    topic_choices,
)
from engine.values.debate import Model
from engine.values.topics import built_in_topics
from tests.kit import make_debate

MODELS = [Model.parse(f"near/{name}") for name in ("maple", "oak", "oak", "fir")]


def values(choices: tuple[CommandChoice, ...]) -> list[str]:
    return [choice.value for choice in choices]


def test_models_match_by_any_part_and_come_once() -> None:
    assert values(model_choices("", MODELS)) == ["near/maple", "near/oak", "near/fir"]
    assert values(model_choices(" OAK ", MODELS)) == ["near/oak"]
    assert values(model_choices("elm", MODELS)) == []


def test_what_begins_so_comes_before_what_has_it_within() -> None:
    choices = [CommandChoice(value=text, label=text) for text in ("a tea", "tea", "no", "teapot")]
    assert values(matching("tea", choices)) == ["tea", "teapot", "a tea"]


def test_the_persons_own_language_comes_first() -> None:
    assert values(language_choices("", "tr-TR"))[0] == "tr"
    assert language_choices("germ", "en") == (CommandChoice(value="de", label="German (de)"),)


def test_languages_are_named_in_the_persons_language_and_found_by_their_english_names() -> None:
    german = CommandChoice(value="de", label="Deutsch (de)")
    assert language_choices("", "de")[0] == german
    assert language_choices("deut", "de") == language_choices("germ", "de") == (german,)
    assert language_choices("nothing", "de") == ()


def test_formats_topics_and_debates_are_offered() -> None:
    assert "classic" in values(format_choices("cla"))
    assert any("Remote work" in text for text in values(topic_choices("remote", built_in_topics())))
    debate = make_debate(7)
    assert values(debate_choices("Topic 7", [debate])) == [debate.code]
    assert values(debate_choices(debate.code[:3], [debate])) == [debate.code]


def test_debates_that_share_a_code_are_both_offered() -> None:
    debate = make_debate(7)
    other = debate.model_copy(update={"id": "01JOTHER" + debate.id[8:]})
    assert values(debate_choices("Topic 7", [debate, other])) == [debate.id, other.id]


@settings(deadline=None)
@given(st.text(max_size=5), st.lists(st.text(max_size=8), max_size=60))
def test_at_most_25_are_offered_and_all_of_them_match(prefix: str, texts: list[str]) -> None:
    found = matching(prefix, [CommandChoice(value=text, label=text) for text in texts])
    assert len(found) <= 25
    wanted = " ".join(prefix.split()).casefold()
    assert all(wanted in choice.value.casefold() for choice in found)


def test_what_no_platform_can_hand_back_is_not_offered() -> None:
    assert model_choices("", [Model.parse(f"near/{'x' * 96}"), MODELS[0]]) == (
        CommandChoice(value="near/maple", label="near/maple"),
    )


def test_no_label_is_longer_than_platforms_show() -> None:
    long = make_debate(1, topic="word " * 200)
    assert all(
        len(choice.label) <= 100
        for choice in (*topic_choices("", built_in_topics()), *debate_choices("", [long]))
    )
