"""What is offered while somebody types."""

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


def test_models_match_by_any_part_come_once_and_what_begins_so_comes_first() -> None:
    assert values(model_choices("", MODELS)) == ["near/maple", "near/oak", "near/fir"]
    assert values(model_choices(" OAK ", MODELS)) == ["near/oak"]
    assert values(model_choices("elm", MODELS)) == []
    choices = [CommandChoice(value=text, label=text) for text in ("a tea", "tea", "no", "teapot")]
    assert values(matching("tea", choices)) == ["tea", "teapot", "a tea"]
    # What no platform can hand back is not offered.
    assert values(model_choices("", [Model.parse(f"near/{'x' * 96}"), MODELS[0]])) == ["near/maple"]


def test_languages_are_named_in_the_persons_own_which_is_first_and_found_in_english() -> None:
    assert values(language_choices("", "tr-TR"))[0] == "tr"
    assert language_choices("germ", "en") == (CommandChoice(value="de", label="German (de)"),)
    german = CommandChoice(value="de", label="Deutsch (de)")
    assert language_choices("", "de")[0] == german
    assert language_choices("deut", "de") == language_choices("germ", "de") == (german,)
    assert language_choices("nothing", "de") == ()


def test_formats_topics_and_debates_are_offered_also_those_that_share_a_code() -> None:
    assert "classic" in values(format_choices("cla"))
    assert any("Remote work" in text for text in values(topic_choices("remote", built_in_topics())))
    debate, long = make_debate(7), make_debate(1, topic="word " * 200)
    assert values(debate_choices("Topic 7", [debate])) == [debate.code]
    assert values(debate_choices(debate.code[:3], [debate])) == [debate.code]
    other = debate.model_copy(update={"id": "01JOTHER" + debate.id[8:]})
    assert values(debate_choices("Topic 7", [debate, other])) == [debate.id, other.id]
    shown = (*topic_choices("", built_in_topics()), *debate_choices("", [long]))
    assert max(len(choice.label) for choice in shown) <= 100  # which platforms show


@settings(deadline=None)
@given(st.text(max_size=5), st.lists(st.text(max_size=8), max_size=60))
def test_at_most_25_are_offered_and_all_of_them_match(prefix: str, texts: list[str]) -> None:
    found = matching(prefix, [CommandChoice(value=text, label=text) for text in texts])
    assert len(found) <= 25
    wanted = " ".join(prefix.split()).casefold()
    assert all(wanted in choice.value.casefold() for choice in found)
