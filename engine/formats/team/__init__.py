"""`team`: four against four in four stages, with captains, a clock and a judge beside them."""

from __future__ import annotations

from collections.abc import Mapping

from engine.formats.format import Format, Names, Roles, Sized
from engine.formats.team.bench import Bench
from engine.formats.team.judge import Judge
from engine.formats.team.rules import (
    CLOSERS,
    NAME,
    SEATS,
    Manual,
    Scoring,
    read_personalities,
)
from engine.stage import Stage
from engine.stage.steps import ConcurrentWork
from engine.values.debate import OTHER, Length, Request, TurnOrder, Value
from engine.values.language import N_
from engine.values.limits import TeamLimits

EXCHANGES = ("A2", "B2", "A3", "B3")  # the seats that ask, in order
# Of both teams, as many as the default clock usually allows; the short one allows exactly these.
FREE_SPEECHES = {Length.SHORT: 4, Length.NORMAL: 18, Length.LONG: 26}


class _TeamOptions(Value):
    """Who speaks how, as `seat=personality`; and whether one model plays every seat.

    `notes` lets seats write to their team before its captain decides, which they do unless the
    debate is short; with `concurrent` both teams speak at the same time in the free debate, so that
    neither hears the other's newest speech.
    """

    personalities: Names = ()
    one_model: bool = False
    notes: bool | None = None
    concurrent: bool = False

    def writes(self, request: Request) -> bool:
        """Return whether seats write notes."""
        return request.length is not Length.SHORT if self.notes is None else self.notes


class Team(Format):
    """Opening, cross-examination, free debate, closing; scored beside, shown after the vote."""

    name = NAME
    about = N_("two teams of four against the clock; a judge marks every speech")
    version = 1
    options = _TeamOptions
    turn_order = TurnOrder.SEQUENTIAL
    clocked = True
    limits = TeamLimits
    short = Sized(
        {
            "opening_minutes": 0.5,
            "question_minutes": 0.3,
            "answer_minutes": 0.5,
            "summary_minutes": 0,
            "closing_minutes": 0.5,
            "exchanges": 2,
            "free_minutes": 1,
            "free_speech_minutes": 0.5,
            "free_speeches": 2,
        }
    )
    long = Sized({"free_minutes": 6, "free_speech_minutes": 0.7})

    def roles(self, options: Mapping[str, object]) -> Roles:
        """Return both teams, their seats, and one judge. Raises UsageError for a strange seat."""
        given = _TeamOptions.model_validate(options)
        read_personalities(given.personalities)
        return Roles(self.contenders, seats=SEATS, judges=1, one_model=given.one_model)

    def rounds(self, request: Request) -> tuple[str, ...]:
        """Return the four stages."""
        return ("opening", "cross-examination", N_("free debate"), "closing")

    def round_of(self, name: str) -> str:
        """Return the stage of a speech; each exchange and each free speech has its own name."""
        kind = name.split("-")[0]
        return {
            "cross": "cross-examination",
            "summary": "cross-examination",
            "free": N_("free debate"),
        }.get(kind, name)

    def turns(self, request: Request) -> int:
        """Return how many speeches there usually are: how many free ones, the clock decides."""
        summaries = 0 if request.length is Length.SHORT else 2
        free = FREE_SPEECHES[request.length]
        return 2 + 2 * _exchanges(request) + summaries + free + 2

    def waves(self, request: Request) -> int:
        """Return how many calls wait for one another: speeches, notes, captains, the last score.

        The final review is asked beside the panel.
        """
        options = _TeamOptions.model_validate(request.options)
        free = FREE_SPEECHES[request.length]
        waves = free // 2 if options.concurrent else free
        choices = (2 if options.writes(request) else 1) * (_exchanges(request) + waves)
        return self.turns(request) - free + waves + choices + 1

    async def run(self, stage: Stage) -> None:
        """Hold the debate."""
        options = _TeamOptions.model_validate(stage.request.options)
        limits = TeamLimits.model_validate(stage.limits)
        manual = stage.prompts.data(f"{NAME}/manual", Manual)
        personalities = manual.deal(read_personalities(options.personalities))
        notes = options.writes(stage.request)
        async with ConcurrentWork() as beside:
            judge = Judge(stage, beside, manual, Scoring.of(stage.limits))
            bench = Bench(stage, judge, limits, manual, personalities, notes=notes)
            await bench.begin("opening")
            for seat in ("A1", "B1"):
                await bench.speak(
                    seat, "opening", "opening", limits.minutes(limits.opening_minutes)
                )
            bench.end("opening")
            await _cross_examination(bench, limits)
            await bench.begin(N_("free debate"))
            clock = bench.start_clock()
            number, side = 1, "A"
            if options.concurrent:
                while clock.runs("A") and clock.runs("B"):
                    await bench.speak_together(number, clock)
                    number += 2
            else:
                while clock.runs(side):
                    await bench.speak_next(side, number, clock)
                    number, side = number + 1, OTHER[side]
            await bench.report_unused(clock.left)
            bench.end(N_("free debate"))
            await bench.begin("closing")
            for closer in CLOSERS:
                words = limits.minutes(limits.closing_minutes)
                await bench.speak(closer, "closing", "closing", words, role="closing")
            bench.end("closing")
            stage.adjourn()
        await judge.conclude()


def _exchanges(request: Request) -> int:
    """Return how many exchanges the cross-examination has, as the default limits have it."""
    return 2 if request.length is Length.SHORT else len(EXCHANGES)


async def _cross_examination(bench: Bench, limits: TeamLimits) -> None:
    await bench.begin("cross-examination")
    question, answer = (limits.minutes(m) for m in (limits.question_minutes, limits.answer_minutes))
    for number, asker in enumerate(EXCHANGES[: limits.exchanges], 1):
        await bench.speak(asker, f"cross-{number}", "ask", question, role="cross")
        answerer = await bench.choose_answerer(OTHER[asker[0]], f"cross-{number}")
        await bench.speak(answerer, f"cross-{number}", "answer", answer, role="cross")
    for seat in ("A1", "B1") if limits.summary_minutes else ():
        words = limits.minutes(limits.summary_minutes)
        await bench.speak(seat, "summary", "summary", words, role="cross")
    bench.end("cross-examination")
