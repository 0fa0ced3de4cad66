"""The faults of a model's backend, and the debates that meet them at every step.

Each fault has a debate in which it comes once at every step, and is survived; and one in which
it lasts at every step in turn: the debate fails there, a new process goes on, and meets it at the
next step (what takes time is shared by three debates). A juror's lasting fault is an invalid
ballot instead, and another juror is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from adapters.models.attempts import LIMITED_TRIES, RetryPolicy
from tests.doubles import model_server as acts
from tests.doubles.model_server import Absence, Act
from tests.scenario.fault_stage import TIMEOUT_S, TURNS, UNREADABLE, FaultStage, Held, House, Step

SCALE = 1 / 40  # of the waits, and of the time that a server is away
CURT = RetryPolicy(tries=2, first_wait=0.01)
USUAL = RetryPolicy()
PATIENT = RetryPolicy(
    tries=USUAL.tries,
    first_wait=USUAL.first_wait * SCALE,
    longest_wait=USUAL.longest_wait * SCALE,
)
AWAY_S = 20 * SCALE
LATER = "try again later or choose another model"
CAP = "raise the token cap of the role: ROSTRUM_SAMPLING__DEBATER__MAX_TOKENS"
REACH = "check that it runs and that its BASE_URL in ROSTRUM_BACKENDS is right"


class Fault(NamedTuple):
    """How a backend fails: `tries` until it is given up, and what one such try costs."""

    act: Act
    what: str
    advice: str = LATER
    tries: int = 2
    cost: Literal["nothing", "something", "unknown"] = "nothing"

    @property
    def leaves(self) -> Absence | None:
        """How the backend is away, when it cannot be reached at all."""
        return self.act.leaves


AWAY: dict[str, Fault] = {
    "connect refused": Fault(Act(leaves="refusing"), "could not be reached at http://", REACH),
    "connect time-out": Fault(Act(leaves="deaf"), "could not be reached at http://", REACH),
}
FINAL = {
    "401": Fault(acts.status(401), "refused the key (401)", "check its key", 1),
    "402": Fault(acts.status(402), "has no credit left (402)", "add credit to the account", 1),
    "404": Fault(acts.status(404), "does not know the model (404)", "check ROSTRUM_MODELS", 1),
    "429, Retry-After 130 s": Fault(
        acts.status(429, retry_after=130), "asks to wait 130 s, more than 120 s", tries=1
    ),
    "content filter": Fault(
        acts.empty("content_filter"),
        "declined to answer (content filter)",
        "reword the topic or choose another model",
        tries=1,
        cost="something",
    ),
}
PASSING = {
    "429": Fault(acts.status(429), "allows no more calls for now (429)", tries=2 + LIMITED_TRIES),
    "500": Fault(acts.status(500), "failed (500)"),
    "503": Fault(acts.status(503), "is overloaded (503)"),
    "reset before the answer": Fault(acts.reset("before"), "broke the connection", cost="unknown"),
    "reset in mid-answer": Fault(acts.reset(), "broke the connection", cost="unknown"),
    "200 with an error body": Fault(
        acts.error_body(), "answered with an error: upstream failed", cost="unknown"
    ),
    "empty": Fault(acts.empty(), "answered without any text", cost="something"),
    "length without text": Fault(
        acts.empty("length"), "used up the token cap", CAP, cost="something"
    ),
    "garbage JSON": Fault(acts.garbage(), "something that is not JSON", cost="unknown"),
    "wrong content type": Fault(acts.page(), "something that is not JSON", cost="unknown"),
}
SLOW = {
    "429, Retry-After 0.1 s": Fault(
        acts.status(429, retry_after=0.1), "for now (429)", tries=2 + LIMITED_TRIES
    ),
    "read time-out": Fault(
        acts.hang(),
        f"did not answer within {TIMEOUT_S:g} s",
        "raise the backend's TIMEOUT_S",
        cost="unknown",
    ),
}
ODD = {
    "clean": Act(),
    "another model": Act(model="other-2"),
    "missing usage": Act(usage=False),
    "JSON called text": Act(content_type="text/plain"),
}
ASKED_AGAIN = {
    f"{name}, {when}": replace(fault.act, text=UNREADABLE, away=away)
    for name, fault in AWAY.items()
    for when, away in (("for a while", AWAY_S), ("for good", 0.0))
}
LASTING = {**FINAL, **PASSING, **SLOW, **AWAY}
ONCE = {**PASSING, **SLOW}


class Matrix(NamedTuple):
    """What every debate came to: with a fault once at each step, and with one that lasts.

    The debates that share a lasting fault take every so-manieth turn each.
    """

    once: dict[str, Held]
    lasting: dict[str, tuple[Held, ...]]


def house_of(place: int, name: str) -> House:
    """Return a house for a case; its backend is named by a number."""
    return House(f"b{place}", jurors=1 if name in ASKED_AGAIN else 6)


# --- once at every step ------------------------------------------------------------------


def prepare_once(name: str, house: House) -> None:
    """Disturb every turn once."""
    if name in ODD:
        house.server.always(ODD[name])
    elif name == "an answer of 1 MB":
        for said in range(8):
            for model in ("ana", "ben"):
                # Too long, and so asked for anew; the last of those, whose delivery nothing
                # waits for, is as long.
                wordy = said % 2 == 0 or (model, said) == ("ben", 7)
                house.disturb(Step("", model, said), acts.big() if wordy else Act())
    elif name in AWAY:
        for step in TURNS:
            house.disturb(step, Act(leaves=AWAY[name].leaves, away=AWAY_S))
    elif name in ONCE:
        for step in TURNS:
            house.disturb(step, ONCE[name].act)


def prepare_jurors(name: str, house: House) -> None:
    """Let the first juror write what cannot be read, and disturb every juror once."""
    first, again = house.juror(0)[0], house.juror(0, again=True)[0]
    unreadable = acts.says(UNREADABLE)
    if name in ODD:
        unreadable = replace(ODD[name], text=UNREADABLE)
    elif name == "an answer of 1 MB":
        for step in (*_panel(house), *house.juror(0, again=True), house.summary):
            house.disturb(step, acts.big())
        return
    elif name in ASKED_AGAIN:
        unreadable = ASKED_AGAIN[name]
        # The connection of an answered summary or other order would be a way round the absence.
        for step in (house.summary, house.juror(0)[1]):
            house.disturb(step, Act(closes=True))
    elif name in ONCE:
        for step in (*_panel(house), again, house.summary):
            house.disturb(step, ONCE[name].act)
    house.disturb(first, unreadable)


def _panel(house: House) -> list[Step]:
    """Return the steps of a panel's first wave."""
    return [step for place in range(3) for step in house.juror(place)]


