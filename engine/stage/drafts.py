"""A turn while it is written, as an audience may see it: without any part of a model's name."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

import regex

from engine.blinding.identity import clean, names_of, replace_names
from engine.stage.repair import read_growing
from engine.values.debate import Debate, side_of
from engine.values.makers import read_vocabulary
from engine.values.ports import Audience, Call, Draft
from engine.values.text import count_words

UPDATE_SECONDS = 0.1  # blinding takes a millisecond, and words arrive by the hundred

_PARTS = regex.compile(r"[\s\-_./:]+")
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_UNIT = regex.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")


class Drafting:
    """One call's text on its way to an audience, updated at most ten times a second."""

    def __init__(
        self,
        audience: Audience,
        debate: Debate,
        call: Call,
    ) -> None:
        hint, seat = call.hint, call.hint["seat"]
        self._audience = audience
        self._schema = call.schema
        self._names = names_of(debate.setup)
        self._chars_per_word = debate.setup.chars_per_word
        self._blank = Draft(
            debate=debate.code,
            seat=seat,
            side=side_of(seat),
            round=hint["round"],
            limit=int(hint["words"] or 0),
            name=debate.setup.called.get(seat, ""),
        )
        self._text = self._model = ""
        self._due: asyncio.TimerHandle | None = None

    def hear(self, text: str, model: str) -> None:
        """Take the text so far; the audience gets it a moment later, with all that came by then."""
        self._text, self._model = text, model
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(UPDATE_SECONDS, self._update)

    def end(self, *, spoken: bool) -> None:
        """Stop updating; a text that was not `spoken` to its end is dropped."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if not spoken:
            self._audience(replace(self._blank, dropped=True))

    def _update(self) -> None:
        self._due = None
        said = self._text if self._schema is None else read_growing(self._text, self._schema)
        text = redact_growing(said, self._names | {self._model})
        words = count_words(said, self._chars_per_word)
        self._audience(replace(self._blank, text=text, words=words))


def redact_growing(text: str, names: Iterable[str]) -> str:
    """Return as much of an unfinished text as people may read: whole words without a name.

    Every known model name is removed, as later text may show it to be the speaker's own. At the
    end, as many words are held back as the longest name has.
    """
    hidden = frozenset(names) | _brands()
    shown = replace_names(clean(text), hidden)
    held = max(len(_PARTS.split(name)) for name in hidden)
    units = [unit.start() for unit in _UNIT.finditer(shown)]
    return shown[: units[-held]].rstrip() if len(units) > held else ""


@lru_cache(maxsize=1)
def _brands() -> frozenset[str]:
    return frozenset(read_vocabulary().brands())
