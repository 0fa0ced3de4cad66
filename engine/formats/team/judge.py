"""The judge of a `team` debate: scores each speech beside the next, sums up, reviews."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field

from engine.formats.judges import ask_judges, tell_judges
from engine.formats.team.rules import (
    JUDGE,
    JUDGE_NOTES,
    KINDS,
    NAME,
    PUBLIC,
    SEATS,
    WEIGHTS,
    Channels,
    Manual,
    Scored,
    Scoring,
    Totals,
    count_up,
    draw_board,
    headed,
    overtime,
    reported,
    twice_running,
    write_review,
)
from engine.stage import Stage
from engine.stage.forms import WRONG, Between, ByKey, OneOf, Within, form
from engine.stage.shapes import AnswerPart, Shape, ShapedAnswer, kept
from engine.stage.steps import ConcurrentWork
from engine.store import Post
from engine.values.debate import Turn
from engine.values.language import N_
from engine.values.messages import Report
from engine.values.ports import KEPT
from engine.values.text import marked
from engine.values.verdicts import Adjustment, Artifact, Score, Verdict
from engine.words.translation import say

LOWEST, HIGHEST = 1, 10
CAPTAINS, NO_CHOICES = N_("Captains' choices"), N_("None.")
CHOSE = {
    "captain": N_("- {where}: {side} chose {seat}."),
    "precedence": N_("- {where}: {side} had to send {seat}."),
    "fallback": N_("- {where}: {side} fell back to {seat}."),
}

S = TypeVar("S", bound=BaseModel)


class _Sheet(AnswerPart, strict=True):
    """A judge's scores of a speech, and the violations that it reports."""

    note: str = ""  # first, so that the scores follow from it
    scores: Annotated[dict[str, int | float], ByKey(WEIGHTS), Within(LOWEST, HIGHEST)]
    violations: Annotated[
        list[str], Between(0, 2), OneOf(KINDS, (WRONG, "there is no violation “{value}”"))
    ] = Field(default_factory=list)


class _Summary(AnswerPart):
    """A judge's summary of a stage."""

    summary: str


class _Review(AnswerPart):
    """A judge's final review."""

    review: str


