"""The judge of a `team` debate: scores each speech beside the next, sums up, reviews."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict

from engine.debate import Turn
from engine.findings import Adjustment, Artifact, Score
from engine.floor.beside import Beside
from engine.floor.floor import Floor
from engine.floor.schema import TEXT, choice, named, record, several, whole
from engine.floor.shapes import Answer, Fault, Shape, kept
from engine.formats.team.board import draw_board, write_review
from engine.formats.team.channels import JUDGE, JUDGE_NOTES, PUBLIC, Channels
from engine.formats.team.manual import NAME, SEATS, Manual
from engine.formats.team.rules import (
    KINDS,
    WEIGHTS,
    Scored,
    Totals,
    count_up,
    overtime,
    reported,
    twice_running,
)
from engine.judging import Verdict
from engine.messages import Report
from engine.store import Post

BEFORE = 3  # speeches before the one that is scored, which the judge reads with it
SUMMED_UP = 9  # those before a summary: the cross-examination, and the other team's summary
LOWEST, HIGHEST = 1, 10


class Sheet(BaseModel):
    """A judge's scores of a speech, and the violations that it reports."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    scores: dict[str, int]
    violations: list[str] = []
    note: str = ""


class Summary(BaseModel):
    """A judge's summary of a stage."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    summary: str


class Review(BaseModel):
    """A judge's final review."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    review: str


class Judge:
    """Works beside the debate: nothing of it reaches a debater, and no speech waits for it."""

    def __init__(self, floor: Floor, beside: Beside, manual: Manual) -> None:
        self._floor = floor
        self._manual = manual
        self._beside = beside
        self._channels = Channels()
        self._last: asyncio.Task[None] | None = None
        self._speeches: list[Scored] = []
        self._penalties: list[Adjustment] = []
        self._summaries: dict[str, str] = {}
        self._choices: list[str] = []
        self._stages: Counter[str] = Counter()

    def score(self, turn: Turn, stage: str, duty: str) -> None:
        """Begin to score a speech; the debate goes on meanwhile."""
        before = self._channels.read(JUDGE, PUBLIC, last=SUMMED_UP if duty == "summary" else BEFORE)
        self._channels.write(PUBLIC, f"{turn.seat}, {stage}", turn.text)
        self._stages[stage] += 1
        previous = self._last
        self._last = self._beside.start(self._score(turn, stage, duty, before, previous))

    def sum_up(self, stage: str) -> None:
        """Begin to sum a stage up."""
        said = self._channels.read(JUDGE, PUBLIC, last=self._stages[stage])
        self._summaries[stage] = ""  # in the order of the stages, whichever is summed up first
        self._beside.start(self._sum_up(stage, said))

    def note_choice(self, side: str, where: str, chosen: str, how: str, direction: str) -> None:
        """Remember a captain's choice for after the vote."""
        told = {"captain": "chose", "precedence": "had to send", "fallback": "fell back to"}[how]
        self._choices.append(f"- {where}: {side} {told} {chosen}. {direction}".rstrip())

    async def conclude(self) -> None:
        """Count up, have the whole reviewed, and keep everything for after the vote."""
        self._penalties += twice_running(self._floor.turns)
        totals = count_up(self._speeches, self._penalties, SEATS)
        review = await self._review(totals)
        said = review.value.review if review.valid and review.value else ""
        board = Post(key="scoreboard", message=draw_board(self._speeches, self._penalties))
        posts = [] if self._floor.live else [board]
        posts += [
            Post(key="team/review", message=write_review(totals, said, self._told())),
            Post(key="team/captains", message=_captains(self._choices)),
        ]
        body = totals.model_dump() | {"winner": totals.winner, "mean_winner": totals.mean_winner}
        await self._floor.keep(
            *posts,
            artifacts=[Artifact.of("totals", "team", body), kept(review, "review", "review")],
            scores=list(_totals(totals)) if self._scored else (),
            adjustments=list(twice_running(self._floor.turns)),
            verdict=self._verdict(totals),
        )

    # --- one speech ---------------------------------------------------------------------

    async def _score(
        self, turn: Turn, stage: str, duty: str, before: str, previous: asyncio.Task[None] | None
    ) -> None:
        answer = await self._floor.consult(
            f"judge/{turn.step}",
            self._floor.judge,
            system=f"{NAME}/judge",
            template=f"{NAME}/score",
            shape=_sheet_shape(),
            before=before,
            speech=turn.text,
            seat=turn.seat,
            stage=stage,
            task=self._manual.tasks[duty],
            violations=self._manual.violations,
            words=turn.words,
            limit=turn.limit,
        )
        if previous is not None:
            await previous  # results are kept in the order of the speeches
        sheet = answer.value if answer.valid else None
        speech = Scored(
            step=turn.step,
            seat=turn.seat,
            side=turn.side,
            sheet=dict(sheet.scores) if sheet else None,
            violations=tuple(dict.fromkeys(sheet.violations)) if sheet else (),
        )
        penalties = [*overtime(turn), *reported(turn, stage, speech.violations)]
        self._speeches.append(speech)
        self._penalties += penalties
        self._take_note(speech, sheet.note if sheet else "")
        await self._floor.keep(
            *self._live_board(turn),
            artifacts=[kept(answer, f"judge/{turn.step}", "speech_score")],
            scores=list(_scores(speech)),
            adjustments=penalties,
        )

    def _take_note(self, speech: Scored, note: str) -> None:
        score = "not scored" if speech.score is None else f"{speech.score:.2f}"
        told = "; ".join(filter(None, (score, *speech.violations, note)))
        self._channels.write(JUDGE_NOTES, f"{speech.seat}, {speech.round}", told)

    def _live_board(self, turn: Turn) -> list[Post]:
        if not self._floor.live:
            return []
        if len(self._speeches) == 1:
            return [Post(key="scoreboard", message=draw_board(self._speeches, self._penalties))]
        key = f"scoreboard/{turn.step}"
        return [
            Post(key=key, message=draw_board(self._speeches, self._penalties), target="scoreboard")
        ]

    async def _sum_up(self, stage: str, said: str) -> None:
        answer = await self._floor.consult(
            f"judge/summary/{stage.replace(' ', '-')}",
            self._floor.judge,
            system=f"{NAME}/judge",
            template=f"{NAME}/summary",
            shape=Shape(Summary, named("Summary", {"summary": TEXT})),
            transcript=said,
            stage=stage,
        )
        if answer.valid and answer.value:
            self._summaries[stage] = answer.value.summary
        await self._floor.keep(
            artifacts=[kept(answer, f"summary/{stage.replace(' ', '-')}", "summary")]
        )

    async def _review(self, totals: Totals) -> Answer[Review]:
        return await self._floor.consult(
            "judge/review",
            self._floor.judge,
            system=f"{NAME}/judge",
            template=f"{NAME}/review",
            shape=Shape(Review, named("Review", {"review": TEXT})),
            notes=self._channels.read(JUDGE, JUDGE_NOTES),
            summaries=self._told(),
            totals=totals,
        )

    def _told(self) -> dict[str, str]:
        return {stage: said for stage, said in self._summaries.items() if said}

    @property
    def _scored(self) -> int:
        return sum(speech.sheet is not None for speech in self._speeches)

    def _verdict(self, totals: Totals) -> Verdict:
        scored = self._scored
        return Verdict(
            winner=totals.winner if scored else None,
            problem="" if scored else "no speech was scored",
            valid=scored,
            invalid=len(self._speeches) - scored,
            rubric=NAME,
            blind=False,
        )


