"""Parts of a debate's page: the ballots of a jury as one matrix, and what its format adds.

A matrix has a row a juror, with all that it read. A format adds cards of arguments, budgets that
run, what changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from statistics import fmean
from typing import Any, NamedTuple

import orjson
import regex
from pydantic import ValidationError

from engine.dataset.page import PageTurn, Read, tell_ballot
from engine.formats.structured.trace import AGREEMENT, STANDS, Trace, remarks, replies
from engine.formats.team.rules import free_clock, tell_clock
from engine.pages.head import SECTIONS_WEIGHT, Rows, cut
from engine.store.journal import Judging
from engine.values.debate import OTHER
from engine.values.language import N_
from engine.values.limits import TeamLimits
from engine.values.text import headline, split_draft
from engine.words.phrases import option_name
from engine.words.translation import number, say

BETWEEN = " · "  # two readings
LEAST = 0.05  # points in which a juror differs from its panel
PREVIEW = 110  # characters of what a juror wrote
BALLOTS_WEIGHT, LEAST_WEIGHT = 34_000, 240  # bytes of HTML, about: of all reasons, and of one


class _JurorRow(NamedTuple):
    """A juror's readings, in one row; `cells` are its marks by criterion, the sides side by side.

    `leans` is the place of the side that it prefers more than its panel does, from 1; 0 for none.
    `notes` are what is to be known of its readings, and `reasons` are Markdown of a model.
    """

    juror: str
    order: str
    cells: tuple[str, ...]
    weight: str
    verdict: str
    beside: str
    leans: int
    preview: str
    notes: tuple[str, ...]
    reasons: tuple[str, ...]


class JuryMatrix(NamedTuple):
    """A jury: what it scored, and a row for each juror; `number` is 0 for the debate's own.

    `winner` is a later one's verdict; empty without one.
    """

    number: int
    sides: tuple[str, ...]
    criteria: tuple[str, ...]
    rows: tuple[_JurorRow, ...]
    winner: str = ""

    @property
    def key(self) -> str:
        """What a link to it ends with."""
        return f"ballots-{self.number}" if self.number else "ballots"


def read_juries(
    own: Sequence[Read], judgings: Sequence[Judging], names: Mapping[str, str], sides: Sequence[str]
) -> tuple[JuryMatrix, ...]:
    """Return the jury of a debate and later ones, those that read; `sides` are told in order."""
    later = {
        one.number: [tell_ballot(ballot, dict(names)) for ballot in one.found.ballots]
        for one in judgings
        if one.found is not None
    }
    read = {number: told for number, told in {0: list(own), **later}.items() if told}
    room = BALLOTS_WEIGHT // max(1, sum(map(len, read.values())))
    winners = {
        one.number: option_name(verdict.winner, names)
        for one in judgings
        for verdict in (one.found.verdicts.values() if one.found else ())
        if verdict.winner
    }
    return tuple(
        _matrix(
            number, told, tuple(sides), room if not number or room > LEAST_WEIGHT else 0
        )._replace(winner=winners.get(number, ""))
        for number, told in read.items()
    )


def _matrix(number: int, read: Sequence[Read], sides: tuple[str, ...], room: int) -> JuryMatrix:
    by_juror: dict[str, list[Read]] = {}
    for one in read:
        by_juror.setdefault(one.juror, []).append(one)
    criteria = dict.fromkeys(c for one in read for marks in one.marks for c, _ in marks.scores)
    means = {juror: mean for juror, found in by_juror.items() if (mean := _means(found, sides))}
    deciding = [means[juror] for juror in means if any(one.counts for one in by_juror[juror])]
    panel = tuple(map(fmean, zip(*(deciding or means.values()), strict=True)))
    rows = tuple(
        _row(juror, found, sides, tuple(criteria), (means.get(juror, ()), panel), room)
        for juror, found in by_juror.items()
    )
    return JuryMatrix(number, sides, tuple(criteria), rows)


def _means(found: Sequence[Read], sides: Sequence[str]) -> tuple[float, ...]:
    """Return the mean mark of each side over a juror's readings; none without any."""
    sheets = [{marks.name: marks.scores for marks in one.marks} for one in found if one.marks]
    if not all(side in sheet and sheet[side] for sheet in sheets for side in sides):
        return ()
    return tuple(
        fmean(score for sheet in sheets for _, score in sheet[side]) for side in sides if sheets
    )


