"""A juror's ballot: its schema, and the strict reading of replies.

An unreadable reply is an invalid ballot with a reason. It never becomes a score, vote or win.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Any, NamedTuple

from engine.jury.rubric import DEBATE, Rubric
from engine.stage.shapes import TEXT, by_key, choice, named, number, record, whole
from engine.stage.structured import Parsed, is_filler, read_object
from engine.values.debate import Criterion, Fit, Model
from engine.values.errors import UnreadableError
from engine.values.ports import AnswerSchema, Reply
from engine.values.verdicts import TIE, Ballot

# A verdict may name a side that its own scores put behind by this much, in points (1–10).
CONTRADICTION = 0.5
_SLACK = 1e-9

TIE_WORDS: Mapping[str, tuple[str, ...]] = {
    "en": ("tie", "draw"),
    "ar": ("تعادل", "التعادل"),
    "bg": ("равенство",),
    "cs": ("remíza",),
    "de": ("Unentschieden", "Gleichstand"),
    "el": ("ισοπαλία",),
    "es": ("empate",),
    "fa": ("تساوی", "مساوی"),
    "fr": ("égalité", "match nul", "ex æquo"),
    "he": ("תיקו",),
    "hi": ("बराबरी", "टाई"),
    "id": ("seri", "imbang"),
    "it": ("pareggio", "parità"),
    "ja": ("引き分け", "引分け", "同点"),
    "ko": ("무승부", "동점"),
    "nl": ("gelijkspel",),
    "pl": ("remis",),
    "pt": ("empate",),
    "ru": ("ничья", "ничью"),
    "sv": ("oavgjort",),
    "tr": ("beraberlik", "berabere"),
    "uk": ("нічия",),
    "vi": ("hòa", "hoà"),
    "zh": ("平局", "平手", "和局"),
}
CLIP = 2.5
VERDICT_TERM = 0.35
SPLIT = 0.02  # within which of ½ people would be split too
MOST_JURORS = 6
MOST_READINGS = 8  # where the model of jurors decides
ROTATE_EVERY = 5  # debates; in each such one another juror is asked first


class JurorReading(NamedTuple):
    """One question to one juror: the contenders in the order shown; an audit decides nothing.

    The reading of a `recused` juror is one.
    """

    juror: Model
    order: tuple[str, ...]
    audit: bool = False
    recused: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The reading of one reply.

    `retry`: ask the juror once more, naming the `problem`; the second outcome is final. `scores`
    and `verdict` are by contender, not by neutral name.
    """

    valid: bool
    problem: str = ""
    retry: bool = False
    repaired: bool = False
    contradictory: bool = False
    scores: dict[str, dict[str, int]] | None = None
    verdict: str | None = None
    confidence: float | None = None
    reasons: str = ""

    @classmethod
    def failed(cls, problem: str) -> Outcome:
        """Return the outcome of a call without a reply."""
        return cls(valid=False, problem=problem)


def tie_word(language: str) -> str:
    """Return the word for a tie in a BCP-47 language, "tie" for unknown ones."""
    return TIE_WORDS.get(language.split("-")[0].lower(), (TIE,))[0]


@lru_cache(maxsize=4096)
def ballot_schema(names: tuple[str, ...], rubric: Rubric = DEBATE) -> AnswerSchema:
    """Return the JSON shape of a ballot on contenders of these neutral names, in this order.

    Reasons come first, so that scores and verdict are written after them.
    """
    sheet = record({one.name: whole(one.lowest, one.highest) for one in rubric.criteria})
    return named(
        "ballot",
        {
            "reasons": TEXT,
            "scores": by_key(names, sheet),
            "verdict": choice(*names, TIE),
            "confidence": number(0, 1),
        },
    )


def read_ballot(
    text: str,
    finish: str,
    names: Mapping[str, str],
    rubric: Rubric = DEBATE,
    examples: frozenset[str] = frozenset(),
) -> Outcome:
    """Read a juror's reply; `names` maps each contender to its neutral name. Never raises.

    `examples` are the texts of the prompt's own example, which are no reasons.

    The words for a tie are taken in every language of
    `TIE_WORDS`: a juror does not always answer in the language it was asked in.
    """
    if not text.strip():
        return Outcome(valid=False, problem="the answer is empty", retry=True)
    try:
        return _validate(read_object(text, finish), names, rubric, examples)
    except UnreadableError as error:
        return Outcome(valid=False, problem=str(error), retry=True)


def _validate(
    parsed: Parsed, names: Mapping[str, str], rubric: Rubric, examples: frozenset[str]
) -> Outcome:
    answer = parsed.value
    scores = _read_scores(answer.get("scores"), names, rubric)
    verdict = _read_verdict(answer.get("verdict"), names)
    totals = {side: rubric.score(sheet) for side, sheet in scores.items()}
    # By how many points the side named is behind the best of the others.
    gap = 0.0
    if verdict != TIE:
        gap = max(total for side, total in totals.items() if side != verdict) - totals[verdict]
    contradictory = gap > CONTRADICTION + _SLACK
    problem = f"the verdict names a side whose weighted score is {gap:.2f} lower"
    value = answer.get("confidence")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UnreadableError("“confidence” is not a number from 0 to 1")
    reasons = answer.get("reasons")
    if not isinstance(reasons, str) or is_filler(reasons, examples):
        raise UnreadableError("“reasons” is no text of your own")
    return Outcome(
        valid=True,
        problem=problem if contradictory else "",
        retry=contradictory,
        repaired=parsed.repaired,
        contradictory=contradictory,
        scores=scores,
        verdict=verdict,
        confidence=float(value),
        reasons=reasons.strip(),
    )


