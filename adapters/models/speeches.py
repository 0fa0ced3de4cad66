"""Speeches of rehearsal models, composed from the texts in `scripts/`, one file per language."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from adapters.models.options import RehearsalOptions
from adapters.models.scenes import Scene, chance, quote, shorten
from engine.text import count_words

LANGUAGES = ("en", "tr", "de", "es", "zh")
SHORT_WORDS = 120
DECISIONS = ("maintains",)  # as what its texts can be read
_OVER_WORDS = 900
_SLOT = re.compile(r"\{(topic|quote|first|second|one|two|stance)\}")
_SOURCE = re.compile(r"<source>\n(Source \d+): [^\n]*\n(.*?)\n</source>", re.DOTALL)
_STOP = re.compile(r"(?<=[^0-9\s][.!?])\s+|(?<=[。！？])")


class Point(NamedTuple):
    """An argument: a short title and its text."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Script:
    """One side's texts in one language; the tuples of lines hold variants."""

    motion: str
    points: tuple[Point, ...]
    premises: tuple[Point, ...]
    opening: tuple[str, ...]
    rebuttal: tuple[str, ...]
    unquoted: tuple[str, ...]
    assumptions: tuple[str, ...]
    synthesis: tuple[str, ...]
    decision: tuple[str, ...]
    phrases: Mapping[str, tuple[str, ...]]


@cache
def load_script(language: str, stance: str) -> Script:
    """Read one side's texts, in English for a language without a file."""
    known = language if language in LANGUAGES else "en"
    text = files(__package__).joinpath("scripts", f"{known}.toml").read_text("utf-8")
    whole = tomllib.loads(text)
    phrases = {name: tuple(lines) for name, lines in whole["phrases"].items()}
    return _script(whole["motion"], whole[stance], phrases)


def _script(motion: str, side: dict[str, Any], phrases: Mapping[str, tuple[str, ...]]) -> Script:
    names = ("opening", "rebuttal", "unquoted", "assumptions", "synthesis", "decision")
    lines = {name: tuple(side.get(name, ())) for name in names}  # a table has no closing
    points = tuple(Point(p["title"], p["text"]) for p in side["points"])
    premises = tuple(Point(p["title"], p["text"]) for p in side.get("premises", ()))
    return Script(motion=motion, points=points, premises=premises, phrases=phrases, **lines)


@dataclass(frozen=True, slots=True)
class Speaker:
    """One model in one scene; `order` is this model's order of points."""

    scene: Scene
    script: Script
    order: tuple[Point, ...]
    style: int

    @classmethod
    def of(cls, scene: Scene, name: str) -> Speaker:
        """Cast a model by its name: it is consistent within a debate, and differs from others."""
        script = load_script(scene.language, scene.stance)
        seeded = chance(name, scene.topic, scene.side)
        order = seeded.sample(script.points, len(script.points))
        return cls(scene, script, tuple(order), seeded.randrange(1000))

    def line(self, variants: tuple[str, ...], quoted: str = "") -> str:
        """Return this model's variant with the blanks filled in."""
        values = {
            "topic": self.scene.short_topic or self.script.motion,
            "quote": quoted,
            "first": _within(self.order[0].title),
            "second": _within(self.order[1].title),
            **dict(zip(("one", "two"), self.scene.shown or "AB", strict=False)),
            "stance": shorten(self.scene.own),
        }
        chosen = variants[self.style % len(variants)]
        return _SLOT.sub(lambda slot: values[slot[1]], chosen)

    def phrase(self, name: str) -> str:
        """Return this model's phrase of that name."""
        return self.line(self.script.phrases[name])

    def phrases(self) -> dict[str, tuple[str, ...]]:
        """Return all phrases with their blanks filled in, those of a last turn included."""
        closing = {"synthesis": self.script.synthesis, "why": self.script.decision}
        every = {**self.script.phrases, **closing, "decision": DECISIONS}
        return {name: tuple(self.line((text,)) for text in texts) for name, texts in every.items()}

    def point(self, point: Point) -> str:
        """Return an argument in a few sentences, with its title in bold."""
        stop = "。" if self.scene.language == "zh" else "."
        return f"**{point.title}{stop}** {self.line((point.text,))}"

    def opening(self) -> str:
        """Return the first words, after the stance if the side has one of its own."""
        first = self.line(self.script.opening)
        if not self.scene.own:
            return first
        gap = "" if self.scene.language == "zh" else " "
        return f"{self.phrase('stance')}{gap}{first}"

    def answer(self, fallback: tuple[str, ...]) -> str:
        """Return a rebuttal that quotes the opponent, or else the fallback."""
        pick = random.Random(self.style)
        quoted = quote(self.scene.opposing, pick)
        return self.line(self.script.rebuttal if quoted else fallback, quoted)


def _within(title: str) -> str:
    """Return a title as within a sentence; Turkish has its own capital of i."""
    return title[0].replace("İ", "i").lower() + title[1:]


