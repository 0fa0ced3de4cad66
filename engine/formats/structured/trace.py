"""The trace table of a structured debate: what became of each argument; pure.

Consensus is never read from polite words: an argument is agreed when the other side conceded it
in cross-examination and says so again in its closing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import regex

from engine.values.debate import OTHER, Value
from engine.values.language import N_
from engine.values.text import marked
from engine.words.translation import say

# Whether an argument leans on another one: “see argument 2”, “as my first argument says”, “A-2”.
#
# The words for it are data, by language: see `engine/prompts/structured/labels.toml`.


_ID = r"\b[AB]-(?P<id>[1-9])\b"  # and not the vitamin B-12
_HAN = regex.compile(r"\p{Han}")


def leaning(labels: Mapping[str, str]) -> Callable[[str, int], str]:
    """Return what finds where one argument points at another, given a language's words.

    `argument` is the word for one; `cardinals` stand behind it and `ordinals` on either side, both
    from one on. They are joined by commas, and may lack their endings.
    """
    cardinals, ordinals = _listed(labels, "cardinals"), _listed(labels, "ordinals")
    places = {word: n for words in (cardinals, ordinals) for n, word in enumerate(words, 1)}
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
    pattern = regex.compile(f"{_ID}|{worded}", regex.IGNORECASE)

    def find(text: str, own: int) -> str:
        """Return the first words that point at another argument than number `own`, or nothing."""
        for found in pattern.finditer(text):
            said = (found["id"] or found["n"] or "").casefold()
            if (int(said) if said.isdecimal() else places.get(said)) != own:
                return str(found[0])
        return ""

    return find


def _listed(labels: Mapping[str, str], name: str) -> list[str]:
    return [word.strip().casefold() for word in labels.get(name, "").split(",") if word.strip()]


def _any_of(words: list[str]) -> str:
    return "|".join(map(regex.escape, words)) or "(?!)"


Consensus = Literal["agreed", "claimed", "retracted", "disputed"]
Standing = Literal["UPHELD", "PARTIALLY_UPHELD", "REFUTED", "UNCERTAIN"]
STANDINGS: tuple[Standing, ...] = ("UPHELD", "PARTIALLY_UPHELD", "REFUTED", "UNCERTAIN")
LEVEL, SIGNIFICANT = 1.0, 3.0  # gaps of totals, in points of the 1–10 scale
EVEN, LEAD, SIGNIFICANT_LEAD = N_("level"), N_("a lead"), N_("a significant lead")
STANDS = {
    "UPHELD": N_("✅ upheld"),
    "PARTIALLY_UPHELD": N_("🟡 partly"),
    "REFUTED": N_("❌ refuted"),
    "UNCERTAIN": N_("❔ unclear"),
    "": N_("· unjudged"),
}
COURSES = {
    "agreed": N_("{other} conceded"),
    "retracted": N_("{side} withdrew it"),
    "late": N_("{other} conceded late"),
    "passing": N_("{other} conceded once"),
    "refute": N_("{other} denied it"),
    "challenge": N_("{other} doubted it"),
    "partial": N_("{other} granted a part"),
    "no_answer": N_("{other} gave no answer"),
}
HEAD = (N_("argument"), N_("cross-examination"), N_("closing"), N_("consensus"), N_("standing"))
AGREEMENT = {
    "agreed": N_("agreed"),
    "claimed": N_("conceded once"),
    "retracted": N_("withdrawn"),
    "disputed": N_("disputed"),
}
FALLACIES = {
    "straw_man": N_("straw man"),
    "appeal_to_authority": N_("appeal to authority"),
    "slippery_slope": N_("slippery slope"),
    "false_dilemma": N_("false dilemma"),
    "anecdotal_evidence": N_("anecdotal evidence"),
    "circular_reasoning": N_("circular reasoning"),
    "ad_hominem": N_("ad hominem"),
}

# A year, a link, a title in quotation marks, or a name of two words: something to look up. No part
# can begin again within itself at length, so that the time grows with the text and no faster.
_SOURCE = regex.compile(
    r"(?<!\d)(?:1[89]|20)\d\d(?!\d)|https?://|\bdoi\b|《[^《》]+》|「[^「」]{3,}」"
    r"|[\"“«„][^\"“”«»„]{6,}[\"”»“]|\p{Lu}[\w.-]{1,60}\s+(?:\p{Ll}{1,3}\s+)?\p{Lu}[\w-]"
)


class Argument(Value):
    """One numbered argument of an opening."""

    id: str
    claim: str
    reasoning: str = ""
    evidence: str = ""

    @property
    def sourced(self) -> bool:
        """Whether its evidence names something that a reader could look up."""
        return _SOURCE.search(self.evidence) is not None


class Trace(Value):
    """One argument's course, round by round, and where it stands in the end.

    `side` raised it in the opening; in the cross-examination the other side gave its `response`
    and `reasoning`; in the closing its own side gave its `answer` or had it `withdrawn`, and the
    other conceded it, which is `confirmed`. Texts are empty where nothing usable was said;
    `standing` and `reason` are the judge's, and empty without one, as is `new_argument`: what the
    response brought that no opening held.
    """

    id: str
    side: str
    claim: str
    sourced: bool
    response: str = ""
    reasoning: str = ""
    answer: str = ""
    withdrawn: bool = False
    confirmed: bool = False
    consensus: Consensus
    standing: str = ""
    reason: str = ""
    fallacies: tuple[str, ...] = ()
    new_argument: str = ""
    scores: dict[str, int | float]


def consensus_of(response: str, *, confirmed: bool, withdrawn: bool) -> Consensus:
    """Say how both sides see an argument in the end, given the type of the response.

    `confirmed` says that the other side's closing concedes it, `withdrawn` that its own side
    gave it up.
    """
    if withdrawn:
        return "retracted"
    if response == "concede" and confirmed:
        return "agreed"
    return "claimed" if response == "concede" or confirmed else "disputed"


def read_gap(totals: Mapping[str, float]) -> str:
    """Rate a gap of totals: under 1 point level, over 3 significant."""
    gap = abs(totals["A"] - totals["B"])
    if gap < LEVEL:
        return say(EVEN)
    return say(SIGNIFICANT_LEAD if gap > SIGNIFICANT else LEAD)


def outline(traces: Sequence[Trace]) -> str:
    """Return the trace table as Markdown, one line an argument and 40 columns at most."""
    return "\n".join(f"- {line(trace)}" for trace in traces)


def line(trace: Trace) -> str:
    """Return where an argument stands and what both sides made of it: “A-2 ✅ upheld (…)”."""
    course = say(COURSES[_course(trace)], side=marked(trace.side), other=_other(trace))
    return f"{trace.id} {say(STANDS[trace.standing])} ({course})"


def _course(trace: Trace) -> str:
    """Return the name of what both sides made of an argument, among the words of reports."""
    match trace.consensus:
        case "agreed" | "retracted":
            return trace.consensus
        case "claimed":
            return "late" if trace.confirmed else "passing"
        case "disputed":
            return trace.response or "no_answer"


def _other(trace: Trace) -> str:
    return marked(OTHER[trace.side])


def table(traces: Sequence[Trace]) -> str:
    """Return the whole trace table as Markdown, for a file."""
    head = tuple(say(column) for column in HEAD)
    rows: list[tuple[str, ...]] = [head, ("---",) * len(head)]
    for trace in traces:
        seen, stands = say(AGREEMENT[trace.consensus]), say(STANDS[trace.standing])
        rows.append((trace.id, *replies(trace), seen, stands))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def describe(traces: Sequence[Trace]) -> Iterator[str]:
    """Yield, for each argument, what it claims and why the judge has it stand where it does."""
    for trace in traces:
        marks = say(", ").join(remarks(trace))
        marked = f" *({marks})*" if marks else ""
        reason = f"\n- {' '.join(trace.reason.split())}" if trace.reason else ""
        yield f"**{trace.id}.** {' '.join(trace.claim.split())}{marked}{reason}"


def remarks(trace: Trace) -> Iterator[str]:
    """Yield what is to be known of an argument: no source, fallacies, what should not count."""
    if not trace.sourced:
        yield say("names no source")
    for fallacy in trace.fallacies:
        yield say(FALLACIES.get(fallacy, fallacy))
    if trace.new_argument:
        brought = " ".join(trace.new_argument.split())
        told = N_("new argument of {other}, which does not count: {what}")
        yield say(told, other=_other(trace), what=brought)


def replies(trace: Trace) -> tuple[str, str]:
    """Return what the other side made of an argument, and what became of it in the closing."""
    course = "agreed" if trace.response == "concede" else trace.response or "no_answer"
    return say(COURSES[course], other=_other(trace)), _closing(trace)


def _closing(trace: Trace) -> str:
    if trace.withdrawn:
        template = COURSES["retracted"]
        return say(template, side=marked(trace.side))
    if trace.confirmed:
        template = COURSES["agreed"]
        return say(template, other=_other(trace))
    template = N_("{other} answered") if trace.answer else COURSES["no_answer"]
    return say(template, other=marked(trace.side))
