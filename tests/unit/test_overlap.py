"""How alike texts are, in scripts with and without spaces."""

import time

import pytest
from hypothesis import given, strategies as st

from engine.values.overlap import (
    is_quoted,
    least_edits,
    least_overlap,
    mean_overlaps,
    most_central,
    quoted_share,
    share_of,
    similarity,
    tokens,
)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("İYİ ÇAY ISITIR", "iyi çay ısıtır"),
        ("Isınmak iyidir", "ısınmak İyidir"),
        ("don’t say ‘tea’", "Don't say 'tea'"),
        ("Die STRASSE, im Café", "die strasse im café"),
    ],
)
def test_a_word_is_the_same_however_it_is_written_in_its_language(text: str, same: str) -> None:
    assert tokens(text) == tokens(same)
    assert len(tokens(text)) == len(text.split())


def test_words_count_once_and_a_share_of_a_quotation_is_found() -> None:
    assert tokens("Tea, tea and TEA!") == {"tea", "and"}
    assert tokens("远程办公") == {"远程", "程办", "办公"}
    assert tokens("茶 tea") == {"茶", "tea"}
    assert quoted_share("one two three four", "zero one two four five") == 0.75
    assert quoted_share("İyi çay", "iyi çay içilir") == 1.0
    assert quoted_share("one two", "One, TWO.") == 1.0


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("tea is good", "tea is bad", 2 / 4),
        ("Çay iyidir", "ÇAY iyidir", 1.0),
        ("远程办公好", "远程办公差", 3 / 5),
        ("one", "two", 0.0),
        ("", "...", 1.0),
    ],
)
def test_similarity_is_shared_over_all_words(first: str, second: str, expected: float) -> None:
    assert similarity(first, second) == pytest.approx(expected)


def test_the_most_central_text_shares_most_with_the_others_or_is_tied_at_any_length() -> None:
    texts = {"1": "tea is warm", "2": "tea is warm and good", "3": "coffee is good"}
    assert most_central(texts) == "2"
    assert mean_overlaps(texts)["2"] == pytest.approx((3 / 5 + 2 / 6) / 2)
    assert least_overlap(texts) == pytest.approx(1 / 5)
    assert most_central({"1": "tea", "2": "tea!!", "3": "tea"}) is None
    assert most_central({"1": "tea is hot", "2": "tea is a hot and a long drink"}) is None
    assert most_central({"1": "alone"}) == "1"
    assert least_overlap({"1": "alone"}) == 1.0


@given(st.dictionaries(st.sampled_from("123456789"), st.text(max_size=40), min_size=1))
def test_the_most_central_text_is_one_of_them_or_none(texts: dict[str, str]) -> None:
    assert most_central(texts) in (*texts, None)
    assert all(0 <= share <= 1 for share in mean_overlaps(texts).values())


TEXT = (
    "Wherever it can be checked, results follow the thesis more often than its opposite. "
    "茶比咖啡更好喝。"
)


@pytest.mark.parametrize(
    ("quotation", "found"),
    [
        ("results follow the thesis more often than its opposite", True),
        ("“Results follow the thesis, more often than its opposite!”", True),
        ("results nearly follow the thesis more often than the opposite", True),  # 2 of 9 differ
        ("Wherever it can be checked … more often than its opposite", True),
        ("the results rarely follow any thesis", False),
        ("opposite its than often more thesis the follow results", False),
        ("coffee cures most mice", False),
        ("茶比咖啡更好喝", True),
        ("茶比咖啡更难喝", True),
        ("咖啡比茶便宜得多", False),
        ("…", False),
        ("", False),
    ],
)
def test_a_quotation_is_found_where_it_is_nearly_word_for_word(quotation: str, found: bool) -> None:
    assert is_quoted(quotation, TEXT) is found
    assert not is_quoted(quotation, "")


def edits_by_table(wanted: list[str], words: list[str]) -> int:
    """Fill the whole table, as the definition has it; any stretch of the words may be meant."""
    above = [0] * (len(words) + 1)
    for at, word in enumerate(wanted, 1):
        row = [at]
        for left, other in enumerate(words):
            row.append(min(above[left] + (word != other), above[left + 1] + 1, row[left] + 1))
        above = row
    return min(above)


@given(
    st.lists(st.sampled_from("abcd"), max_size=9), st.lists(st.sampled_from("abcde"), max_size=30)
)
def test_edits_are_those_of_the_whole_table(wanted: list[str], words: list[str]) -> None:
    assert least_edits(wanted, words) == edits_by_table(wanted, words)


def test_many_long_quotations_take_seconds_at_most() -> None:
    text, quoted = "甲乙丙丁戊" * 8_000, "乙甲丁丙戊" * 40
    began = time.process_time()
    assert not is_quoted("never " * 5000, "said " * 5000)
    assert time.process_time() - began < 2
    began = time.process_time()
    for _ in range(5):
        share_of(quoted, text)
    assert time.process_time() - began < 5
