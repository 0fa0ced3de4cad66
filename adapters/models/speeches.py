"""Speeches of rehearsal models, composed from the texts in `scripts/`, one file per language."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, TypeVar

from adapters.models.scenes import RehearsalOptions, Scene, chance, last_speech, quote, shorten
from engine.prompts import unquote
from engine.values.language import N_
from engine.values.text import count_words, marked

LANGUAGES = ("en", "tr", "de", "es", "zh")
SHORT_WORDS = 120
SPOKEN = ("turn", "shorten", "summary")  # kinds of calls whose answer is a speech
DECISIONS = ("maintains",)  # as what its texts can be read
_OVER_WORDS = 900
_SLOT = re.compile(r"\{(topic|quote|first|second|third|new|one|two|one_said|two_said|stance)\}")
_SOURCE = re.compile(
    r"^(Source \d+), by the title of:\n(?:>.*\n)+Its text:\n((?:>.*\n?)+)", re.MULTILINE
)
_QUESTION = re.compile(r"^Question \d+:$", re.MULTILINE)
_DECIDED_FOR = re.compile(r"^A juror who decided for (.+):$", re.MULTILINE)
_STOP = re.compile(r"(?<=[^0-9\s][.!?])\s+|(?<=[。！？])(?!\*)")  # not within what is bold


BENCH = ("birch", "elm", "rowan", "aspen", "hazel", "willow")  # the usual jurors
STAGES = ("opening", "cross-examination", N_("free debate"), "closing")


class ArgumentPoint(NamedTuple):
    """An argument: a short title and its text."""

    title: str
    text: str


T = TypeVar("T", str, ArgumentPoint)


@dataclass(frozen=True, slots=True)
class _Script:
    """One side's texts in one language; the tuples of lines hold variants."""

    motion: str
    points: tuple[ArgumentPoint, ...]
    premises: tuple[ArgumentPoint, ...]
    opening: tuple[str, ...]
    rebuttal: tuple[str, ...]
    unquoted: tuple[str, ...]
    assumptions: tuple[str, ...]
    synthesis: tuple[str, ...]
    decision: tuple[str, ...]
    phrases: Mapping[str, tuple[str, ...]]


@cache
def load_script(language: str, stance: str) -> _Script:
    """Read one side's texts, in English for a language without a file."""
    known = language if language in LANGUAGES else "en"
    text = files(__package__).joinpath("scripts", f"{known}.toml").read_text("utf-8")
    whole = tomllib.loads(text)
    phrases = {name: tuple(lines) for name, lines in whole["phrases"].items()}
    side = whole[stance]
    names = ("opening", "rebuttal", "unquoted", "assumptions", "synthesis", "decision")
    lines = {name: tuple(side.get(name, ())) for name in names}  # a table has no closing
    points = tuple(ArgumentPoint(p["title"], p["text"]) for p in side["points"])
    premises = tuple(ArgumentPoint(p["title"], p["text"]) for p in side.get("premises", ()))
    return _Script(
        motion=whole["motion"], points=points, premises=premises, phrases=phrases, **lines
    )


