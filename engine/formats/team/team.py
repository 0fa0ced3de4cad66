"""`team`: four against four in four stages, with captains, a clock and a judge beside them."""

from __future__ import annotations

from collections.abc import Mapping

from engine.debate import Request, TurnOrder, Value
from engine.floor.beside import Beside
from engine.floor.floor import Floor
from engine.formats.format import Format, Names, Roles
from engine.formats.team.bench import Bench, TeamLimits
from engine.formats.team.judge import Judge
from engine.formats.team.manual import NAME, SEATS, Manual, read_personalities

EXCHANGES = ("A2", "B2", "A3", "B3")  # who asks, in order
FREE_SPEECHES = 18  # of both teams, as many as the default clock usually allows


class TeamOptions(Value):
    """Who speaks how, as `seat=personality`; and whether one model plays every seat."""

    personalities: Names = ()
    one_model: bool = False


class Team(Format):
    """Opening, cross-examination, free debate, closing; scored beside, shown after the vote."""

    name = NAME
    version = 1
    options = TeamOptions
    turn_order = TurnOrder.SEQUENTIAL
    clocked = True

    def roles(self, options: Mapping[str, object]) -> Roles:
        """Return both teams, their seats, and one judge. Raises UsageError for a strange seat."""
        given = TeamOptions.model_validate(options)
        read_personalities(given.personalities)
        return Roles(self.contenders, seats=SEATS, judges=1, one_model=given.one_model)

    def rounds(self, request: Request) -> tuple[str, ...]:
        """Return the four stages."""
        return ("opening", "cross-examination", "free debate", "closing")

    def turns(self, request: Request) -> int:
        """Return how many speeches there usually are: how many free ones, the clock decides."""
        return 2 + 2 * len(EXCHANGES) + 2 + FREE_SPEECHES + 2

    def waves(self, request: Request) -> int:
        """Return how many calls wait for one another: speeches, captains, the last score.

        The final review is asked beside the panel.
        """
        return self.turns(request) + len(EXCHANGES) + FREE_SPEECHES + 1

    async def run(self, floor: Floor) -> None:
        """Hold the debate."""
        options = TeamOptions.model_validate(floor.request.options)
        limits = TeamLimits.model_validate(floor.limits)
        manual = floor.prompts.data(f"{NAME}/manual", Manual)
        personalities = manual.deal(read_personalities(options.personalities))
        async with Beside() as beside:
            judge = Judge(floor, beside, manual)
            bench = Bench(floor, judge, limits, manual, personalities)
            await _opening(bench, limits)
            await _cross_examination(bench, limits)
            await _free_debate(bench, limits)
            await _closing(bench, limits)
            floor.adjourn()
        await judge.conclude()


async def _opening(bench: Bench, limits: TeamLimits) -> None:
    await bench.begin("opening")
    for seat in ("A1", "B1"):
        await bench.speak(seat, "opening", "opening", limits.minutes(3))
    bench.end("opening")


async def _cross_examination(bench: Bench, limits: TeamLimits) -> None:
    await bench.begin("cross-examination")
    for number, asker in enumerate(EXCHANGES, 1):
        other = "B" if asker[0] == "A" else "A"
        await bench.speak(asker, f"cross-{number}", "ask", limits.minutes(0.5), role="cross")
        answerer = await bench.choose_answerer(other, f"cross-{number}")
        await bench.speak(answerer, f"cross-{number}", "answer", limits.minutes(1), role="cross")
    for seat in ("A1", "B1"):
        await bench.speak(seat, "summary", "summary", limits.minutes(2), role="cross")
    bench.end("cross-examination")


async def _free_debate(bench: Bench, limits: TeamLimits) -> None:
    """Let teams alternate until the one whose turn it is has no time left for a speech."""
    await bench.begin("free debate")
    left = dict.fromkeys("AB", limits.minutes(limits.free_minutes))
    number, side = 1, "A"
    while left[side] >= limits.least_speech:
        most = min(limits.free_speech, left[side])
        seat = await bench.choose_speaker(side, f"free-{number}", left)
        turn = await bench.speak(seat, f"free-{number}", "free", most)
        left[side] -= max(turn.words, limits.least_speech)
        number, side = number + 1, "B" if side == "A" else "A"
    await bench.report_unused(left)
    bench.end("free debate")


async def _closing(bench: Bench, limits: TeamLimits) -> None:
    await bench.begin("closing")
    for seat in ("B4", "A4"):
        await bench.speak(seat, "closing", "closing", limits.minutes(3), role="closing")
    bench.end("closing")
