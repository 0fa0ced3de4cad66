"""The topics that debates can be held on, what a debate argues, and the ids of any topic."""

from __future__ import annotations

import hashlib
import hmac
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from operator import not_
from random import Random
from typing import NamedTuple

import regex
from pydantic import Field, field_validator

from engine.values.debate import Value
from engine.values.errors import FlaggedError, UsageError
from engine.values.options import STANCES, Options
from engine.values.text import clean, marked

RANDOM = "random"  # asks for a topic of the list
LONGEST_STANCE = 200  # characters
LONGEST_TEXT = 20_000  # characters
MARKED = {side: marked(side) for side in "AB"}


class Topic(Value):
    """A topic to offer, with conditions that go well with it.

    The stances are what the sides argue, if that is not for and against it; `language` is a BCP-47
    code. Figures are told apart by its `category`. `answer` is the right one of both, or of
    `choices`; only an export may say so. `source` is a text that the sides read.
    """

    text: str
    conditions: str = ""
    stance_a: str = ""
    stance_b: str = ""
    language: str = "en"
    category: str = ""
    choices: tuple[str, ...] = Field((), exclude_if=not_)
    answer: str = Field("", exclude_if=not_, repr=False)
    source: str = Field("", exclude_if=not_)

    @field_validator("text", "conditions", "stance_a", "stance_b")
    @classmethod
    def _clean(cls, text: str) -> str:
        return clean(text)

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


# --- what a debate argues ------------------------------------------------------------------


def motion_of(
    options: Options, topics: Sequence[Topic], models: Iterable[str], seed: int, *, sided: bool
) -> tuple[dict[str, str], Topic | None]:
    """Return a debate's topic, conditions and stances as they are stored, and a listed topic.

    A topic is drawn if the options ask for one, and a listed one has its own stances: two of its
    choices where it has some, one of them right. `models` are names that no stance may have;
    `sided` says that two sides argue. Raises UsageError.
    """
    text, listed = options.topic or "", find_topic(topics, options.topic or "")
    if text.strip().casefold() == RANDOM:
        language = options.language or ""
        fit = [topic for topic in topics if topic.speaks(language)]
        if not fit:
            raise UsageError(
                "The list has no topic in the language {language}; give a topic, or choose "
                "another language.",
                language=language,
            )
        listed = Random(f"topic/{seed}").choice(fit)
        text = listed.text
    conditions = (options.conditions or "").strip()
    if len(conditions) > LONGEST_TEXT:
        raise UsageError(
            "The conditions of a debate may have at most {most} characters; these have {n}. "
            "Shorten them.",
            most=LONGEST_TEXT,
            n=len(conditions),
        )
    own = any(getattr(options, name) for name in STANCES.values())
    stated = listed if listed is not None and not own and sided else options
    stances = {name: " ".join((getattr(stated, name) or "").split()) for name in STANCES.values()}
    if any(stances.values()):
        _check_stances(tuple(stances.values()), models, sided=sided)
    elif listed is not None and listed.answer and listed.choices and sided:
        stances = _draw_claims(listed, seed)
    return {"topic": check_topic(text), "conditions": conditions, **stances}, listed


def _draw_claims(topic: Topic, seed: int) -> dict[str, str]:
    """Return the stances of both sides: the answer and another choice, in a drawn order.

    With two choices nothing of that depends on which of them is right.
    """
    wrong = Random(f"claims/{seed}").choice([one for one in topic.choices if one != topic.answer])
    claims = [one for one in topic.choices if one in (topic.answer, wrong)]
    Random(f"claims/{seed}/order").shuffle(claims)
    return dict(zip(STANCES.values(), claims, strict=True))


def check_topic(text: str) -> str:
    """Return a topic as it is stored. Raises UsageError for one that cannot be debated."""
    topic = text.strip()
    if not topic:
        raise UsageError(
            "A debate needs a topic; give one, for example “Remote work is better”, or write "
            "random for one of the list."
        )
    if len(topic) > LONGEST_TEXT:
        raise UsageError(
            "The topic of a debate may have at most {most} characters; this one has {n}. "
            "Shorten it.",
            most=LONGEST_TEXT,
            n=len(topic),
        )
    return topic


def _check_stances(stances: Sequence[str], models: Iterable[str], *, sided: bool) -> None:
    """Refuse what both sides cannot argue in the asker's own words. Raises UsageError."""
    if not sided:
        raise UsageError(
            "Only a debate between two sides takes stances for and against; leave both out."
        )
    names = {model.casefold() for model in models}
    for side, text in zip("AB", stances, strict=True):
        if not text:
            raise UsageError(
                "The stance of side {missing} is missing: say what both sides argue, for "
                "example “tabs” for 🔵 A and “spaces” for 🔴 B, or leave both out.",
                missing=MARKED[side],
            )
    for side, text in zip("AB", stances, strict=True):
        if len(text) > LONGEST_STANCE:
            raise UsageError(
                "The stance of side {side} has {n} characters; at most {most} are allowed. "
                "Shorten it, and put the rest into the conditions.",
                side=MARKED[side],
                n=len(text),
                most=LONGEST_STANCE,
            )
        if text.casefold() in names:
            raise UsageError(
                "The stance of side {side} is the name of a model; write what the side argues, "
                "and choose the model that argues it with {option}.",
                side=MARKED[side],
                option=side.lower(),
            )
    if len(set(map(fold_topic, stances))) < len(stances):
        raise UsageError("Both sides have the same stance; give each one of its own.")


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
    folded = fold_case(topic)
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


def fold_case(text: str) -> str:
    """Fold case and compatibility forms, twice, as one can undo the other.

    Unicode Standard, section 3.13, definition D146.
    """
    folded = unicodedata.normalize("NFKD", text)
    for _ in range(2):
        folded = unicodedata.normalize("NFKD", folded.casefold())
    return folded


# --- words that a community blocks, in whatever case, accents and width ---------------------


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
