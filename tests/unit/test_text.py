"""Counting, cleaning, shortening and cutting of texts in any script."""

import time

import pytest
import regex
from hypothesis import example, given, strategies as st

from engine.values.markdown import split_markdown
from engine.values.text import (
    clean,
    count_arguments,
    count_repeats,
    count_words,
    dollars,
    headline,
    rename,
    split_closing,
)

FAMILY = "👨‍👩‍👧‍👦"
SAID = st.text(
    st.one_of(
        st.sampled_from(list("ab .\n`~-1é\u0301\u200d🇹🇷👍。的 ")), st.characters(codec="utf-8")
    ),
    max_size=400,
)
WRITTEN = ["a\tb\nc", FAMILY, "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "שלום עולם", "نص\u200f!", "@everyone <!channel>", "{{ 7*7 }}"]
FENCED = st.lists(
    st.sampled_from(
        ["```python", "```", "~~~", "````", "x = 1", "  if y:", "Prose. More prose!", "", "  ```"]
    ),
    max_size=40,
).map("\n".join)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("… — !? 👍 🇹🇷 ***", 0),
        ("Don't stop: 3.14 is e-mail's pi", 7),
        ("Türkiye'de uzaktan çalışma verimli mi?", 5),
        ("الذكاء الاصطناعي سيحل محل المبرمجين", 5),
        ("인공지능은 프로그래머를 대체한다", 3),
        ("人工智能将取代程序员", 7),
        ("リモートワーク", 5),
        ("好", 1),
        ("GPT 取代 程序员 by 2030.", 6),
        ("cafe\u0301 au lait", 3),
        (f"{FAMILY} ok", 1),
    ],
)
def test_words_are_counted_in_any_script(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "characters", "words"),
    # Marks of Thai and Burmese are no characters.
    [("人工智能将取代程序员", 2.0, 5), ("ที่นี่", 1.0, 2), ("ကို", 1.0, 1)],
)
def test_characters_per_word_are_a_setting(text: str, characters: float, words: int) -> None:
    assert count_words(text, characters) == words


@given(st.lists(st.text("abcxyz", min_size=1, max_size=8)))
def test_words_plain_words_count_one_each(words: list[str]) -> None:
    assert count_words(" ".join(words)) == len(words)


@given(st.text([*map(chr, range(0x20, 0x7F)), *"\t\nÀéßÿıŁ…‐‑—‘’“”‧ǀ"]))
def test_words_plain_texts_count_as_any_other(text: str) -> None:
    """Emoji are no words; what they are in takes the longer way."""
    assert count_words(text) == count_words(f"{text} 🙂")


