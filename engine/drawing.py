"""SVG shapes, legible in light and dark schemes."""

from __future__ import annotations

import unicodedata
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Literal, NamedTuple, TypeAlias

import regex

from engine.values.text import GRAPHEME, clean

# How wide a text is in a picture at most, and names that fit; pure.


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


Anchor: TypeAlias = Literal["start", "middle", "end"]

# An emoji of several characters, such as a profession or a flag, is drawn as its first one: few
# fonts and programs know all of them.
JOINED = regex.compile(
    r"(\p{Emoji})(?:[\uFE0F\u20E3\p{Emoji_Modifier}]|\u200D\p{Emoji})+|(\p{RI})\p{RI}"
)
# Programs that draw text look for one more font for all of it, so each script names its own.
FAMILIES = {
    "Noto Sans Devanagari": r"\p{Devanagari}",
    "Noto Sans Bengali": r"\p{Bengali}",
    "Noto Sans Thai": r"\p{Thai}",
    "Droid Sans Fallback": r"[\p{Han}\p{Hiragana}\p{Katakana}\u3000-\u303f\uff00-\uffef・ー]",
    "NanumGothic": r"\p{Hangul}",
    "Noto Emoji": r"\p{Emoji_Presentation}",
}
RUNS = regex.compile("|".join(f"((?:{of}\\p{{M}}*)+)" for of in FAMILIES.values()))
# resvg shapes a run by the script that it begins with, and these move vowels; so they are isolated,
# unless the text begins with them, or has more fonts: it would mix up their letters.
MOVES_VOWELS = regex.compile(
    "|".join(
        rf"\p{{{of}}}[\p{{{of}}}\p{{M}}]*(?: \p{{{of}}}[\p{{{of}}}\p{{M}}]*)*"
        for of in ("Devanagari", "Bengali")
    )
)
# Numbers behind these would be read from the right: a result of 6–3 as 3–6.
RIGHT_TO_LEFT = regex.compile(
    r"[\p{Arabic}\p{Hebrew}]"
    r"(?:[\p{Arabic}\p{Hebrew}\p{M}\p{N}\p{P}\s]*[\p{Arabic}\p{Hebrew}\p{M}؟])?"
)
ISOLATED = "\u2068{}\u2069"

# The viewer chooses the scheme; both have a contrast of at least 4.5:1.
LIGHT = """
svg { color-scheme: light dark; font: 14px system-ui, sans-serif; }
.back { fill: #ffffff; } .ink { fill: #1f2328; } .faint { fill: #59636e; }
.line { stroke: #8c959f; fill: none; } .people { fill: #0b62c4; stroke: #0b62c4; }
.jury { fill: #a8470f; stroke: #a8470f; } .heading { font-weight: 600; font-size: 16px; }
.small { font-size: 12px; } rect.plain { stroke: none; }
.large { font-size: 20px; } .motion { font-size: 26px; font-weight: 600; }
"""
DARK = """
.back { fill: #0d1117; } .ink { fill: #e6edf3; } .faint { fill: #9ea7b3; }
.line { stroke: #6e7681; } .people { fill: #6cb6ff; stroke: #6cb6ff; }
.jury { fill: #ffa657; stroke: #ffa657; }
"""
WHERE_DARK = f"@media (prefers-color-scheme: dark) {{{DARK}}}"


# Of contenders, on the dark ground: A and B, and 1 to 9. They differ with red-green blindness too.
BLUE, RED, GREY, GOLD = "#4a86e8", "#e2524c", "#6e7681", "#f2c440"
EMPTY, INK = "#21262d", "#e6edf3"  # of a bar without anything, and of text
OTHERS = (BLUE, RED, "#22c55e", "#a855f7", "#06b6d4", "#f97316", "#ec4899", "#84cc16", "#a8a29e")


class Picture(NamedTuple):
    """An SVG with its alternative text."""

    svg: str
    alt: str


def draw(
    title: str,
    description: str,
    width: int,
    height: int,
    parts: Iterable[str],
    *,
    headed: bool = True,
) -> str:
    """Return a picture; title and description are its alternative text, and one is `headed`."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title description">',
        f'<title id="title">{_escape(title)}</title>',
        f'<desc id="description">{_escape(description)}</desc>',
        f"<style>{LIGHT}{WHERE_DARK}</style>",
        box(0, 0, width, height, "back"),
        *([write(16, 28, title, "ink heading")] if headed else ()),
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def darken(svg: str) -> str:
    """Return a picture that is always in the dark scheme, for what cannot choose."""
    return svg.replace(WHERE_DARK, DARK)


def data_address(svg: str) -> str:
    """Return a picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def write(
    x: float,
    y: float,
    text: str,
    kind: str = "ink",
    anchor: Anchor = "start",
    size: float | None = None,
) -> str:
    """Write text; y is its base line, and `size` that of its letters, if not that of its kind."""
    sized = "" if size is None else f' style="font-size:{size:.3g}px"'
    place = f'x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}"{sized}'
    return f"<text {place}>{_in_fonts(text)}</text>"


