"""`python -m bench.votes`: are the votes that were stored those that people hold on the platform?

`rostrum run` holds debates on a platform's double, each in a process of its own. Hundreds of people
vote and change their minds, while the bot is killed, loses its session and is refused. People stop
shortly before their vote's deadline, so that what they hold then is what has to be stored, whenever
the vote closes. What the double holds in the end is the only oracle.
"""

from __future__ import annotations

import asyncio
import math
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal, NamedTuple, Optional

import typer

from bench.command import command
from bench.crowd.oracle import Course, Deed, Telling, compare
from bench.crowd.subject import Subject
from bench.crowd.visitor import VISITORS, Visitor
from bench.crowd.voters import draw_crowd
from bench.wheel.machine import print_result
from bot.app import first_error
from bot.commands.options import MOST
from engine.values.errors import RostrumError
from engine.words import cards as card_markdown
from tests.doubles.remote import Json

PLATFORMS = ("discord", "slack")
BROKEN = "What must not happen did: {names}; the figures above say how often."
MARGIN = 1.5  # seconds before a deadline in which people do nothing more
LOOK_SECONDS = 0.2
PATIENCE = 120.0  # seconds, for debates to be held and for votes to be closed
MOST_TRIES = 10  # of a command that the bot did not answer
IN_A_CHANNEL = {"discord": 5, "slack": 1}  # debates: on Slack their threads share its rate
BOUNDS = (
    "differ",
    "lost",
    "invented",
    "global_429",
    "duplicates",
    "missing_posts",
    "never_opened",
    "never_revealed",
    "crashes",
)
MOST_SHOWN = 20


class Size(NamedTuple):
    """How much of it: `minutes` is how long each vote is open."""

    debates: int = 30
    voters: int = 200
    kills: int = 10
    minutes: float = 1.25

    @property
    def people(self) -> list[str]:
        """The names of those who vote."""
        return [f"voter-{number}" for number in range(self.voters)]


