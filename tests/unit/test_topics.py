"""The built-in motions."""

import pytest

from engine.values.topics import built_in_topics, find_topic, has_blocked
from tests.kit import some


def test_built_in_motions_can_be_debated_and_are_found_with_their_conditions() -> None:
    topics = built_in_topics()
    assert len(topics) >= 8
    texts = [topic.text for topic in topics]
    assert len(set(texts)) == len(texts)
    assert all(topic.category for topic in topics)
    assert all(text.strip() == text and len(text) >= 6 for text in texts)
    assert "Remote work is more productive than working from an office" in texts
    found = some(find_topic(built_in_topics(), "  TABS or spaces?! "))
    assert (found.stance_a, found.stance_b) == ("tabs", "spaces")
    assert find_topic(built_in_topics(), "Tabs") is None
    bound = {topic.text: topic.conditions for topic in built_in_topics() if topic.conditions}
    remote = bound["Uzaktan çalışmak ofiste çalışmaktan daha verimlidir"]
    assert "Türkiye" in remote


@pytest.mark.parametrize("language", ["en", "de", "es", "tr", "zh"])
def test_each_language_has_its_own_with_stances_where_a_question_needs_them(language: str) -> None:
    topics = [topic for topic in built_in_topics() if topic.language == language]
    assert len(topics) >= 12
    stated = [topic for topic in topics if topic.stance_a]
    assert len(stated) >= 3
    for topic in topics:
        assert bool(topic.stance_a) == bool(topic.stance_b)
        assert topic.stance_a != topic.stance_b or not topic.stance_a
        assert len(topic.text) <= 100  # what Discord offers while it is typed
        # A question has no side for and against it.
        if topic.text.endswith(("?", "？")):
            assert topic.stance_a


@pytest.mark.parametrize(
    ("word", "has", "has_not"),
    [
        ("creme", "A CRÈME brûlée", "Cremes"),
        ("Größe", "die grosse grösse", "grossen"),
        ("hot dog", "a hot-dog; HOT  DOG!", "hot dogs"),
        ("istanbul", "İSTANBUL and ISTANBUL", "istanbullu"),
        ("猫", "养猫比养狗好", "养狗"),
        ("แมว", "เลี้ยงแมวดีกว่า", "เลี้ยงหมา"),
        ("كلب", "هل كَلْبٌ أفضل؟", "كلاب"),
        ("कर", "कर अच्छा है", "करना"),
        ("bad", "b\u200bad, ｂａｄ", "bading"),
        ("🍆", "eat 🍆 daily", "eat daily"),
    ],
)
def test_a_blocked_word_is_found_in_any_case_and_script(word: str, has: str, has_not: str) -> None:
    assert has_blocked(["other", word], has)
    assert not has_blocked(["other", word], has_not, "")
    assert not has_blocked([], has)