def compose(scene: Scene, options: RehearsalOptions) -> str:
    """Return a turn as Markdown, within the limits of classic unless an option changes that."""
    speaker = Speaker.of(scene, options.name)
    if scene.kind == "summary":
        return speaker.phrase("neutral")
    shortening = scene.kind == "shorten"
    over = options.over == "always" or (options.over == "once" and not shortening)
    if scene.closing and scene.words is None:
        return _closing(speaker, over)
    lead, points = _body(speaker)
    points = points[: scene.arguments]
    if over:
        longer = [
            Point(point.title, _fit(point.text, _OVER_WORDS // 5, speaker))
            for point in (*points, *speaker.order)[:5]
        ]
        return _numbered(lead, longer, speaker)
    text = _spoken(speaker, lead, points)
    if scene.words is not None and count_words(text) > scene.words:
        text = _cut(text, scene.words)
    if shortening:
        return _cut(text, SHORT_WORDS)
    if options.words is not None:
        return _fit(text, options.words, speaker)
    if scene.round.startswith("revision"):
        return f"{text}\n\n---\n\n{speaker.phrase('changed')}"
    return text


def cite(prompt: str, scene: Scene) -> str:
    """Return a first turn's quotation from one of the sources in a prompt; empty for none."""
    given = _SOURCE.findall(prompt)
    if scene.kind != "turn" or not scene.round.startswith(("opening", "draft")) or not given:
        return ""
    name, text = given[(ord(scene.side) - ord("A")) % len(given)]
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    sentence = _STOP.split(lines[0])[0] if lines else ""
    return f"“{shorten(sentence)}” [{name}]" if sentence else ""


def _spoken(speaker: Speaker, lead: str, points: list[Point]) -> str:
    """Return a speech for a seat's duty: ask, answer, sum up or close."""
    scene, script = speaker.scene, speaker.script
    if scene.duty == "ask":
        asked = _turned(script.phrases["questions"], scene)[:3]
        questions = [speaker.line((text,)) for text in asked]
        return "\n".join(f"{i}. {question}" for i, question in enumerate(questions, 1))
    if scene.duty == "answer":
        answers = _turned(script.phrases["answers"], scene)
        return "\n\n".join(speaker.line((text,)) for text in answers)
    if scene.duty == "summary":
        return f"{speaker.phrase('summary')}\n\n{speaker.phrase('reason')}"
    if scene.closing:
        return f"{speaker.line(script.synthesis)}\n\n{speaker.line(script.decision)}"
    return _numbered(lead, points, speaker)


def _turned(texts: tuple[str, ...], scene: Scene) -> tuple[str, ...]:
    """Return texts beginning with another one in each exchange."""
    digits = re.sub(r"\D", "", scene.round)[:2]
    start = (int(digits or 1) - 1) % len(texts)
    return texts[start:] + texts[:start]


def _body(speaker: Speaker) -> tuple[str, list[Point]]:
    scene, script, order = speaker.scene, speaker.script, speaker.order
    # The first turn of an exchange has nothing to answer yet, and opens the case.
    opens = scene.round.startswith("exchange") and not scene.opposing.strip()
    if opens or scene.round.startswith(("opening", "draft")):
        return speaker.opening(), list(order[:3])
    if scene.round.startswith("assumption"):
        gap = "" if scene.language == "zh" else " "
        lead = f"{speaker.answer(script.unquoted)}{gap}{speaker.line(script.assumptions)}"
        start = speaker.style % len(script.premises)
        premises = script.premises[start:] + script.premises[:start]
        return lead, [*premises[:2], order[5]]
    digits = re.sub(r"\D", "", scene.round)[:2]
    start = 3 + 2 * (int(digits or 1) - 1)
    return speaker.answer(script.unquoted), [order[(start + i) % len(order)] for i in range(2)]


def _closing(speaker: Speaker, over: bool) -> str:
    script = speaker.script
    synthesis, decision = speaker.line(script.synthesis), speaker.line(script.decision)
    if over:
        synthesis = _fit(synthesis, _OVER_WORDS // 5, speaker)
        decision = _fit(decision, _OVER_WORDS // 2, speaker)
    return f"{synthesis}\n\n---\n\n{decision}"


def _numbered(lead: str, points: list[Point], speaker: Speaker) -> str:
    listed = [f"{i}. {speaker.point(point)}" for i, point in enumerate(points, 1)]
    return "\n\n".join([lead, *listed])


def _fit(text: str, words: int, speaker: Speaker) -> str:
    """Return a text of about `words` words: cut at a sentence, or extended by arguments."""
    turn = 0
    while count_words(text) < words:
        text = f"{text} {speaker.line((speaker.order[turn % len(speaker.order)].text,))}"
        turn += 1
    return _cut(text, words)


def _cut(text: str, words: int) -> str:
    ends = [end.start() for end in _STOP.finditer(text)] + [len(text)]
    within = [end for end in ends if count_words(text[:end]) <= words]
    return text[: within[-1] if within else ends[0]].rstrip()
