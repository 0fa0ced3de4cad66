"""The topics that debates can be held on, and the ids and splits of any topic."""

from __future__ import annotations

import hashlib
import hmac
import tomllib
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import regex

from engine.values.debate import Value

RANDOM = "random"  # asks for a topic of the list
LONGEST_STANCE = 200  # characters


class Topic(Value):
    """A topic to offer, with conditions that go well with it.

    The stances are what the sides argue, if that is not for and against it; `language` is a BCP-47
    code.
    """

    text: str
    conditions: str = ""
    stance_a: str = ""
    stance_b: str = ""
    language: str = "en"

    def speaks(self, language: str) -> bool:
        """Return whether it is in a language, whatever the region."""
        return self.language.split("-")[0].lower() == language.split("-")[0].lower()


class TopicList(NamedTuple):
    """The topics of a file that can be used, and a sentence for each entry that cannot."""

    topics: tuple[Topic, ...]
    faults: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def built_in_topics() -> tuple[Topic, ...]:
    """Return the built-in topics, in the order of their languages."""
    data = tomllib.loads(files("engine").joinpath("topics.toml").read_text(encoding="utf-8"))
    names = {"for": "stance_a", "against": "stance_b"}
    return tuple(
        Topic(**{names.get(key, key): value for key, value in entry.items()}, language=language)
        for language, entries in data.items()
        for entry in entries
    )


def find_topic(topics: Iterable[Topic], text: str) -> Topic | None:
    """Return the offered topic of a text, if it is one."""
    wanted = fold_topic(text)
    return next((topic for topic in topics if fold_topic(topic.text) == wanted), None)


# --- words that a community blocks ---------------------------------------------------------


def has_blocked(words: Collection[str], *texts: str) -> bool:
    """Return whether a text has one of these words, whatever the case, accents and width.

    Only whole words count, but where a script writes none apart, such as Chinese or Thai.
    """
    if not words:
        return False
    pattern = _pattern_of(tuple(words))
    return any(pattern.search(_fold_accents(text)) for text in texts if text)


# Hebrew's points have its script; the voicing marks of kana make another letter.
_ACCENT = regex.compile(
    r"(?V1)[[\p{M}&&\p{Script=Inherited}]--[\u3099\u309a]]|[\p{M}&&\p{Hebrew}]"
    r"|\p{Default_Ignorable_Code_Point}|\u0640"
)
_RUN = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_ALONE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_UNSPACED = regex.compile(rf"[{_ALONE}]")
_INSIDE = rf"(?V1)[[\p{{L}}\p{{M}}\p{{N}}]--[{_ALONE}]]"


@lru_cache(maxsize=256)
def _pattern_of(words: tuple[str, ...]) -> regex.Pattern[str]:
    return regex.compile("|".join(_one_pattern(_fold_accents(word)) for word in words))


def _one_pattern(word: str) -> str:
    runs = _RUN.findall(word)
    if not runs:  # an emoji
        return str(regex.escape(word))
    before = "" if _UNSPACED.match(runs[0]) else rf"(?<!{_INSIDE})"
    after = "" if _UNSPACED.match(runs[-1][-1]) else rf"(?!{_INSIDE})"
    return before + r"[^\p{L}\p{N}]+".join(map(regex.escape, runs)) + after


def _fold_accents(text: str) -> str:
    bare = _ACCENT.sub("", _fold_case(text)).replace("ı", "i")
    return unicodedata.normalize("NFC", bare)


# --- ids -----------------------------------------------------------------------------------

SPLITS = ("train", "validation", "test")
_UPPER_BOUNDS = (0.8, 0.9, 1.0)
# Punctuation, separators, and controls with invisible format characters.
_FOLDED = ("P", "Z", "C")
# Selectors of the text or emoji form of a character.
_VARIANTS = frozenset("\ufe0e\ufe0f")


@lru_cache(maxsize=1024)
def fold_topic(topic: str) -> str:
    """Return a topic without the differences of rewordings: case, width, spacing, punctuation.

    A topic of nothing but punctuation is folded in case and width only.
    """
    folded = _fold_case(topic)
    kept = (
        "".join(
            char
            for char in folded
            if unicodedata.category(char)[0] not in _FOLDED and char not in _VARIANTS
        )
        or folded.strip()
    )
    # In capitals the dotted and the dotless Turkish i look the same.
    undotted = kept.replace("i\u0307", "i").replace("ı", "i")
    return unicodedata.normalize("NFC", undotted)


def topic_id(topic: str) -> str:
    """Return the id that all rewordings of a topic share: 64 bits in hexadecimal."""
    return hashlib.sha256(fold_topic(topic).encode()).hexdigest()[:16]


def split_of(topic: str, salt: bytes) -> str:
    """Return the split of a topic id: 80 % train, 10 % validation, 10 % test.

    The salt is fixed per installation, so that a topic stays in its split.
    """
    digest = hmac.digest(salt, topic.encode(), "sha256")
    place = int.from_bytes(digest[:8]) / 2**64
    return next(
        (split for split, bound in zip(SPLITS, _UPPER_BOUNDS, strict=True) if place < bound),
        SPLITS[-1],
    )


def _fold_case(text: str) -> str:
    """Fold case and compatibility forms, twice, as one can undo the other.

    Unicode Standard, section 3.13, definition D146.
    """
    folded = unicodedata.normalize("NFKD", text)
    for _ in range(2):
        folded = unicodedata.normalize("NFKD", folded.casefold())
    return folded
