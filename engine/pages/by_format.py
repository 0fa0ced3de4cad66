"""What a format adds to its debate's page: cards of arguments, budgets that run, what changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, NamedTuple

import orjson
import regex
from pydantic import ValidationError

from engine.dataset.page import PageTurn
from engine.formats.structured.trace import AGREEMENT, STANDS, Trace, remarks, replies
from engine.formats.team.rules import free_clock, tell_clock
from engine.pages.head import SECTIONS_WEIGHT, Rows, cut
from engine.values.debate import OTHER
from engine.values.limits import TeamLimits
from engine.values.text import split_draft
from engine.words.translation import say

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
