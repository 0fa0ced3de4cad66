"""The built-in motions."""

from __future__ import annotations

from engine.topics import built_in_topics


def test_the_built_in_motions_can_be_debated() -> None:
    topics = built_in_topics()
    assert len(topics) >= 8
    texts = [topic.text for topic in topics]
    assert len(set(texts)) == len(texts)
    assert all(text.strip() == text and len(text) > 20 for text in texts)
    assert "Remote work is more productive than working from an office" in texts


def test_conditions_come_with_the_motion_they_are_for() -> None:
    bound = {topic.text: topic.conditions for topic in built_in_topics() if topic.conditions}
    remote = bound["Remote work is more productive than working from an office"]
    assert "Türkiye" in remote