async def hold_once(path: Path, names: Sequence[str], patience: RetryPolicy) -> dict[str, Held]:
    """Hold a debate for each case, all at once."""
    houses = {name: house_of(place, name) for place, name in enumerate(names)}
    stage = FaultStage(path, tuple(houses.values()), patience)
    async with stage.open(), stage.process() as line:
        for name, house in houses.items():
            prepare_once(name, house)
            if name in AWAY:
                await house.server.leave(AWAY[name].leaves or "refusing", AWAY_S)
            await house.start(line)
            prepare_jurors(name, house)
        for house in houses.values():
            await house.rest(line)
        held = await stage.outcomes(line)
    return {name: held[house.name] for name, house in houses.items()}


# --- for good, at every step in turn -----------------------------------------------------


async def prepare_lasting(fault: Fault, house: House, place: int) -> None:
    """Let the fault last at one step; then the debate is to fail there."""
    if not fault.leaves:
        return house.disturb(TURNS[place], *[fault.act] * fault.tries)
    await house.server.back()
    if place == 0:
        return await house.server.leave(fault.leaves)
    return house.disturb(TURNS[place - 1], fault.act)


async def prepare_panel(fault: Fault, house: House) -> None:
    """Let the fault last for the first two jurors, and for the third when asked again."""
    if fault.leaves:
        await house.server.back()
        return house.disturb(TURNS[-1], fault.act)
    for step in house.juror(2):
        house.disturb(step, acts.says(UNREADABLE))
    for step in (*house.juror(0), *house.juror(1), *house.juror(2, again=True)):
        house.disturb(step, *[fault.act] * fault.tries)
    return None


async def hold_lasting(
    path: Path, names: Sequence[str], shares: int = 1
) -> dict[str, tuple[Held, ...]]:
    """Hold so many debates for each fault: at each turn one fails, in a process of that wave."""
    cases = [(name, share) for name in names for share in range(shares)]
    houses = {case: house_of(place, case[0]) for place, case in enumerate(cases)}
    stage = FaultStage(path, tuple(houses.values()), CURT)
    async with stage.open():
        for first in range(0, len(TURNS), shares):
            async with stage.process() as line:
                for (name, share), house in houses.items():
                    await prepare_lasting(LASTING[name], house, first + share)
                    await house.proceed(line)
                for house in houses.values():
                    house.failures.append(await house.rest(line))
        async with stage.process() as line:
            for (name, _), house in houses.items():
                await prepare_panel(LASTING[name], house)
                await house.proceed(line)
            for house in houses.values():
                await house.rest(line)
            held = await stage.outcomes(line)
    return {
        name: tuple(held[houses[name, share].name] for share in range(shares)) for name in names
    }


async def hold_all(paths: Sequence[Path]) -> Matrix:
    """Hold every debate; those that mostly wait do so side by side, and apart from the rest."""
    quick = await hold_once(paths[0], [*ODD, *PASSING, "an answer of 1 MB"], CURT)
    failed = await hold_lasting(paths[1], [*FINAL, *PASSING, "connect refused"])
    waited, waited_for = await asyncio.gather(
        hold_once(paths[2], [*SLOW, *AWAY, *ASKED_AGAIN], PATIENT),
        hold_lasting(paths[3], [*SLOW, "connect time-out"], shares=3),
    )
    return Matrix(quick | waited, failed | waited_for)
