"""Words that a community blocks, in whatever case, accents and width; few communities have any."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from functools import lru_cache

import regex

from engine.values.errors import FlaggedError
from engine.values.topics import fold_case


def has_blocked(words: Collection[str], *texts: str) -> bool:
    """Return whether a text has one of these words, whatever the case, accents and width.

    Only whole words count, but where a script writes none apart, such as Chinese or Thai.
    """
    if not words:
        return False
    pattern = _pattern_of(tuple(words))
    return any(pattern.search(_fold_accents(text)) for text in texts if text)


def check_words(blocked: Collection[str], *texts: str) -> None:
    """Refuse texts with a word that is blocked. Raises FlaggedError, which does not name it."""
    if has_blocked(blocked, *texts):
        raise FlaggedError(
            "This has a word that is blocked here. Reword it, or ask a manager of this community."
        )


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
    bare = _ACCENT.sub("", fold_case(text)).replace("ı", "i")
    return unicodedata.normalize("NFC", bare)