@given(SAID, SAID)
def test_words_mixed_texts_add_up(one: str, other: str) -> None:
    both = count_words(f"{one}\n\n{other}")
    assert abs(both - count_words(one) - count_words(other)) <= 1


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("No list at all; version 3.14 of 2024.", 0),
        ("1. one\n2. two\n3. three", 3),
        ("1) one\n2) two", 2),
        ("Intro\n\n**1. Bold** text\n\n**2.** more", 2),
        ("### 1. Title\n1. inner\n2. inner\n### 2) Title\ntext", 2),
        ("1. one\n   1. nested\n   2. nested\n2. two", 2),
        ("1. one\n\t1. nested", 1),
        ("  1. one\n  2. two", 2),
        ("1、第一\n2、第二\n３．第三", 3),
        ("```\n1. code\n2. code\n```\n1. real", 1),
        ("1.5 million\n2030. was a year", 0),
    ],
)
def test_arguments_counts(text: str, arguments: int) -> None:
    assert count_arguments(text) == arguments


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("The debate is over. " * 40, 40),
        ("**The debate is over!**\n\n" * 5, 5),
        ("1. The debate is over.\n2. The debate  is over\n", 2),
        ("the debate is over. " * 8, 8),
        ("We love the EU. " * 6, 6),
        ("辩论结束了。" * 7, 7),
        ("बहस खत्म हो गई।" * 6, 6),
        ("انتهى النقاش الآن؟ " * 5, 5),
        ("No. Never! " * 9, 0),
        ("So says Smith et al. (2020), too. And so says Smith et al. 2021. ", 0),
        ("According to Dr. Smith it is. According to Dr. Jones it is not.", 0),
        ("Under Article 2.1 it is. Under Article 2.2 it is not.", 0),
        ("", 0),
    ],
)
def test_repeats_counts_the_sentence_that_a_text_says_most(text: str, times: int) -> None:
    assert count_repeats(text) == times


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("In sum.\n---\nWe win.", ("In sum.", "We win.")),
        ("In sum.\n\nStill.\n\n ----- \n\nWe win.", ("In sum.\n\nStill.", "We win.")),
        ("In sum.\n\nWe win.\n\nReally.", ("In sum.", "We win.\n\nReally.")),
        ("We win.", ("", "We win.")),
        ("a -- b\n--\nc", ("", "a -- b\n--\nc")),
        ("", ("", "")),
    ],
)
def test_closing_divides(text: str, parts: tuple[str, str]) -> None:
    assert split_closing(text) == parts


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("\x1b[31mred\x1b[0m\x00\x07\x9b2J", "[31mred[0m2J"),
        ("ab\u202etxt.exe\u202c\u2066x\u2069", "abtxt.exex"),  # it would turn the text around
        ("a\ud83db\udc00c", "abc"),
        *((text, text) for text in [*WRITTEN, "e\u0301"]),
    ],
)
def test_clean_normalises_newlines_removes_what_acts_and_leaves_what_people_write(
    text: str, cleaned: str
) -> None:
    assert clean(text) == cleaned


@given(st.text(st.characters()))
def test_clean_can_always_be_stored_and_is_stable(text: str) -> None:
    safe = clean(text)
    assert "\x00" not in safe
    assert safe.encode().decode() == safe
    assert clean(safe) == safe


def test_a_headline_is_one_line_shortened_between_words_and_visible_characters() -> None:
    assert headline(" Is\n this \t one? ", 40) == "Is this one?"
    assert headline("Remote work is more productive", 20) == "Remote work is more…"
    assert headline(f"abcdef{FAMILY}", 10) == "abcdef…"


@given(SAID, st.integers(1, 60))
def test_a_headline_keeps_the_limit(text: str, limit: int) -> None:
    short = headline(text, limit)
    assert len(short) <= limit
    assert "\n" not in short


def letters(text: str) -> str:
    return "".join(text.split())


def without_fences(text: str) -> str:
    return letters(
        "\n".join(x for x in text.split("\n") if not x.strip().startswith(("```", "~~~")))
    )


def torn_fences(piece: str) -> bool:
    marker = ""
    for line in (x.strip() for x in piece.split("\n")):
        if marker:
            marker = "" if line == line[0:1] * len(line) and line.startswith(marker) else marker
        elif found := regex.match(r"(`{3,}|~{3,})[^`]*$", line):
            marker = found[1]
    return bool(marker)


def escaped(text: str) -> int:
    return len(text) + 4 * text.count("&")


@pytest.mark.parametrize(
    ("text", "limit", "pieces"),
    [
        ("", 100, ()),
        ("Hello.", 100, ("Hello.",)),
        ("One two.\n\nThree four.", 15, ("One two.", "Three four.")),
        ("One two.\nThree fourteen.", 15, ("One two.", "Three fourteen.")),
        ("One two. Three fourteen", 15, ("One two.", "Three fourteen")),
        ("Onetwothree fourfive six", 15, ("Onetwothree", "fourfive six")),
        ("一二三四五六。七八九十一二三四五", 15, ("一二三四五六。", "七八九十一二三四五")),
        ("a" * 20, 15, ("a" * 15, "a" * 5)),
        ("See:\n```js\nlet a", 100, ("See:\n```js\nlet a\n```",)),  # which nobody closed
    ],
)
def test_a_split_cuts_where_it_hurts_least(text: str, limit: int, pieces: tuple[str, ...]) -> None:
    assert split_markdown(text, limit) == pieces


