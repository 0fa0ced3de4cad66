"""Whether an argument leans on another one: “see argument 2”, “as my first argument says”, “A-2”.

The words for it are data, by language: see `engine/prompts/structured/labels.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping

import regex

_ID = r"\b[AB]-(?P<id>[1-9])\b"  # and not the vitamin B-12
_HAN = regex.compile(r"\p{Han}")


class Leaning:
    """Finds where one argument points at another, given a language's words.

    `argument` is the word for one; `cardinals` stand behind it and `ordinals` on either side, both
    from one on. They are joined by commas, and may lack their endings.
    """

    def __init__(self, labels: Mapping[str, str]) -> None:
        cardinals, ordinals = _listed(labels, "cardinals"), _listed(labels, "ordinals")
        self._places = {
            word: n for words in (cardinals, ordinals) for n, word in enumerate(words, 1)
        }
        noun = regex.escape(labels.get("argument", "")) or "(?!)"
        after, before = _any_of(cardinals + ordinals), _any_of(ordinals)
        if _HAN.search(noun):
            worded = rf"{noun}\s*(?P<n>\d+|{after})|(?:第(?P<n>\d+)|(?P<n>{before}))\s*个?{noun}"
        else:
            noun = rf"{noun}\p{{L}}{{0,4}}"
            worded = (
                rf"\b{noun}\s+(?:no\.?|nr\.?|#)?\s*(?P<n>\d+|{after})\b"
                rf"|\b(?:(?P<n>\d+)[.)]|(?P<n>{before})\p{{L}}{{0,2}})\s+{noun}\b"
            )
        self._pattern = regex.compile(f"{_ID}|{worded}", regex.IGNORECASE)

    def find(self, text: str, own: int) -> str:
        """Return the first words that point at another argument than number `own`, or nothing."""
        for found in self._pattern.finditer(text):
            said = (found["id"] or found["n"] or "").casefold()
            if (int(said) if said.isdecimal() else self._places.get(said)) != own:
                return str(found[0])
        return ""


def _listed(labels: Mapping[str, str], name: str) -> list[str]:
    return [word.strip().casefold() for word in labels.get(name, "").split(",") if word.strip()]


def _any_of(words: list[str]) -> str:
    return "|".join(map(regex.escape, words)) or "(?!)"