def _sheet_shape() -> Shape[Sheet]:
    schema = named(
        "Sheet",
        {
            "scores": record(dict.fromkeys(WEIGHTS, whole(LOWEST, HIGHEST))),
            "violations": several(choice(*KINDS), 0, 2),
            "note": TEXT,
        },
    )

    def check(given: Sheet) -> tuple[Fault, ...]:
        faults = [
            Fault(kind="wrong_score", what=f"scores.{name} is no whole number from 1 to 10")
            for name in WEIGHTS
            if not LOWEST <= given.scores.get(name, 0) <= HIGHEST
        ]
        faults += [
            Fault(kind="wrong_violation", what=f"there is no violation “{kind[:40]}”")
            for kind in given.violations
            if kind not in KINDS
        ]
        return tuple(faults)

    return Shape(Sheet, schema, check)


def _scores(speech: Scored) -> Iterator[Score]:
    if speech.sheet is None or speech.score is None:
        return
    for name in WEIGHTS:
        value = float(speech.sheet[name])
        yield Score(subject=speech.step, side=speech.side, criterion=name, value=value)
    yield Score(subject=speech.step, side=speech.side, criterion="speech", value=speech.score)


def _totals(totals: Totals) -> Iterator[Score]:
    for seat, total in totals.seats.items():
        yield Score(subject=seat, side=seat[0], criterion="individual", value=total)
    for side, total in totals.teams.items():
        yield Score(subject="total", side=side, criterion="team", value=total)
        yield Score(subject="total", side=side, criterion="mean", value=totals.means[side])


def _captains(choices: list[str]) -> Report:
    return Report(title="Captains' choices", text="\n".join(choices) or "None.", side="judge")
