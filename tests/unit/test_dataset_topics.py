"""Topics that are one and the same share an id and a split."""

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from engine.values.topics import SPLITS, fold_topic, split_of, topic_id

SALT = b"s" * 32
CASES = st.sampled_from([str.upper, str.lower, str.title, str.swapcase, str.casefold, str])
MARKS = st.sampled_from(list(" \t\n.,;:!?'\"()[]-–—…“”„«»‘’、。！？／&%*\u00a0\u200b"))
LETTERS = st.text(st.characters(categories=["L", "N", "So"]), min_size=1, max_size=12)


@given(st.lists(st.tuples(LETTERS, MARKS), min_size=1, max_size=5), CASES)
def test_rewordings_by_case_spacing_and_punctuation_share_it(
    words: list[tuple[str, str]], reword: Callable[[str], str]
) -> None:
    reworded = "".join(f"{mark}{reword(word)}{mark}" for word, mark in words)
    topic = " ".join(word for word, _ in words)
    assert topic_id(reworded) == topic_id(topic)
    assert split_of(topic_id(reworded), SALT) == split_of(topic_id(topic), SALT)


@pytest.mark.parametrize(
    ("topic", "reworded"),
    [
        ("Remote work is better.", "  REMOTE-WORK   is “better” !! "),
        ("Sollte die Straße weg?", "SOLLTE DIE STRASSE WEG"),
        ("Işık hızı aşılamaz", "IŞIK HIZI AŞILAMAZ"),
        ("İstanbul büyümeli mi?", "istanbul büyümeli mi"),
        ("Οδός και λόγος", "ΟΔΌΣ ΚΑΙ ΛΌΓΟΣ"),
        ("猫比狗好。", "猫 比 狗 好"),
        ("Ｗｉｄｅ ｌｅｔｔｅｒｓ", "wide letters"),
        ("cafe\u0301", "CAFÉ"),
        ("Love ❤\ufe0f wins", "love ❤ wins"),
    ],
)
def test_examples_of_rewordings(topic: str, reworded: str) -> None:
    assert topic_id(topic) == topic_id(reworded)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Tea is good", "Tea is bad"), ("C++ is good", "C is good"), ("!!!", "???"), ("👍", "👎")],
)
def test_other_topics_have_another(one: str, other: str) -> None:
    assert topic_id(one) != topic_id(other)


@given(st.text())
def test_any_text_folds_once_and_for_all(text: str) -> None:
    assert len(topic_id(text)) == 16
    assert fold_topic(fold_topic(text)) == fold_topic(text)


def test_shares_are_80_10_10_and_another_installation_splits_otherwise() -> None:
    topics = [topic_id(f"topic {number}") for number in range(4000)]
    here = [split_of(topic, SALT) for topic in topics]
    shares = [here.count(split) / len(here) for split in SPLITS]
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.02)
    assert here == [split_of(topic, SALT) for topic in topics]
    assert here != [split_of(topic, b"t" * 32) for topic in topics]