def test_a_split_tears_no_visible_character_and_leaves_no_fence_open() -> None:
    for limit in range(8, 40):
        pieces = split_markdown(FAMILY * 20 + "🇹🇷" * 30, limit)
        assert all(regex.fullmatch(rf"(?:{FAMILY}|🇹🇷)+", piece) for piece in pieces)
    code = "\n".join(f"    line_{i} = {i}" for i in range(12))
    pieces = split_markdown(f"Look:\n\n```python\n{code}\n```\n\nDone.", 100)
    assert len(pieces) > 2
    assert pieces[1].startswith("```python\n    line_")
    assert pieces[1].endswith("\n```")
    assert not any(torn_fences(piece) for piece in pieces)
    assert [x for piece in pieces for x in piece.split("\n") if "line_" in x] == code.split("\n")
    block = "```\n" + "\n".join(["code"] * 8) + "\n```"
    pieces = split_markdown("word " * 10 + f"\n\n{block}\n\nafter", 60)
    assert block in "\n".join(pieces)
    text = "```" + "x" * 30
    assert "".join(split_markdown(text, 16)) == text
    with pytest.raises(ValueError, match="limit is 0"):
        split_markdown("a", 0)


@given(SAID, st.integers(1, 80))
@example("\n\n\n   a", 1)
def test_a_split_keeps_the_limit_and_every_letter(text: str, limit: int) -> None:
    pieces = split_markdown(text, limit)
    assert all(0 < len(piece) <= limit for piece in pieces)
    if ("```" not in text and "~~~" not in text) or limit < 12:  # no room for a fence
        assert letters("".join(pieces)) == letters(text)


@given(FENCED, st.integers(48, 120))
def test_a_split_keeps_fences_balanced(text: str, limit: int) -> None:
    pieces = split_markdown(text, limit)
    assert all(len(piece) <= limit for piece in pieces)
    assert not any(torn_fences(piece) for piece in pieces)
    assert without_fences("\n".join(pieces)) == without_fences(text)


@given(st.text(st.sampled_from("a&\n `"), max_size=300), st.integers(5, 60))
def test_a_split_measures_as_it_is_told(text: str, limit: int) -> None:
    pieces = split_markdown(text, limit, escaped)
    assert all(escaped(piece) <= limit for piece in pieces)


MEGABYTE = 1_000_000
PART = 200_000


@pytest.mark.parametrize(
    "text",
    [
        "Word after word, and then some. " * (MEGABYTE // 32),
        "a" * MEGABYTE,
        "\u0301" * PART,
        "🇹🇷" * (PART // 4),
        "`" * PART,
        "```\n" * (PART // 4),
        "```" + "x\n" * (PART // 2),
        "\n" * PART,
        " " * PART + "x",
        "\n " * (PART // 2),
        "." * PART,
        ".)" * (PART // 2),
        " \u0301" * (PART // 2),
        "1. " * (PART // 3),
        "的" * PART,
        "-" * PART + "x",
    ],
    ids=lambda text: repr(text[:8]),
)
def test_a_long_text_of_anything_takes_a_moment(text: str) -> None:
    # Quadratic time would be minutes; the bound leaves room for a busy machine.
    began = time.process_time()
    split_markdown(text, 2000)
    count_words(text)
    count_arguments(text)
    count_repeats(text)
    split_closing(text)
    headline(clean(text), 90)
    assert time.process_time() - began < 8


@pytest.mark.parametrize(
    ("usd", "said"), [(0.0, "0.00"), (0.004, "0.004"), (0.00123, "0.0012"), (1, "1.00")]
)
def test_small_amounts_have_the_digits_that_they_need(usd: float, said: str) -> None:
    assert dollars(usd) == said


def test_names_are_replaced_at_once_and_the_longest_first() -> None:
    names = {"Ash": "Rowan", "Rowan": "B", "Rowan Oak": "C"}
    assert rename("Ash beats Rowan, Rowan Oak wins", names) == "Rowan beats B, C wins"
    assert rename("Ash认为 a.c", {"Ash": "A", "a.c": "."}) == "A认为 ."
    assert rename("Ash", {}) == "Ash"