def _row(
    juror: str,
    found: Sequence[Read],
    sides: Sequence[str],
    criteria: Sequence[str],
    marks: tuple[Sequence[float], Sequence[float]],
    room: int,
) -> _JurorRow:
    beside, leans = _beside(*marks, sides)
    faults = tuple(
        dict.fromkeys(
            fault
            for one in found
            for fault in (
                one.problem,
                "" if one.counts else say("decides nothing"),
                say("contradicts its own scores") if one.contradictory else "",
            )
            if fault
        )
    )
    sure = [number(one.confidence, ".2f") for one in found if one.confidence is not None]
    wrote = tuple(cut(one.reasons, room) for one in found if one.reasons) if room else ()
    weights = [number(one.weight, ".2f") for one in found if one.weight is not None]
    return _JurorRow(
        juror=juror,
        order=BETWEEN.join(one.order for one in found),
        cells=tuple(_cell(found, sides, criterion) for criterion in criteria),
        weight=BETWEEN.join(dict.fromkeys(weights)),
        verdict=BETWEEN.join(dict.fromkeys(one.verdict or say("invalid") for one in found)),
        beside=beside,
        leans=leans,
        preview=headline(" ".join((*faults, *wrote)), PREVIEW),
        notes=(*faults, *(say("confidence {share}", share=share) for share in dict.fromkeys(sure))),
        reasons=tuple(dict.fromkeys(wrote)),
    )


def _cell(found: Sequence[Read], sides: Sequence[str], criterion: str) -> str:
    """Return a juror's marks by a criterion: “7–9”, and both readings where they differ."""
    told = []
    for one in found:
        sheet = {marks.name: dict(marks.scores) for marks in one.marks}
        scores = [str(sheet.get(side, {}).get(criterion, "")) for side in sides]
        told.append("–".join(scores) if all(scores) else "–")
    return BETWEEN.join(dict.fromkeys(told))


def _beside(own: Sequence[float], panel: Sequence[float], sides: Sequence[str]) -> tuple[str, int]:
    """Return how a juror's marks differ from its panel's mean: whom it prefers, how harsh it is."""
    if not own:
        return "", 0
    told, leans = [], 0
    if len(sides) == 2:
        more = (own[0] - own[1]) - (panel[0] - panel[1])
        if abs(more) >= LEAST:
            leans = 1 if more > 0 else 2
            points = number(abs(more), ".1f")
            told.append(say("{points} more for {side}", points=points, side=sides[leans - 1]))
    milder = fmean(own) - fmean(panel)
    if abs(milder) >= LEAST:
        stricter = N_("{points} milder") if milder > 0 else N_("{points} harsher")
        told.append(say(stricter, points=number(abs(milder), ".1f")))
    return say(", ").join(told) or say("as the jury"), leans


# `structured`: each argument with what was said of it, round by round.


class ArgumentCard(NamedTuple):
    """An argument as its side raised it; `stands` is the judge's word for it.

    `steps` are what became of it in a round: in short, its words, and the turn's number or 0.
    """

    id: str
    side: str
    turn: int
    claim: str
    remarks: str
    steps: tuple[tuple[str, str, int], ...]
    stands: str
    consensus: str
    reason: str
    scores: str


def read_traces(artifacts: Sequence[Mapping[str, Any]]) -> tuple[Trace, ...]:
    """Return the trace table of a structured debate; empty for one that cannot be read."""
    for one in artifacts:
        if one["kind"] == "structured" and one["valid"]:
            try:
                found = orjson.loads(one["body"]).get("traces", ())
                return tuple(Trace.model_validate(each) for each in found)
            except (ValidationError, orjson.JSONDecodeError, AttributeError):
                continue
    return ()


