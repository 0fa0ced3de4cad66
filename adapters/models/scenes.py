"""What a rehearsal model knows about a call: its hint, or else its step."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qsl

from engine.prompts import unquote
from engine.values.errors import UsageError
from engine.values.ports import Call
from engine.values.text import count_words

# Options of a rehearsal model, in its name: `maple?latency=0.25&fail=503x2`.


Preference = Literal["", "first", "second", "stronger"]
Over = Literal["", "once", "always"]

_TRUTH = {"": True, "1": True, "true": True, "0": False, "false": False}
_FAIL = re.compile(r"(\d{3})(?:x(\d+))?")


@dataclass(frozen=True, slots=True)
class RehearsalOptions:
    """The options after `?` in a model's name, joined by `&`.

    - `latency=0.25`: seconds that each try takes.
    - `fail=503x2`: the first two tries of each call end with status 503; `fail=503`: all.
    - `garbage`: answers are text that no parser takes.
    - `empty`: answers have no text.
    - `over` or `over=once`: turns pass every limit until asked to shorten; `over=always`: even
      then.
    - `words=N`: turns have about N words.
    - `tokens_out=N`: each answer reports N tokens written.
    - `prefer=first` or `prefer=second`: a juror whose scores and verdict follow the order of
      presentation alone; `prefer=stronger`: one who always names the better contender.
    - `margin=N`: points between the preferred contender and the others (3).
    - `right=0.6`: knows the right answer to a sum such as 17 × 24 with this chance
      (adapters/models/sums.py).
    """

    latency: float = 0.0
    fail: tuple[int, int | None] | None = None  # a status, and how often; None: always
    garbage: bool = False
    empty: bool = False
    over: Over = ""
    words: int | None = None
    tokens_out: int | None = None
    prefer: Preference = ""
    margin: int = 3
    right: float | None = None
    name: str = ""

    @classmethod
    def of(cls, model_name: str) -> RehearsalOptions:
        """Read a model's name. Raises UsageError that names the option."""
        name, _, query = model_name.partition("?")
        given = dict(parse_qsl(query, keep_blank_values=True))
        for key in given:
            if key not in _READERS:
                raise UsageError(
                    f"The rehearsal model “{model_name}” has the unknown option “{key}”; "
                    f"known are {', '.join(_READERS)}."
                )
        try:
            values = {key: _READERS[key](value) for key, value in given.items()}
        except ValueError:
            raise UsageError(
                f"The rehearsal model “{model_name}” has an option with a wrong value; write "
                "for example latency=0.25, fail=503x2, prefer=first or words=80."
            ) from None
        return cls(name=name, **values)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 3600:
        raise ValueError(text)
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value


