"""The built-in motions, and the ids and dataset splits of topics."""

from __future__ import annotations

import hashlib
import hmac
import tomllib
import unicodedata
from functools import lru_cache
from importlib.resources import files

from engine.debate import Value


class Topic(Value):
    """A motion, with suitable conditions."""

    text: str
    conditions: str = ""


@lru_cache(maxsize=1)
def built_in_topics() -> tuple[Topic, ...]:
    """Return the built-in motions."""
    data = tomllib.loads(files("engine").joinpath("topics.toml").read_text(encoding="utf-8"))
    return tuple(Topic.model_validate(entry) for entry in data["topics"])


SPLITS = ("train", "validation", "test")
_UPPER_BOUNDS = (0.8, 0.9, 1.0)
# Punctuation, separators, and controls with invisible format characters.
_FOLDED = ("P", "Z", "C")
# Selectors of the text or emoji form of a character.
_VARIANTS = frozenset("\ufe0e\ufe0f")


def fold_topic(topic: str) -> str:
    """Return a topic without the differences of rewordings: case, width, spacing, punctuation.

    A topic of nothing but punctuation is folded in case and width only.
    """
    folded = _fold_case(topic)
    kept = "".join(char for char in folded if _tells_topics_apart(char)) or folded.strip()
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


def _tells_topics_apart(char: str) -> bool:
    return unicodedata.category(char)[0] not in _FOLDED and char not in _VARIANTS