def box(x: float, y: float, width: float, height: float, kind: str, opacity: float = 1) -> str:
    """Fill a rectangle."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}" '
        f'fill-opacity="{opacity:.3g}"/>'
    )


def bar(x: float, y: float, width: float, height: float, colour: str) -> str:
    """Fill a rectangle in a colour of its own."""
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{colour}"/>'


def disc(x: float, y: float, radius: float, colour: str) -> str:
    """Draw a filled circle in a colour of its own."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{colour}"/>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "line", dash: str = "") -> str:
    """Draw a straight line."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} class="{kind}"{dashes}/>'


def dot(x: float, y: float, radius: float, kind: str) -> str:
    """Draw a filled circle."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" class="{kind}"/>'


def square(x: float, y: float, half: float, kind: str) -> str:
    """Draw a filled square about its middle."""
    return box(x - half, y - half, 2 * half, 2 * half, kind)


def _escape(text: str) -> str:
    """Escape text for XML, which has no control characters."""
    return escape(clean(text))


def _in_fonts(text: str) -> str:
    """Escape text, and name the fonts of scripts that few have."""
    families = tuple(FAMILIES)

    def named(run: regex.Match[str]) -> str:
        family = families[(run.lastindex or 1) - 1]
        return f'<tspan font-family="{family}">{run.group()}</tspan>'

    plain = _escape(JOINED.sub(r"\1\2", text))
    isolated = RIGHT_TO_LEFT.sub(ISOLATED.format(r"\g<0>"), plain)
    if len({run.lastindex for run in RUNS.finditer(plain)}) == 1:
        isolated = MOVES_VOWELS.sub(
            lambda run: ISOLATED.format(run.group()) if run.start() else run.group(), isolated
        )
    return RUNS.sub(named, isolated)


# Scales: where a value stands in pixels, and the axes that show it.


class Scale(NamedTuple):
    """Maps values from `low` to `high` to pixels from `start` to `end`; outside it stops there."""

    start: float
    end: float
    low: float
    high: float
    ticks: tuple[float, ...] = ()
    unit: str = ""

    def at(self, value: float) -> float:
        """Return where a value stands."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * share

    def word(self, value: float) -> str:
        """Write a value of a tick."""
        thousands = abs(value) >= 10_000
        number = f"{value / 1000:.6g}k" if thousands else f"{value:.6g}"
        return f"{number}{self.unit}".replace("-", "−")


def round_scale(low: float, high: float, start: float, end: float, parts: int) -> Scale:
    """Return a scale from `low` to `high` at least, with at most two ticks more than `parts`."""
    step = round_step((high - low) / parts or 1.0)
    first, last = floor(low / step), ceil(high / step)
    ticks = tuple(step * place for place in range(first, max(last, first + 1) + 1))
    return Scale(start, end, ticks[0], ticks[-1], ticks)


def round_step(least: float) -> float:
    """Return the smallest of 1, 2, 5, 10, … times a power of ten that is at least this."""
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= 0.999 * least)


def axis(
    scale: Scale,
    y: float,
    *,
    mark: float = 4,
    below: float = 18,
    kind: str = "faint small",
    size: float | None = None,
) -> Iterator[str]:
    """Draw a scale from left to right, with its ticks named below."""
    yield line(scale.start, y, scale.end, y)
    for value in scale.ticks:
        x = scale.at(value)
        if mark:
            yield line(x, y, x, y + mark)
        yield write(x, y + below, scale.word(value), kind, "middle", size)


def grid(
    scale: Scale,
    left: float,
    right: float,
    *,
    dash: str = "",
    gap: float = 6,
    lower: float = 4,
    kind: str = "faint small",
    size: float | None = None,
    word: Callable[[float], str] | None = None,
) -> Iterator[str]:
    """Draw a scale from the bottom to the top: a line at each tick, named at the left."""
    for value in scale.ticks:
        y = scale.at(value)
        yield line(left, y, right, y, dash=dash)
        yield write(left - gap, y + lower, (word or scale.word)(value), kind, "end", size)


def mark(judge: str, x: float, y: float, radius: float = 4.5, half: float = 4) -> str:
    """Draw the mark of people, which is round, or of the jury, which is square."""
    return dot(x, y, radius, "people") if judge == "people" else square(x, y, half, "jury")