def _number(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 1_000_000:
        raise ValueError(text)
    return value


def _failure(text: str) -> tuple[int, int | None]:
    match = _FAIL.fullmatch(text)
    if match is None or int(match[1]) < 400:
        raise ValueError(text)
    return int(match[1]), int(match[2]) if match[2] else None


def _truth(text: str) -> bool:
    if text not in _TRUTH:
        raise ValueError(text)
    return _TRUTH[text]


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text or words[1]

    return read


_READERS: dict[str, Callable[[str], Any]] = {
    "latency": _seconds,
    "fail": _failure,
    "garbage": _truth,
    "empty": _truth,
    "over": _one_of("", "once", "always"),
    "words": _number,
    "tokens_out": _number,
    "prefer": _one_of("first", "second", "stronger"),
    "margin": _number,
    "right": _share,
}


TOPIC_LENGTH = 90
_STEP = re.compile(r"turn/(?P<round>[^/]+)/(?P<side>[^/]+)")
_ITEM = re.compile(r"^\s*\d{1,2}[.)]\s+(?:\*\*[^*\n]+\*\*[.:。：]?)?(.+)$", re.MULTILINE)
_QUOTES = re.compile(r"[“”„«»「」\"]")
_MARKS = re.compile(r"[*_`#>|~\[\]]+|^\s*\d+[.)]\s*", re.MULTILINE)
_BLOCK = re.compile(r"^\[([AB])\d?, [^\]\n]*\]\n", re.MULTILINE)
_SEAT = re.compile(r"^.|[^0-9]", re.ASCII)  # all but the number of a seat such as `A2`
_SENTENCE = re.compile(r"[.!?。！？…\n]+")
_TURN = re.compile(r"^\[turn (\d+), \w+\]\n((?:>.*\n?)+)", re.MULTILINE)
_QUOTED = {"suspect": "claim", "exposed": "claim", "premises": "premise"}
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Scene:
    """A part for a rehearsal model; `words` is its limit, None without one.

    `own` is this side's stance in the asker's words, `thesis` side A's. `heard` is all that the
    call's messages hold, `mine` what this model said in them; `transcript` is what a judge reads,
    and `decided` who won by the jury that it explains.
    """

    topic: str = ""
    side: str = "A"
    round: str = ""
    language: str = "en"
    opposing: str = ""
    kind: str = "turn"
    duty: str = ""
    words: int | None = None
    arguments: int | None = None
    shown: tuple[str, ...] = ()
    own: str = ""
    thesis: str = ""
    heard: str = ""
    mine: str = ""
    stage: str = ""
    seat: int = 0
    transcript: str = ""
    decided: str = ""

    @classmethod
    def of(cls, call: Call) -> Scene:
        """Read the hint of a call; every key may be missing."""
        hint, step = call.hint, _STEP.search(call.step)
        stepped = step.groupdict() if step else {}
        side = hint.get("side") or hint.get("seat") or stepped.get("side") or "A"
        side = side.strip()[:1].upper() or "A"
        told = hint.get("opposing") or hint.get("record", "")
        return cls(
            topic=one_line(hint.get("topic", "")),
            side=side,
            round=(hint.get("round") or stepped.get("round") or "").lower(),
            language=re.split(r"[-_]", hint.get("language") or "en")[0].lower(),
            opposing=last_speech(told, "A" if side == "B" else "B"),
            kind=hint.get("kind") or ("shorten" if "shorten" in call.step else "turn"),
            duty=hint.get("duty", ""),
            words=int(hint["words"]) if hint.get("words", "").isdigit() else None,
            arguments=int(hint["arguments"]) if hint.get("arguments", "").isdigit() else None,
            shown=tuple(filter(None, hint.get("shown", "").split(","))),
            own=one_line(hint.get("stance", "")),
            thesis=one_line(hint.get("thesis", "")),
            heard="\n".join(m.content for m in call.messages),
            mine="\n".join(m.content for m in call.messages if m.role == "assistant"),
            stage=hint.get("stage", ""),
            seat=int(_SEAT.sub("", hint.get("seat", "")) or 0),
            transcript=hint.get("transcript", ""),
            decided=hint.get("decided", ""),
        )

    @property
    def stance(self) -> str:
        """Whether this side argues `for` or `against`; numbered seats sit at a `table`."""
        if self.side.isdigit():
            return "table"
        return "against" if self.side == "B" else "for"

    @property
    def rank(self) -> int:
        """The place among those who share texts: one of two sides, or of three agents."""
        return (int(self.side) - 1) % 3 if self.side.isdigit() else int(self.side == "B")

    @property
    def number(self) -> int:
        """The number of a round such as `exchange-2`; 1 for one without."""
        return int(re.sub(r"\D", "", self.round)[:2] or 1)

    @property
    def closing(self) -> bool:
        """Whether this is a side's last turn."""
        return self.round.startswith("closing")

    @property
    def short_topic(self) -> str:
        """The topic or thesis, shortened to fit into a sentence."""
        return shorten(self.thesis or self.topic)


def last_speech(text: str, side: str) -> str:
    """Return a side's last speech of several below labels such as `[A1, opening]`.

    A text without labels is one speech.
    """
    parts = _BLOCK.split(text)
    if len(parts) == 1:
        return text
    said = [body for who, body in zip(parts[1::2], parts[2::2], strict=True) if who == side]
    return said[-1].strip() if said else ""


def shorten(text: str) -> str:
    """Shorten a text to fit into a sentence, without its full stop."""
    if len(text) <= TOPIC_LENGTH:
        return text.rstrip(".。 ")
    return f"{text[: TOPIC_LENGTH - 1].rstrip()}…"


def one_line(text: str) -> str:
    """Return text as one line without control characters."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(printable.split())


def quote(text: str, chance: random.Random, most: int = 9) -> str:
    """Quote up to `most` words of a text; empty if it has no suitable sentence.

    They come from its numbered arguments if it has any, and never from a quotation.
    """
    said = "\n".join(_ITEM.findall(text)) or text
    sentences = [one_line(s) for s in _SENTENCE.split(_MARKS.sub(" ", said))]
    fuller = [s for s in sentences if count_words(s) >= 4 and not _QUOTES.search(s)]
    if not fuller:
        return ""
    words = chance.choice(fuller).strip("'’ -–—").split()
    few = " ".join(words[:most])
    if _WIDE.search(few) and len(few) > 2 * most:
        return f"{few[: 2 * most]}…"
    return f"{few.rstrip(',;:')}…" if len(words) > most else few.rstrip(",;:")


def quote_turns(answer: dict[str, Any], call: Call, chance: random.Random) -> None:
    """Let claims and premises that a judge holds against numbered turns be words of these turns."""
    if not any(answer.get(name) for name in _QUOTED):
        return
    turns = dict(_TURN.findall(call.messages[-1].content))
    for name, key in _QUOTED.items():
        for item in answer.get(name, []):
            at = str(item.get("turn", "")) or next(reversed(turns), "")
            said = unquote(turns.get(at, ""))
            item[key] = quote(said, chance) or item[key]


def chance(*parts: object) -> random.Random:
    """Return a generator seeded by the parts, the same on every machine and run."""
    return random.Random(hashlib.blake2b(repr(parts).encode(), digest_size=8).digest())


def strength(*parts: object) -> float:
    """Return a number in [0, 1) determined by the parts."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