class Judge:
    """Works beside the debate: nothing of it reaches a debater, and no speech waits for it."""

    def __init__(
        self, stage: Stage, beside: ConcurrentWork, manual: Manual, scoring: Scoring
    ) -> None:
        self._stage = stage
        self._scoring = scoring
        self._manual = manual
        self._beside = beside
        self._channels = Channels()
        self._last: asyncio.Task[None] | None = None
        self._speeches: list[Scored] = []
        self._penalties: list[Adjustment] = []
        self._given: list[Score] = []
        self._summaries: dict[str, str] = {}
        self._choices: list[str] = []
        self._said: set[tuple[str, str]] = set()
        self._stages: Counter[str] = Counter()

    def score(self, turn: Turn, phase: str, duty: str) -> None:
        """Begin to score a speech; the debate goes on meanwhile."""
        self._channels.write(PUBLIC, f"{turn.seat}, {phase}", self._stage.veiled(turn.text))
        self._stages[phase] += 1
        previous = self._last
        read = {"record": self._channels.entries(JUDGE, PUBLIC)}
        self._last = self._beside.start(self._score(turn, phase, duty, read, previous))

    def sum_up(self, phase: str) -> None:
        """Begin to summarise a stage."""
        speeches = self._stages[phase]
        read = {
            "transcript": self._channels.read(JUDGE, PUBLIC, last=speeches),  # for rehearsal models
            "record": self._channels.entries(JUDGE, PUBLIC),
            "speeches": speeches,
        }
        self._summaries[phase] = ""  # in the order of the stages, not of their summaries
        self._beside.start(self._sum_up(phase, read))

    def note_choice(
        self, side: str, where: str, chosen: str, how: str, direction: str, note: str = ""
    ) -> None:
        """Remember a captain's choice for after the vote, and what the chosen seat had noted."""
        parts = [say(CHOSE[how], where=headed(where), side=marked(side), seat=chosen)]
        note = " ".join(note.split())
        if direction and self._is_new(side, direction):
            parts.append(direction)
        if note and self._is_new(chosen, note):
            parts.append(say("{seat} had noted: “{note}”", seat=chosen, note=note))
        self._choices.append(" ".join(parts))

    def _is_new(self, who: str, text: str) -> bool:
        """Return whether a text was not shown before; no one wants to read it twice."""
        known = (who, text) in self._said
        self._said.add((who, text))
        return not known

    async def conclude(self) -> None:
        """Count up, have the whole reviewed, and keep everything for after the vote."""
        twice = list(twice_running(self._stage.turns, self._scoring))
        self._penalties += twice
        totals = count_up(self._speeches, self._penalties, SEATS)
        review = await self._ask(
            "review",
            "review",
            form(_Review),
            notes=self._channels.read(JUDGE, JUDGE_NOTES),
            summaries=self._told(),
            totals=totals,
        )
        said = review.value.review if review.valid and review.value else ""
        verdict = self._verdict(totals)
        judges = tell_judges(verdict.by_judge, self._given, NAME)
        board = Post(key="scoreboard", message=draw_board(self._speeches, self._penalties))
        posts = [] if self._stage.live else [board]
        posts += [
            Post(
                key="team/review",
                message=write_review(totals, said, self._told(), judges),
            ),
            Post(
                key="team/captains",
                message=Report(
                    title=say(CAPTAINS),
                    text="\n".join(self._choices) or say(NO_CHOICES),
                    side="judge",
                ),
            ),
        ]
        body = totals.model_dump() | {"winner": totals.winner, "mean_winner": totals.mean_winner}
        await self._stage.keep(
            *posts,
            artifacts=[Artifact.of("totals", "team", body), kept(review, "review", "review")],
            scores=list(_totals(totals)) if self._scored else (),
            adjustments=twice,
            verdict=verdict,
        )

    # --- one speech ---------------------------------------------------------------------

    async def _score(
        self,
        turn: Turn,
        phase: str,
        duty: str,
        read: Mapping[str, object],
        previous: asyncio.Task[None] | None,
    ) -> None:
        answer = await self._ask(
            turn.step,
            "score",
            form(_Sheet),
            **read,
            seat=turn.seat,
            stage=phase,
            task=self._manual.tasks[duty],
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
            score=self._scoring.weigh(sheet.scores) if sheet else None,
            violations=tuple(dict.fromkeys(sheet.violations)) if sheet else (),
            opinions=tuple(
                None if given is None else self._scoring.weigh(given.scores)
                for given in answer.opinions
            ),
        )
        penalties = [
            *overtime(turn, self._scoring),
            *reported(turn, phase, speech.violations, self._scoring),
        ]
        self._speeches.append(speech)
        self._penalties += penalties
        score = "not scored" if speech.score is None else f"{speech.score:.2f}"
        told = "; ".join(filter(None, (score, *speech.violations, sheet.note if sheet else "")))
        self._channels.write(JUDGE_NOTES, f"{speech.seat}, {speech.round}", told)
        scores = list(self._scores(speech, answer)) if sheet else []
        self._given += scores[-1:]
        await self._stage.keep(
            *self._live_board(turn),
            artifacts=[kept(answer, f"judge/{turn.step}", "speech_score")],
            scores=scores,
            adjustments=penalties,
        )

    def _scores(self, speech: Scored, answer: ShapedAnswer[_Sheet]) -> Iterator[Score]:
        """Yield a speech's scores by criterion, and the whole last, with the judges' spread."""
        if answer.value is None or speech.score is None:
            return
        values = {name: float(answer.value.scores[name]) for name in WEIGHTS}
        spreads = {name: answer.spread(partial(_given, name)) for name in WEIGHTS}
        values["speech"] = speech.score
        spreads["speech"] = answer.spread(lambda sheet: self._scoring.weigh(sheet.scores))
        for name, value in values.items():
            yield Score(
                subject=speech.step,
                side=speech.side,
                criterion=name,
                value=value,
                spread=spreads[name],
            )

    def _live_board(self, turn: Turn) -> list[Post]:
        if not self._stage.live:
            return []
        board = draw_board(self._speeches, self._penalties)
        if len(self._speeches) == 1:
            return [Post(key="scoreboard", message=board)]
        return [Post(key=f"scoreboard/{turn.step}", message=board, target="scoreboard")]

    async def _sum_up(self, phase: str, read: Mapping[str, object]) -> None:
        step = f"summary/{phase.replace(' ', '-')}"
        answer = await self._ask(step, "summary", form(_Summary), **read, stage=phase)
        if answer.valid and answer.value:
            self._summaries[phase] = answer.value.summary
        await self._stage.keep(artifacts=[kept(answer, step, "summary")])

    async def _ask(
        self, step: str, template: str, shape: Shape[S], **facts: object
    ) -> ShapedAnswer[S]:
        return await ask_judges(
            self._stage,
            f"judge/{step}",
            system=f"{NAME}/judge",
            template=f"{NAME}/{template}",
            shape=shape,
            facts={"violations": self._manual.violations, "kept": KEPT, **facts},
        )

    def _told(self) -> dict[str, str]:
        return {phase: said for phase, said in self._summaries.items() if said}

    @property
    def _scored(self) -> int:
        return sum(speech.score is not None for speech in self._speeches)

    def _verdict(self, totals: Totals) -> Verdict:
        scored = self._scored
        alone = self._by_judge() if scored else ()
        return Verdict(
            winner=totals.winner if scored else None,
            problem="" if scored else "no speech was scored",
            valid=scored,
            invalid=len(self._speeches) - scored,
            rubric=NAME,
            blind=False,
            by_judge=tuple(given and given.winner for given in alone),
            totals=totals.teams if scored else {},
            totals_by_judge=tuple(given and given.teams for given in alone),
        )

    def _by_judge(self) -> tuple[Totals | None, ...]:
        """Return the count by each judge's scores alone; empty with one judge."""
        judges = len(self._stage.request.judges)
        if judges < 2:
            return ()
        alone = ([speech.by(judge) for speech in self._speeches] for judge in range(judges))
        return tuple(
            count_up(said, self._penalties, SEATS)
            if any(speech.score is not None for speech in said)
            else None
            for said in alone
        )


def _given(name: str, sheet: _Sheet) -> float:
    return sheet.scores[name]


def _totals(totals: Totals) -> Iterator[Score]:
    for seat, total in totals.seats.items():
        yield Score(subject=seat, side=seat[0], criterion="individual", value=total)
    for side, total in totals.teams.items():
        yield Score(subject="total", side=side, criterion="team", value=total)
        yield Score(subject="total", side=side, criterion="mean", value=totals.means[side])