def argument_cards(rows: Rows, spoken: Sequence[Mapping[str, Any]]) -> tuple[ArgumentCard, ...]:
    """Return each argument of a structured debate; `spoken` names every turn by its step."""
    numbers = {one["step"]: one["number"] for one in spoken}
    traces = read_traces(rows.get("artifacts", ()))
    room = SECTIONS_WEIGHT // max(1, 4 * len(traces))

    def card(trace: Trace) -> ArgumentCard:
        other, closer = OTHER[trace.side], trace.side
        if trace.confirmed and not trace.withdrawn:
            closer = other
        answered, closed = replies(trace)
        return ArgumentCard(
            id=trace.id,
            side=trace.side,
            turn=numbers.get(f"turn/opening/{trace.side}", 0),
            claim=cut(trace.claim, room),
            remarks=say(", ").join(remarks(trace)),
            steps=(
                (
                    answered,
                    cut(trace.reasoning, room),
                    numbers.get(f"turn/cross-examination/{other}", 0),
                ),
                (closed, cut(trace.answer, room), numbers.get(f"turn/closing/{closer}", 0)),
            ),
            stands=say(STANDS[trace.standing]),
            consensus=say(AGREEMENT[trace.consensus]),
            reason=cut(trace.reason, room),
            scores=say(", ").join(
                f"{say(name)} {points:g}" for name, points in trace.scores.items()
            ),
        )

    return tuple(map(card, traces))


# `team`: the speeches of the free debate, and how much time each of them leaves.


class FreeSpeech(NamedTuple):
    """A speech of a free debate; `left` is what each team has then, as a clock and a share."""

    side: str
    seat: str
    number: int
    words: int
    left: tuple[tuple[str, str, float], ...]


def free_speeches(
    spoken: Sequence[Mapping[str, Any]], limits: Mapping[str, float]
) -> tuple[FreeSpeech, ...]:
    """Return the speeches of a free debate in their order; `spoken` are all of the debate's."""
    freely = [one for one in spoken if one["step"].startswith("turn/free-")]
    if not freely:
        return ()
    given = TeamLimits.model_validate(limits)
    heard = {one["seat"] for one in spoken if one["number"] < freely[0]["number"]}
    clock, board = free_clock(given, heard), list[FreeSpeech]()
    whole = dict(clock.left)
    for one in freely:
        clock.spend(one["seat"], one["words"])
        left = {side: max(0, words) for side, words in clock.left.items()}
        told = tuple(
            (side, tell_clock(words / given.words_a_minute), words / whole[side])
            for side, words in left.items()
        )
        board.append(FreeSpeech(one["seat"][0], one["seat"], one["number"], one["words"], told))
    return tuple(board)


# `roundtable`: what each revision changed, word by word.


MOST_COMPARED = 1_500  # words of a text
NEAR = 6  # unchanged words that are shown before and after a change
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]"  # where no spaces part words
_WORD = regex.compile(rf"{_UNSPACED}|(?:(?!{_UNSPACED})\S)+ ?")


class Revision(NamedTuple):
    """What a revision changed: how many words went and came, and those `kept`, `out` and `in`."""

    out: int
    new: int
    parts: tuple[tuple[str, str], ...]


def revisions(turns: Sequence[PageTurn]) -> dict[int, Revision]:
    """Return what each revision among some turns changed, by its number."""
    found = {}
    for side in {turn.side for turn in turns}:
        own = [turn for turn in turns if turn.side == side]
        for before, after in pairwise(own):
            if after.step.startswith("turn/revision-"):
                texts = (before.text, split_draft(after.text)[0])
                if "/revision-" in before.step:
                    texts = (split_draft(before.text)[0], texts[1])
                old, new = (_WORD.findall(" ".join(text.split())) for text in texts)
                if max(len(old), len(new)) <= MOST_COMPARED:
                    found[after.number] = _compare(old, new)
    return found


def _compare(old: Sequence[str], new: Sequence[str]) -> Revision:
    parts, out, came = list[tuple[str, str]](), 0, 0
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for place, (kind, start, end, first, last) in enumerate(codes):
        if kind == "equal":
            before, after = place > 0, place < len(codes) - 1
            near = "".join(_near(old[start:end], before=before, after=after))
            parts.append(("kept", near.strip()))
            continue
        if end > start:
            parts.append(("out", "".join(old[start:end]).strip()))
            out += end - start
        if last > first:
            parts.append(("in", "".join(new[first:last]).strip()))
            came += last - first
    return Revision(out, came, tuple(parts))


def _near(words: Sequence[str], *, before: bool, after: bool) -> Iterator[str]:
    """Yield unchanged words that stand near a change before or after them."""
    if len(words) <= 2 * NEAR + 1:
        yield from words
        return
    yield from words[:NEAR] if before else ()
    yield "… "
    yield from words[-NEAR:] if after else ()
