"""A sheet as its page shows it, and its answer as it comes back. Pure.

A page knows the sides as first and second, as they stand on the sheet: nothing on it says which is
which, what kind of sheet it is, or where the debate can be found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count, groupby
from typing import Literal

from pydantic import Field, field_validator

from engine.blinding.transcript import Round
from engine.dataset.layouts import read_blind, unquote, without_mentions
from engine.store.labels import MOST_COMMENT, Drawn, StoredSheetAnswer, Task
from engine.values.debate import ConfidenceScale, Debate, TrialProtocol, Turn, Value
from engine.values.text import clean, headline
from engine.values.verdicts import TIE, WEAK
from engine.votes.imported import is_fast

Place = Literal["first", "second"]
Option = Literal["first", "second", "tie", "weak"]
PLACES: tuple[Place, Place] = ("first", "second")
SIDED: dict[str, Literal["for", "against"]] = {"A": "for", "B": "against"}
TOPIC_LENGTH = 100  # characters of a topic in a list


class _SheetTurn(Value):
    """One turn on a sheet; `number` counts through the sheet, and names it in an answer.

    `text` is Markdown that a model wrote, blinded and otherwise as it is.
    """

    number: int
    speaker: Place
    name: str
    spoke: str
    text: str


class _SheetRound(Value):
    """A round of a debate; `asked` are the audience's questions."""

    title: str
    asked: tuple[str, ...]
    speeches: tuple[_SheetTurn, ...]


class SheetAnswer(Value):
    """What an annotator says of a debate; `option` weak: neither debated well.

    `confidence` is a word of `CONFIDENCE_NAMES` or a whole number of percent, `ground` what decided
    and `comment` the reason in their own words. `thumbs` are by number of the speech. `seconds` is
    how long the page was seen, None where nothing measured it.
    """

    option: Option
    confidence: str = ""
    ground: Literal["", "logic", "evidence", "rebuttal", "style", "other"] = ""
    comment: str = Field("", max_length=MOST_COMMENT)
    thumbs: Mapping[int, bool] = {}
    seconds: float | None = Field(None, ge=0, allow_inf_nan=False)

    @field_validator("comment")
    @classmethod
    def _clean(cls, comment: str) -> str:
        return clean(comment).strip()


class Sheet(Value):
    """A debate to be labelled, the `number`th of its annotator.

    `names` are the neutral names of the first and the second, as in the texts; `stances` what each
    argues, empty where they argue for and against the topic. Then `argues` says who does which; it
    is empty where nobody takes a side. `answer` is what was said before; `open`: it takes one.
    `percent`: it asks how sure they are. `trial`: it asks which answer is right, by the texts of
    its `sources` where only these speak for one; elsewhere they are titles.
    """

    id: str
    task: str
    number: int
    language: str
    topic: str
    conditions: str
    names: tuple[str, str]
    stances: tuple[str, str]
    argues: tuple[Literal["for", "against"], ...]
    sources: tuple[str, ...]
    rounds: tuple[_SheetRound, ...]
    words: int
    answer: SheetAnswer | None
    open: bool
    percent: bool = False
    trial: bool = False


class SheetLine(Value):
    """A sheet in its annotator's list."""

    id: str
    number: int
    topic: str
    option: Option


class LabelProgress(Value):
    """How far an annotator is; `wanted` sheets in all, 0 where nothing says so.

    What is left of these takes about `minutes`, by the time that theirs took; 0: not known. When
    nothing is `left` and they are `done`, `code` is the task's completion code, unless it is `held`
    back from them. Where others have what is left, it comes back after `back_minutes`, unless they
    answer.
    """

    task: Task
    answered: int
    wanted: int
    minutes: int
    left: bool
    back_minutes: int
    done: bool
    code: str
    held: bool