@dataclass(frozen=True, slots=True)
class SceneSpeaker:
    """One model in one scene; `order` is this model's order of points."""

    scene: Scene
    script: _Script
    order: tuple[ArgumentPoint, ...]
    style: int

    @classmethod
    def of(cls, scene: Scene, name: str, step: str = "") -> SceneSpeaker:
        """Cast a model by its name: it is consistent within a debate, and differs from others.

        Agents at a table share an order, so that they can be dealt different points. With a
        `step`, style depends on it as well.
        """
        script = load_script(scene.language, scene.stance)
        at_table = scene.stance == "table"
        seeded = chance(scene.topic) if at_table else chance(name, scene.topic, scene.side)
        order = seeded.sample(script.points, len(script.points))
        style = seeded.randrange(1000) if not step else chance(name, step).randrange(1000)
        if scene.kind == "ballot" and name in BENCH:  # so that no two of them say the same
            style = chance(scene.topic).randrange(len(BENCH)) + BENCH.index(name)
        if at_table:
            order = [text for at in range(3) for text in order[(scene.rank + at) % 3 :: 3]]
        if scene.kind not in SPOKEN:  # who judges or directs names points that were made
            order = sorted(_turned(order, style), key=lambda p: _core(p) not in scene.heard)
        return cls(scene, script, tuple(order), style)

    def fresh(self, texts: Sequence[T], start: int = 0) -> list[T]:
        """Return texts from the `start` on, with those in front that were not heard yet."""
        heard = self.scene.heard
        return sorted(_turned(texts, start), key=lambda text: heard.rfind(_core(text)))

    def variants(self, texts: Sequence[str]) -> list[str]:
        """Return a speaker's share of texts that others draw from as well, then the others'."""
        own = list(texts[self.scene.rank :: 3 if self.scene.stance == "table" else 2])
        rest = [text for text in texts if text not in own]
        return self.fresh(_turned(own, self.style) + rest)

    def line(self, variants: Sequence[str], quoted: str = "") -> str:
        """Return a variant that was not heard yet, with the blanks filled in."""
        at_table = self.scene.stance == "table"
        lines = self.variants(variants) if at_table else self.fresh(variants, self.style)
        return self.fill(lines[0], quoted)

    def fill(self, text: str, quoted: str = "") -> str:
        """Fill in the blanks of a text."""
        return _SLOT.sub(lambda slot: self._blank(slot[1], quoted), text)

    def _blank(self, name: str, quoted: str) -> str:
        scene = self.scene
        match name:
            case "topic":
                return scene.short_topic or self.script.motion
            case "quote":
                return quoted
            case "stance":
                return shorten(scene.own)
            case "one" | "two":
                return (scene.shown or ("A", "B"))[name == "two"]
            case "one_said" | "two_said":
                side = "A" if name == "one_said" else "B"
                said = last_speech(scene.transcript, side)
                return quote(said, random.Random(self.style)) or self.script.motion
            case _:
                revises = scene.round.startswith("revision")
                points = self.revised() if revises else self.order
                title = points[("first", "second", "third", "new").index(name)].title
                return title if revises else title[0].replace("İ", "i").lower() + title[1:]

    def revised(self) -> tuple[ArgumentPoint, ArgumentPoint, ArgumentPoint, ArgumentPoint]:
        """Return two points that an agent keeps in a revision, the one it drops, and a new one."""
        mine = self.scene.mine
        held = sorted(
            (p for p in self.order if _core(p) in mine), key=lambda p: mine.find(_core(p))
        )
        held = held if len(held) >= 3 else list(self.order[:3])
        kept, dropped = (held[1], held[2]) if len(held) == 3 else (held[-1], held[-3])
        return held[0], kept, dropped, self.fresh(self.order, 3)[0]

    def phrase(self, name: str) -> str:
        """Return this model's phrase of that name."""
        return self.fill(self.variants(self.script.phrases[name])[0])

    def phrases(self, name: str) -> Sequence[str]:
        """Return phrases of that name with their blanks filled in; none for an unknown name."""
        if name == "decision":
            return DECISIONS
        if name == "answers":
            return self.replies()
        if name == "summary" and self.scene.stage in STAGES:
            texts = self.script.phrases[name]
            return (self.fill(texts[STAGES.index(self.scene.stage) % len(texts)]),)
        closing = {"synthesis": self.script.synthesis, "why": self.script.decision}
        shared = self.script.phrases.get(name, ())
        judged = self.scene.kind not in SPOKEN
        texts = shared if judged or name not in closing else closing[name]
        if self.scene.kind == "ballot":  # jurors do not hear one another
            return [self.fill(text) for text in _turned(texts, self.style)]
        # Seats of a team write notes at the same time.
        apart = self.scene.seat if name == "message" else 0
        return [self.fill(text) for text in _turned(self.variants(texts), apart)]

    def replies(self) -> list[str]:
        """Return answers to what the other side has asked, in its order, and then others."""
        scene, script = self.scene, self.script
        asked = scene.opposing if scene.duty == "answer" else scene.heard
        pairs = list(zip(script.phrases["questions"], script.phrases["answers"], strict=True))
        at = {answer: asked.rfind(_core(question)) for question, answer in pairs}
        own = {answer for question, answer in pairs if _core(question) in scene.mine}
        found = sorted((a for a in at if at[a] >= 0 and a not in own), key=lambda a: at[a])
        rest = [
            answer for answer in self.variants(script.phrases["answers"]) if answer not in found
        ]
        return [self.fill(answer) for answer in [*found, *rest]]

    def reasons(self) -> dict[str, Any]:
        """Return why a jury decided as it did, for people who read the result."""
        scene, phrases = self.scene, self.script.phrases
        won = scene.decided in scene.shown
        split = len(set(_DECIDED_FOR.findall(scene.heard))) > 1
        text = self.variants(phrases["decisive" if won else "decisive_tie"])[0]
        best = _turned(phrases["best"], self.style)
        return {
            "winner": scene.decided,
            "decisive": text.replace("{winner}", marked(scene.decided)),
            "best": {name: best[at % len(best)] for at, name in enumerate(scene.shown)},
            "differed": self.variants(phrases["differed"])[0] if split else "",
        }

    def point(self, point: ArgumentPoint) -> str:
        """Return an argument in a few sentences, with its title in bold."""
        stop = "。" if self.scene.language == "zh" else "."
        return f"**{point.title}{stop}** {self.fill(point.text)}"

    def opening(self) -> str:
        """Return the first words, after the stance if the side has one of its own."""
        first = self.line(self.script.opening)
        if not self.scene.own:
            return first
        gap = "" if self.scene.language == "zh" else " "
        return f"{self.phrase('stance')}{gap}{first}"

    def answer(self, fallback: tuple[str, ...]) -> str:
        """Return a rebuttal that quotes the opponent, or else the fallback."""
        most = 16 if self.scene.round.startswith("free") else 9
        quoted = quote(self.scene.opposing, random.Random(self.style), most)
        if not quoted:
            return self.line(fallback)
        if self.scene.stance == "table":
            return self.line(self.script.rebuttal, quoted)
        own = _turned(self.script.rebuttal, self.style)
        texts = own + self.variants(self.script.phrases["reply"])
        return self.fill(self.fresh(texts)[0], quoted)


