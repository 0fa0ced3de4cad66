"""The judge of a `team` debate: scores each speech beside the next, sums up, reviews."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict

from engine.beside import Beside
from engine.channels import JUDGE, JUDGE_NOTES, PUBLIC, Channels
from engine.debate import Turn, Verdict
from engine.findings import Adjustment, Artifact, Score
from engine.floor import Floor
from engine.messages import BoardRow, Report, ScoreBoard
from engine.schema import TEXT, choice, named, record, several, whole
from engine.shapes import Answer, Fault, Shape, kept
from engine.store import Post
from engine.team_rules import (
    KINDS,
    WEIGHTS,
    Scored,
    Totals,
    count_up,
    overtime,
    reported,
    twice_running,
)

NAME = "team"
SEATS = tuple(f"{side}{number}" for side in "AB" for number in range(1, 5))
BEFORE = 3  # speeches before the one that is scored, which the judge reads with it
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

    def __init__(self, floor: Floor, beside: Beside) -> None:
        self._floor = floor
        self._beside = beside
        self._channels = Channels()
        self._last: asyncio.Task[None] | None = None
        self._speeches: list[Scored] = []
        self._penalties: list[Adjustment] = []
        self._summaries: dict[str, str] = {}
        self._choices: list[str] = []
        self._violations: dict[str, list[str]] = {}

    def score(self, turn: Turn, stage: str, duty: str) -> None:
        """Begin to score a speech; the debate goes on meanwhile."""
        before = self._channels.read(JUDGE, PUBLIC, last=BEFORE)
        self._channels.write(PUBLIC, f"{turn.seat}, {stage}", turn.text)
        previous = self._last
        self._last = self._beside.start(self._score(turn, stage, duty, before, previous))

    def sum_up(self, stage: str) -> None:
        """Begin to sum a stage up."""
        record_so_far = self._channels.read(JUDGE, PUBLIC)
        self._beside.start(self._sum_up(stage, record_so_far))

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
        posts = [] if self._floor.live else [Post(key="scoreboard", message=self._board())]
        posts += [
            Post(key="team/review", message=self._report(said)),
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
            duty=duty,
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
        self._take_note(speech)
        await self._floor.keep(
            *self._live_board(turn),
            artifacts=[kept(answer, f"judge/{turn.step}", "speech_score")],
            scores=list(_scores(speech)),
            adjustments=penalties,
        )

    def _take_note(self, speech: Scored) -> None:
        told = "not scored" if speech.score is None else f"{speech.score:.2f}"
        if speech.violations:
            told += f"; {', '.join(speech.violations)}"
        self._channels.write(JUDGE_NOTES, f"{speech.seat}, {speech.step}", told)

    def _live_board(self, turn: Turn) -> list[Post]:
        if not self._floor.live:
            return []
        if len(self._speeches) == 1:
            return [Post(key="scoreboard", message=self._board())]
        key = f"scoreboard/{turn.step}"
        return [Post(key=key, message=self._board(), target="scoreboard")]

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
            summaries=self._summaries,
            totals=totals,
        )

    # --- what the thread gets -----------------------------------------------------------

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

    def _board(self) -> ScoreBoard:
        totals = count_up(self._speeches, self._penalties, SEATS)
        rows = [
            BoardRow(
                side=seat[0],
                name=seat,
                cells=(str(self._count(seat)), f"{self._lost(seat):+g}", f"{total:.2f}"),
            )
            for seat, total in totals.seats.items()
        ]
        rows += [
            BoardRow(
                side=side,
                name=f"Team {side}",
                cells=(
                    str(sum(self._count(seat) for seat in SEATS if seat[0] == side)),
                    f"{self._lost(side):+g}",
                    f"{total:.2f}",
                ),
            )
            for side, total in totals.teams.items()
        ]
        columns = ("speeches", "penalties", "total")
        return ScoreBoard(
            title="Scoreboard", columns=columns, rows=tuple(rows), notes=tuple(self._notes(totals))
        )

    def _count(self, seat: str) -> int:
        return sum(speech.seat == seat for speech in self._speeches)

    def _lost(self, subject: str) -> float:
        return sum(p.amount for p in self._penalties if p.subject == subject)

    def _notes(self, totals: Totals) -> Iterator[str]:
        means = ", ".join(f"{side} {mean:.2f}" for side, mean in totals.means.items())
        yield f"Mean a speech: {means}."
        if totals.winner != totals.mean_winner:
            yield (
                "Sum and mean a speech disagree: a team that speaks more often gains by it in "
                "the sum alone."
            )
        unread = len(self._speeches) - self._scored
        if unread:
            yield f"{unread} speeches could not be scored."
        for speech in self._speeches:
            if speech.violations:
                yield f"{speech.seat}, {speech.step}: {', '.join(speech.violations)}."

    def _report(self, review: str) -> Report:
        totals = count_up(self._speeches, self._penalties, SEATS)
        parts = [review or "The judge gave no review that could be read."]
        if totals.best:
            parts.append(f"**Best debater:** {totals.best}, {totals.seats[totals.best]:.2f}")
        parts += [f"**{stage.capitalize()}.** {said}" for stage, said in self._summaries.items()]
        return Report(title="The judge's review", text="\n\n".join(parts), side="judge")


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