@dataclass(slots=True)
class Run:
    """One run on one platform: the debates, and all that is done to them."""

    size: Size
    hall: Visitor
    subject: Subject
    seed: int
    random: Random
    _deadlines: dict[str, float] = field(default_factory=dict)
    _troubles: Counter[str] = field(default_factory=Counter)
    _seen: Json = field(default_factory=dict)
    _resting: bool = False
    # Of each ballot, when its readings began and when they were seen to have ended.
    _readings: dict[str, dict[float, float]] = field(default_factory=lambda: defaultdict(dict))

    async def hold(self) -> Json:
        """Hold all debates to their reveals, and return what came of them."""
        began = time.perf_counter()
        await self.subject.start()
        async with _doing(self._watch, self._trip, self._lose_sessions):
            await self._start_debates()
            await self._kill()
            await self._until(self._all_revealed, PATIENCE)
        outcome = await self.hall.outcome()
        await self.subject.end()
        return self._report(outcome, time.perf_counter() - began)

    # --- what happens -----------------------------------------------------------------------

    async def _start_debates(self) -> None:
        channels = -(-self.size.debates // IN_A_CHANNEL[self.hall.platform])
        made = await self.hall.open(channels, self.size.people)
        await self._connected()
        await asyncio.gather(
            *(self._start_debate(number, made[number % channels]) for number in self._debates)
        )

    async def _start_debate(self, number: int, channel: str) -> None:
        starter = self.size.people[number % self.size.voters]
        for _ in range(MOST_TRIES):
            if await self.hall.start(starter, channel, f"Motion {number} is right"):
                return
            await asyncio.sleep(1.0)

    async def _kill(self) -> None:
        """Kill it while debates are held, while people vote, and where deadlines pass."""
        kills = self.size.kills
        ending = min(kills, 2)
        early = (kills - ending) // 4
        for _ in range(early):
            await self._restart(self.random.uniform(0.5, 4.0))
        await self._until(lambda: len(self._deadlines) > self.size.debates // 2, PATIENCE)
        for left in range(kills - ending - early, 0, -1):
            # Every other one while it still catches up with what it missed before.
            slot = 2.0 if left % 2 else max(2.0, 2 * (self._deadline(0.0) - time.time() - 8) / left)
            await self._restart(self.random.uniform(0.1, slot), self.random.uniform(0.0, 2.0))
        await self._until(lambda: len(self._deadlines) >= self.size.debates, PATIENCE)
        if ending:
            await self._stay_away()
        if ending > 1:
            await self._restart(self.random.uniform(0.2, 2.0))

    async def _stay_away(self) -> None:
        """Let it be away while half of the deadlines pass."""
        await self._connected()
        await asyncio.sleep(max(0.0, self._deadline(0.25) - 4.0 - time.time()))
        await self.subject.kill()
        await asyncio.sleep(max(0.0, self._deadline(0.75) + 1.0 - time.time()))
        await self.subject.start()

    async def _restart(self, after: float, away: float = 0.0) -> None:
        await self._connected()
        await asyncio.sleep(after)
        await self.subject.kill()
        await asyncio.sleep(away)
        await self.subject.start()

    async def _lose_sessions(self) -> None:
        while True:
            await asyncio.sleep(self.random.uniform(4.0, 12.0))
            if self._seen.get("connected") and not self._resting:
                self._troubles[await self.hall.lose_session(self.random)] += 1

    async def _trip(self) -> None:
        while True:
            # The fewer debates, the more each of them would be hit.
            await asyncio.sleep(self.random.uniform(0.5, 1.5) * max(1.0, 15 / self.size.debates))
            if not self._resting:
                self._troubles[await self.hall.trip(self.random)] += 1

    # --- what is seen -----------------------------------------------------------------------

    async def _watch(self) -> None:
        """See which ballots are open, and have people vote on them; troubles end some time."""
        while True:
            self._seen = await self.hall.look(card_markdown.REVEAL)
            for message, (_, created) in self._seen["ballots"].items():
                if message not in self._deadlines:
                    await self._open(message, created)
            for message, moment in self.subject.readings().items():
                self._readings[message].setdefault(moment, time.time())
            if not self._resting and self._is_over():
                self._resting = True
                await self.hall.calm()
            await self.subject.revive()
            await asyncio.sleep(LOOK_SECONDS)

    async def _open(self, message: str, created: float) -> None:
        # The vote is open from when it was seeded on, so that its deadline is not before this.
        self._deadlines[message] = created + 60 * self.size.minutes
        random = Random(f"{self.seed} {len(self._deadlines)}")
        now = time.time()
        moves = draw_crowd(random, self.size.people, self._deadlines[message] - MARGIN - now)
        await self.hall.crowd(message, now, moves)

    async def _connected(self) -> None:
        await asyncio.sleep(2 * LOOK_SECONDS)  # what was seen last is of the process before
        await self._until(lambda: self._seen.get("connected"), PATIENCE)

    async def _until(self, reached: Callable[[], object], seconds: float) -> None:
        """Wait for what is seen, but not for ever: what never comes is in the report."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not reached():  # noqa: ASYNC110 - what is there is looked at, not told
                    await asyncio.sleep(LOOK_SECONDS / 2)

    def _is_over(self) -> bool:
        """Whether every vote has been due for a while."""
        opened = len(self._deadlines) >= self.size.debates
        return opened and time.time() > self._deadline(1.0) + 15.0

    def _all_revealed(self) -> bool:
        return len(self._seen["revealed"]) >= max(self.size.debates, len(self._deadlines))

    def _deadline(self, share: float) -> float:
        """Return the moment by which a share of the deadlines is over."""
        ordered = sorted(self._deadlines.values()) or [time.time()]
        return ordered[round(share * (len(ordered) - 1))]

    @property
    def _debates(self) -> range:
        return range(self.size.debates)

    # --- what came of it --------------------------------------------------------------------

    def _report(self, outcome: Json, seconds: float) -> Json:
        acts = {m: [_act(*each) for each in done] for m, done in outcome["acts"].items()}
        compared = self._compare(acts, outcome)
        counts = sum((found for found, _ in compared.values()), Counter[str]())
        told = Counter(act.told for done in acts.values() for act in done)
        opened = len(self._deadlines)
        places = {message: place for message, (place, _) in self._seen["ballots"].items()}
        late = [
            self._seen["revealed"][place] - self._deadlines[message]
            for message, place in places.items()
            if place in self._seen["revealed"]
        ]
        return {
            "seed": self.seed,
            "people": counts["people"],
            "acts": sum(told.values()),
            "acts_not_told": told[Telling.NEVER],
            **{name: counts[name] for name in ("standing", "none", "hold_several")},
            **{name: counts[name] for name in ("differ", "lost", "invented")},
            **{name: counts[name] for name in ("ambiguous", "needlessly_ambiguous", "unknowable")},
            "debates_wrong": sum(bool(wrong) for _, wrong in compared.values()),
            "never_opened": max(0, self.size.debates - opened),
            "never_revealed": opened - len(late),
            **count_posts(outcome["references"]),
            **_limits(outcome["violations"]),
            "kills": self.subject.kills,
            "crashes": self.subject.crashes,
            "sessions_lost": outcome["lost"],
            "troubles": dict(sorted(self._troubles.items())),
            "seconds_to_reveal": {"median": _round(late, 0.5), "most": _round(late, 1.0)},
            "seconds": round(seconds, 1),
            "wrong": [line for _, wrong in compared.values() for line in wrong][:MOST_SHOWN],
        }

    def _compare(self, acts: dict[str, list[Deed]], outcome: Json) -> dict[str, Any]:
        names = {user: name for name, user in outcome["users"].items()}
        stored, closed = self.subject.votes(), self.subject.closed()
        return {
            message: compare(
                done,
                {user: frozenset(held) for user, held in outcome["held"][message].items()},
                {names[user]: option for user, option in stored.get(message, {}).items()},
                Course(
                    [(lost, back) for lost, back in outcome["gaps"]],
                    [*self._readings[message].items()],
                    closed.get(message, math.inf),
                ),
            )
            for message, done in acts.items()
        }


async def run_votes(
    platform: Annotated[
        Literal["discord", "slack", "both"],
        typer.Option(help="Platform whose double people vote on."),
    ] = "both",
    debates: Annotated[int, typer.Option(min=1, max=200, help="Number of debates.")] = 30,
    voters: Annotated[int, typer.Option(min=1, max=2000, help="Voters per debate.")] = 200,
    kills: Annotated[int, typer.Option(min=0, max=100, help="Number of kills.")] = 10,
    minutes: Annotated[
        float, typer.Option(min=0.1, max=60, help="Minutes that each vote is open.")
    ] = 1.25,
    seed: Annotated[int, typer.Option(min=0, max=MOST, help="Seed of the first run.")] = 1,
    runs: Annotated[int, typer.Option(min=1, max=100, help="Number of runs, one seed each.")] = 3,
    keep: Annotated[Optional[Path], typer.Option(help="Keep databases and logs here.")] = None,  # noqa: UP045
) -> None:
    """Check every vote through kills, outages and refusals; fails if a bound is broken."""
    platforms = PLATFORMS if platform == "both" else (platform,)
    try:
        result = await measure(platforms, Size(debates, voters, kills, minutes), seed, runs, keep)
    except BaseExceptionGroup as group:
        raise first_error(group) from group
    print_result(result)
    if result["broken"]:
        raise RostrumError(BROKEN.format(names=", ".join(result["broken"])))


async def measure(
    platforms: Sequence[str], size: Size, seed: int, runs: int, keep: Path | None = None
) -> Json:
    """Return the figures; `keep` is where databases and logs are left."""
    found = {
        platform: [await _run(platform, size, seed + number, keep) for number in range(runs)]
        for platform in platforms
    }
    broken = sorted({name for each in _each(found) for name in BOUNDS if each[name]})
    return {
        "bench": "votes",
        "debates": size.debates,
        "voters": size.voters,
        "vote_minutes": size.minutes,
        **found,
        "broken": broken,
    }


async def _run(platform: str, size: Size, seed: int, keep: Path | None) -> Json:
    with tempfile.TemporaryDirectory(prefix="rostrum-bench-") as name:
        folder = Path(name)
        async with VISITORS[platform].spawned(folder, platform) as hall:
            subject = Subject(folder, platform, hall.api_url, size.minutes)
            try:
                return await Run(size, hall, subject, seed, Random(seed)).hold()
            finally:
                await subject.end()
                if keep is not None:
                    place = keep / f"{platform}-{seed}"
                    await asyncio.to_thread(shutil.copytree, folder, place, dirs_exist_ok=True)


@asynccontextmanager
async def _doing(*works: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Do all of these while the body runs."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work()) for work in works]
        yield
        for task in tasks:
            task.cancel()


def _each(found: dict[str, list[Json]]) -> Iterable[Json]:
    return (each for runs in found.values() for each in runs)


def _act(at: float, user: str, added: bool, option: str, told: str, told_at: float | None) -> Deed:
    return Deed(at, user, added, option, Telling(told), told_at)


def count_posts(references: Sequence[str]) -> dict[str, int]:
    """Count what is there twice, and what most debates have and one lacks."""
    by_debate: dict[str, set[str]] = {}
    for reference in references:
        code, _, place = reference.partition("·")
        by_debate.setdefault(code, set()).add(place)
    numbers = [{place.split("·")[0] for place in places} for places in by_debate.values()]
    usual = Counter(number for found in numbers for number in found)
    expected = {number for number, count in usual.items() if count > len(by_debate) / 2}
    missing = sum(len(expected - found) for found in numbers) + sum(
        map(_lacking, by_debate.values())
    )
    return {"duplicates": len(references) - len(set(references)), "missing_posts": missing}


def _lacking(places: set[str]) -> int:
    """Count the pieces that posts of several pieces lack."""
    pieces: dict[tuple[str, str], int] = Counter()
    for place in places:
        number, _, piece = place.partition("·")
        pieces[number, piece.split("/")[1]] += 1
    return sum(int(total) - count for (_, total), count in pieces.items())


def _limits(violations: Sequence[tuple[float, str, str]]) -> Json:
    everywhere = [why for _, bucket, why in violations if bucket == "everywhere"]
    routes = Counter(bucket.split(":")[0] for _, bucket, _ in violations)
    del routes["everywhere"]
    return {
        "global_429": sum(why.startswith("more") for why in everywhere),
        "sent_early": sum(not why.startswith("more") for why in everywhere),
        "route_429": dict(sorted(routes.items())),
    }


def _round(values: Sequence[float], share: float) -> float | None:
    ordered = sorted(values)
    return round(ordered[round(share * (len(ordered) - 1))], 1) if ordered else None


if __name__ == "__main__":
    command(run_votes)