def _read_scores(value: Any, names: Mapping[str, str], rubric: Rubric) -> dict[str, dict[str, int]]:
    if not isinstance(value, dict):
        raise UnreadableError("“scores” is not an object with an entry for each contender")
    sheets = {_plain(key): sheet for key, sheet in value.items()}
    expected = {_plain(name): side for side, name in names.items()}
    if strangers := [key for key in value if _plain(key) not in expected]:
        raise UnreadableError(f"“scores” names “{strangers[0][:40]}”, who is not on the ballot")
    if len(sheets) != len(value):
        raise UnreadableError("“scores” has two entries for one contender")
    return {
        side: _read_sheet(sheets.get(key), names[side], rubric) for key, side in expected.items()
    }


def _read_sheet(value: Any, name: str, rubric: Rubric) -> dict[str, int]:
    if not isinstance(value, dict):
        raise UnreadableError(f"“scores” has no entry for {name}")
    given = {_plain(key): score for key, score in value.items()}
    return {
        criterion.name: _read_score(given.get(_plain(criterion.name)), criterion, name)
        for criterion in rubric.criteria
    }


def _read_score(value: Any, criterion: Criterion, name: str) -> int:
    said, lowest, highest = f"the {criterion.name} score of {name}", *criterion.range
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnreadableError(f"{said} is not an integer")
    if not lowest <= value <= highest:
        raise UnreadableError(f"{said} is not from {lowest} to {highest}")
    return value


def _read_verdict(value: Any, names: Mapping[str, str]) -> str:
    if not isinstance(value, str):
        raise UnreadableError("“verdict” is not a name")
    said = _plain(value)
    for side, name in names.items():
        if said == _plain(name):
            return side
    if said in _tie_words():
        return TIE
    raise UnreadableError(f"the verdict “{value[:40]}” names no one on the ballot")


@lru_cache(maxsize=1)
def _tie_words() -> frozenset[str]:
    return frozenset(_plain(word) for words in TIE_WORDS.values() for word in words)


def _plain(text: str) -> str:
    """Fold case and width; a Turkish dotted İ and a plain i are one letter here."""
    folded = unicodedata.normalize("NFKC", text.strip()).replace("İ", "i").casefold()
    return unicodedata.normalize("NFC", folded)


def make_ballot(
    reading: JurorReading,
    names: Mapping[str, str],
    outcome: Outcome,
    reply: Reply | None = None,
    prompt_hash: str = "",
) -> Ballot:
    """Return a ballot's record: the reading, its outcome, and the call's figures."""
    measured: dict[str, Any] = {}
    if reply is not None:
        measured = {
            "raw": reply.text,
            "model": reply.model,
            "usage": reply.usage,
            "cost": reply.cost,
            "latency": reply.latency,
        }
    return Ballot(
        juror=reading.juror.ref,
        family=reading.juror.family,
        order=reading.order,
        names=dict(names),
        audit=reading.audit,
        recused=reading.recused,
        valid=outcome.valid,
        problem=outcome.problem,
        repaired=outcome.repaired,
        contradictory=outcome.contradictory,
        scores=outcome.scores,
        verdict=outcome.verdict,
        confidence=outcome.confidence,
        reasons=outcome.reasons,
        prompt_hash=prompt_hash,
        **measured,
    )


class Chances(NamedTuple):
    """A probability for each contender, and by how much the first leads.

    `lead` is the signed z of the first contender with two, else of the leader over the second;
    `order_alone`: a lead was dropped because the order of showing could explain it.
    """

    p: dict[str, float]
    lead: float
    winner: str
    order_alone: bool = False
    variance: float | None = None
    gain: float | None = None


def known_jurors(fit: Fit, ballots: Iterable[Ballot]) -> list[str]:
    """Return the jurors of the ballots that the model weighs, one for each."""
    return [one.juror for one in ballots if one.valid and not one.audit and fit.knows(one.juror)]


def margins(ballot: Ballot, rubric: Rubric) -> dict[str, float]:
    """Return each contender's score less the mean of the others', for a valid ballot."""
    totals = {side: rubric.score(sheet) for side, sheet in (ballot.scores or {}).items()}
    if len(totals) == 2:
        (one, ahead), (other, behind) = totals.items()
        return {one: ahead - behind, other: behind - ahead}
    return {
        side: total - fmean(other for rival, other in totals.items() if rival != side)
        for side, total in totals.items()
    }


def signals(
    ballot: Ballot,
    margin: Mapping[str, float],
    pos: float,
    sd: float,
    worth: float = VERDICT_TERM,
    named: float = 0.0,
) -> dict[str, float]:
    """Return x for each contender: the margin freed of the juror's lean, and the verdict.

    `worth` is that of a verdict, and `named` how often it is for the side shown first.
    """
    last = len(ballot.order) - 1
    found: dict[str, float] = {}
    for place, side in enumerate(ballot.order):
        o = 1 - 2 * place / last
        clipped = max(-CLIP, min(CLIP, (margin[side] - o * pos) / sd))
        # +1 for the side named, shared out as −1 over the others, 0 for a tie.
        term = 1.0 if ballot.verdict == side else -1.0 / last
        if ballot.contradictory or ballot.verdict == TIE:
            term = 0.0
        found[side] = clipped + worth * (term - o * named)
    return found


def signal_of(ballot: Ballot, side: str) -> float:
    """Return a contender's x on a ballot."""
    return (ballot.signal or {}).get(side, 0.0)