def make_sheet(drawn: Drawn, debate: Debate, turns: Sequence[Turn], *, open: bool) -> Sheet:
    """Return a sheet as it is shown, the sides in its own order."""
    names = _names(drawn, debate)
    spoken = tuple(map(without_mentions, turns))
    trial = debate.request.trial
    expert = trial is TrialProtocol.EXPERT
    sources = tuple(one.text if expert else one.title for one in debate.request.sources)
    transcript = read_blind(debate, spoken, sources).arrange(names)
    stances = dict(transcript.stances)
    return Sheet(
        id=drawn.id,
        task=drawn.task,
        number=drawn.number,
        language=debate.request.language,
        topic=unquote(transcript.topic),
        conditions=unquote(transcript.conditions),
        names=names,
        stances=(unquote(stances.get(names[0], "")), unquote(stances.get(names[1], ""))),
        argues=() if stances else tuple(SIDED[side] for side in drawn.order if side in SIDED),
        sources=transcript.sources,
        rounds=tuple(_rounds(transcript.rounds, names)),
        words=sum(turn.words for turn in turns),
        answer=_answer(drawn, turns),
        open=open,
        percent=debate.request.confidence is ConfidenceScale.PERCENT,
        trial=trial is not None,
    )


def line_of(drawn: Drawn, debate: Debate) -> SheetLine | None:
    """Return an answered sheet in a list, None for one without an answer."""
    if drawn.filled is None:
        return None
    names = _names(drawn, debate)
    topic = headline(unquote(read_blind(debate, ()).arrange(names).topic), TOPIC_LENGTH)
    option = _placed(drawn.filled.option, drawn.order)
    return SheetLine(id=drawn.id, number=drawn.number, topic=topic, option=option)


def fill(
    drawn: Drawn, turns: Sequence[Turn], answer: SheetAnswer, now: datetime
) -> StoredSheetAnswer:
    """Return an answer in terms of the debate.

    It took the time since the sheet was given, or the less that its page measured. Thumbs on
    speeches that are not there are left out.
    """
    steps = {number: turn.step for number, turn in enumerate(_shown(turns, drawn.order), start=1)}
    since = max((now - drawn.given_at).total_seconds(), 0.0)
    seconds = since if answer.seconds is None else min(answer.seconds, since)
    first, second = tuple(drawn.order)
    options = {"first": first, "second": second, "tie": TIE, "weak": WEAK}
    return StoredSheetAnswer(
        option=options[answer.option],
        confidence=answer.confidence,
        ground=answer.ground,
        comment=answer.comment,
        thumbs={steps[n]: up for n, up in sorted(answer.thumbs.items()) if n in steps},
        seconds=round(seconds, 1),
        fast=is_fast(seconds, sum(turn.words for turn in turns)),
    )


def _names(drawn: Drawn, debate: Debate) -> tuple[str, str]:
    first, second = tuple(drawn.order)
    return debate.setup.names[first], debate.setup.names[second]


def _rounds(rounds: Sequence[Round], names: tuple[str, str]) -> Iterator[_SheetRound]:
    numbers = count(1)
    for one in rounds:
        speeches = tuple(
            _SheetTurn(
                number=next(numbers),
                speaker=PLACES[names.index(speech.name)],
                name=speech.name,
                spoke=speech.told,
                text=unquote(speech.text),
            )
            for speech in one.speeches
        )
        yield _SheetRound(title=one.title, asked=tuple(map(unquote, one.asked)), speeches=speeches)


def _placed(option: str, order: str) -> Option:
    """Return a stored option as the page calls it."""
    first, second = tuple(order)
    places: dict[str, Option] = {first: "first", second: "second", TIE: "tie", WEAK: "weak"}
    return places[option]


def _answer(drawn: Drawn, turns: Sequence[Turn]) -> SheetAnswer | None:
    """Return a stored answer as its page gave it."""
    if drawn.filled is None:
        return None
    said = drawn.filled
    numbers = {turn.step: number for number, turn in enumerate(_shown(turns, drawn.order), 1)}
    given = said.model_dump(include={"confidence", "ground", "comment", "seconds"})
    thumbs = {numbers[step]: up for step, up in said.thumbs.items() if step in numbers}
    option = _placed(said.option, drawn.order)
    return SheetAnswer.model_validate({**given, "option": option, "thumbs": thumbs})


def _shown(turns: Sequence[Turn], order: str) -> Iterator[Turn]:
    """Yield the turns as a sheet shows them: round by round, in each the sides in its order."""
    ordered = sorted(turns, key=lambda turn: turn.number)
    for _, held in groupby(ordered, key=lambda turn: turn.round):
        yield from sorted(held, key=lambda turn: order.index(turn.side))