def _turned(texts: Sequence[T], start: int) -> list[T]:
    """Return texts from the `start` on, and then those before it."""
    start %= max(1, len(texts))
    return list(texts[start:]) + list(texts[:start])


@cache
def _core(text: str | ArgumentPoint) -> str:
    """Return the longest part of a text's sentences between blanks, to find it again by."""
    parts = _SLOT.split(text.text if isinstance(text, ArgumentPoint) else text)
    return max((said for part in parts for said in _STOP.split(part)), key=len)


def compose(scene: Scene, options: RehearsalOptions) -> str:
    """Return a turn as Markdown, within the limits of classic unless an option changes that."""
    speaker = SceneSpeaker.of(scene, options.name)
    if scene.kind == "summary":
        return speaker.phrase("neutral")
    shortening = scene.kind == "shorten"
    over = options.over == "always" or (options.over == "once" and not shortening)
    if scene.closing and scene.words is None:
        script = speaker.script
        synthesis, decision = speaker.line(script.synthesis), speaker.line(script.decision)
        if over:
            synthesis = _fit(synthesis, _OVER_WORDS // 5, speaker)
            decision = _fit(decision, _OVER_WORDS // 2, speaker)
        return f"{synthesis}\n\n---\n\n{decision}"
    lead, points = _body(speaker)
    points = points[: scene.arguments]
    if over:
        longer = [
            ArgumentPoint(point.title, _fit(point.text, _OVER_WORDS // 5, speaker))
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
    said = unquote(text).splitlines()
    lines = [line for line in said if line.strip() and not line.startswith("#")]
    sentence = _STOP.split(lines[0])[0] if lines else ""
    return f"“{shorten(sentence)}” [{name}]" if sentence else ""


def _spoken(speaker: SceneSpeaker, lead: str, points: list[ArgumentPoint]) -> str:
    """Return a speech for a seat's duty: ask, answer, sum up or close."""
    scene, script = speaker.scene, speaker.script
    if scene.round == "questions":  # of the audience
        asked = _QUESTION.findall(scene.heard.rpartition("Round: questions")[2])
        replies = speaker.replies()[: max(1, len(asked))]
        return "\n\n".join(f"{i}. {reply}" for i, reply in enumerate(replies, 1))
    if scene.duty == "ask":
        questions = speaker.variants(script.phrases["questions"])[:3]
        return "\n".join(f"{i}. {speaker.fill(asked)}" for i, asked in enumerate(questions, 1))
    if scene.duty == "answer":
        return "\n\n".join(speaker.replies()[:3])
    if scene.duty == "summary":
        quoted = quote(scene.opposing, random.Random(speaker.style))
        return speaker.fill(speaker.variants(script.phrases["summing"])[0], quoted)
    if scene.closing:
        return f"{speaker.line(script.synthesis)}\n\n{speaker.line(script.decision)}"
    if scene.round.startswith("revision"):
        lead = f"{lead}\n\n{speaker.phrase('kept')}"
    text = _numbered(lead, points, speaker)
    return f"{text}\n\n{speaker.phrase('press')}" if scene.round.startswith("free") else text


def _body(speaker: SceneSpeaker) -> tuple[str, list[ArgumentPoint]]:
    scene, script, order = speaker.scene, speaker.script, speaker.order
    # The first turn of an exchange has nothing to answer yet, and opens the case.
    opens = scene.round.startswith("exchange") and not scene.opposing.strip()
    if opens or scene.round.startswith(("opening", "draft")):
        return speaker.opening(), list(order[:3])
    if scene.round.startswith("assumption"):
        gap = "" if scene.language == "zh" else " "
        lead = f"{speaker.answer(script.unquoted)}{gap}{speaker.line(script.assumptions)}"
        return lead, [*_turned(script.premises, speaker.style)[:2], speaker.fresh(order, 5)[0]]
    number = 1 if scene.round.startswith(("free", "revision")) else 2
    start = 3 + number * (scene.number - 1)
    points = [*order, *script.premises] if scene.round.startswith("free") else order
    return speaker.answer(script.unquoted), speaker.fresh(points, start)[:number]


def _numbered(lead: str, points: list[ArgumentPoint], speaker: SceneSpeaker) -> str:
    listed = [f"{i}. {speaker.point(point)}" for i, point in enumerate(points, 1)]
    return "\n\n".join([lead, *listed])


def _fit(text: str, words: int, speaker: SceneSpeaker) -> str:
    """Return a text of about `words` words: cut at a sentence, or extended by arguments."""
    turn = 0
    while count_words(text) < words:
        text = f"{text} {speaker.fill(speaker.order[turn % len(speaker.order)].text)}"
        turn += 1
    return _cut(text, words)


def _cut(text: str, words: int) -> str:
    ends = [end.start() for end in _STOP.finditer(text)] + [len(text)]
    within = [end for end in ends if count_words(text[:end]) <= words]
    return text[: within[-1] if within else ends[0]].rstrip()
