"""How wide a text is in a picture at most, and names that fit; pure."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import regex

from engine.values.text import GRAPHEME

SIZE = 12.0  # of the class `small`, in pixels
# Widths in DejaVu Sans, in parts of the size: at least those of each character named here.
CLASSES = {"iljIf'|.,:;/- ": 0.37, "tr()[]!": 0.42, "mwMW@%—…": 1.0, "<>=+~#^&−": 0.84}
WIDTHS = {char: width for chars, width in CLASSES.items() for char in chars}


def width_of(text: str, size: float = SIZE) -> float:
    """Return at least how wide a text is in DejaVu Sans, in pixels; few fonts are wider."""
    return size * sum(map(_width, text))


def _width(char: str) -> float:
    if char in WIDTHS:
        return WIDTHS[char]
    if not char.isascii():
        return 0.0 if unicodedata.combining(char) else 1.0
    return 0.79 if char.isupper() else 0.64


def fit(text: str, room: float, size: float = SIZE) -> str:
    """Return a text no wider than `room`; its middle is left out if it is too long."""
    if width_of(text, size) <= room:
        return text
    for kept in range(len(text) - 1, 1, -1):
        head = (kept + 1) // 2
        cut = f"{text[:head]}…{text[len(text) - (kept - head) :]}"
        if width_of(cut, size) <= room:
            return cut
    return "…"


def wrap(text: str, room: float, size: float, most: int) -> tuple[str, ...]:
    """Break a text into at most so many lines no wider than `room`; one too long ends in “…”.

    Lines break between words, and anywhere in a word that is wider, as in Chinese.
    """
    lines = [""]
    for word in regex.findall(r"\s+|\p{Han}|[^\s\p{Han}]+", " ".join(text.split())):
        if len(lines) > most:
            break
        for piece in [word] if width_of(word, size) <= room else GRAPHEME.findall(word):
            if width_of((lines[-1] + piece).rstrip(), size) > room:
                lines.append("")
            lines[-1] = (lines[-1] + piece).lstrip()
    kept = [line.rstrip() for line in lines[:most]]
    if len(lines) > most:
        kept[-1] = _cut_end(f"{kept[-1]}…", room, size)
    return tuple(kept)


def short_names(models: Iterable[str], room: float, size: float = SIZE) -> Mapping[str, str]:
    """Return a name that fits for each model: its last part, where that is one model's alone.

    Names that would look the same begin where they differ.
    """
    known = list(dict.fromkeys(models))
    ends = [model.rsplit("/", 1)[-1] for model in known]
    plain = ends if len(set(ends)) == len(ends) else known
    alike: dict[str, list[str]] = defaultdict(list)
    for name in plain:
        alike[fit(name, room, size)].append(name)
    shown = {
        name: _tell_apart(name, same, room, size) if len(same) > 1 else cut
        for cut, same in alike.items()
        for name in same
    }
    return {model: shown[name] for model, name in zip(known, plain, strict=True)}


def _tell_apart(name: str, same: Sequence[str], room: float, size: float) -> str:
    columns = enumerate(zip(*same, strict=False))
    start = next((place for place, chars in columns if len(set(chars)) > 1), 0)
    words = [place + 1 for place, char in enumerate(name[:start]) if char in "-_./ "]
    tails = [f"…{name[word:]}" for word in (*words, start)]
    fitting = (tail for tail in tails if width_of(tail, size) <= room)
    return next(fitting, _cut_end(tails[-1], room, size))


def _cut_end(text: str, room: float, size: float) -> str:
    """Cut a text that ends in “…” until it fits."""
    while width_of(text, size) > room:
        text = text[:-2] + "…"
    return text
