"""Which readings a panel asks for next, given the ballots it has; pure and resumable.

A panel of every juror (`all`) or of a single one (`one`) is asked for all its readings at once,
each juror in both orders. Otherwise:

Three jurors at once (more while the model of jurors learns), then one at a time until no further
one is worth its call, six are asked or the roster is used up. The plan depends only on the frozen
setup and the ballots, so an interrupted panel asks exactly for the missing readings.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.debate import Model, PanelMode, PanelSetup
from engine.judging import Ballot
from engine.jury.aggregate import MOST_JURORS, aggregate
from engine.jury.ballot import Reading

FIRST_WAVE = 3
MATRIX = (PanelMode.ALL, PanelMode.ONE)
CLEAR = 1.4  # |z| from which no further juror is asked
WORTHWHILE = 0.008  # by how much a further call has to raise the chance of a right verdict


def next_readings(
    setup: PanelSetup, contenders: tuple[str, ...], ballots: Sequence[Ballot]
) -> tuple[Reading, ...]:
    """Return the readings to request now, concurrently; none if the panel is complete.

    `ballots` are those so far, valid or not, in any sequence. Audits come last, once the
    readings that decide are complete.
    """
    if setup.mode in MATRIX:
        return _missing(tuple(_matrix(setup, contenders)), ballots)
    deciding = [ballot for ballot in ballots if not ballot.audit]
    asked = _count_asked(setup, deciding)
    if missing := _missing(_due(setup, contenders, asked), deciding):
        return missing
    if asked < min(MOST_JURORS, len(setup.roster)) and not _is_clear(setup, contenders, deciding):
        return _ask(setup, contenders, asked, deciding)
    return _missing(_audits(setup, deciding), ballots) if setup.audit else ()


class Attendance(NamedTuple):
    """How many jurors read at least and at most, of how many, and how often each reads."""

    fewest: int
    most: int
    seated: int
    readings: int


def attendance(setup: PanelSetup) -> Attendance:
    """Return how many jurors will read, without the few debates that are audited."""
    seated = len(setup.readers)
    readings = 1 if setup.mode is PanelMode.ADAPTIVE else 2
    if setup.mode in MATRIX:
        return Attendance(seated, seated, seated, readings)
    return Attendance(min(_wave(setup), seated), min(MOST_JURORS, seated), seated, readings)


def rotations(setup: PanelSetup, contenders: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the orders in which contenders may be shown, the debate's first one first.

    Juror i of a debate with more than two contenders starts at contender i.
    """
    turned = tuple(contenders[at:] + contenders[:at] for at in range(len(contenders)))
    if len(contenders) == 2 and setup.first_order == "BA":
        return turned[::-1]
    return turned


def _count_asked(setup: PanelSetup, deciding: Sequence[Ballot]) -> int:
    """Return how many jurors, from the top of the roster, belong to readings already planned."""
    seen = {ballot.juror for ballot in deciding}
    last = max((at for at, juror in enumerate(setup.roster, 1) if juror.ref in seen), default=0)
    return max(last, min(_wave(setup), len(setup.roster)))


def _wave(setup: PanelSetup) -> int:
    return setup.wave or FIRST_WAVE


def _due(setup: PanelSetup, contenders: tuple[str, ...], asked: int) -> tuple[Reading, ...]:
    """Return the readings due in any case: the first wave, and in strict mode second orders."""
    orders = rotations(setup, contenders)
    if setup.mode is PanelMode.STRICT:
        jurors = setup.roster[:asked]
        return tuple(pair for juror in jurors for pair in _both_orders(juror, orders[0]))
    return tuple(
        Reading(juror, orders[at % len(orders)])
        for at, juror in enumerate(setup.roster[: _wave(setup)])
    )


def _matrix(setup: PanelSetup, contenders: tuple[str, ...]) -> Iterator[Reading]:
    """Yield every juror in both orders; a recused one decides nothing."""
    orders = rotations(setup, contenders)
    for at, juror in enumerate(setup.readers):
        recused = juror in setup.recused
        for reading in _both_orders(juror, orders[at % len(orders)]):
            yield reading._replace(audit=recused, recused=recused)


def _both_orders(juror: Model, order: tuple[str, ...]) -> tuple[Reading, Reading]:
    return Reading(juror, order), Reading(juror, order[::-1])


def _missing(wanted: Sequence[Reading], ballots: Sequence[Ballot]) -> tuple[Reading, ...]:
    done = {(ballot.juror, ballot.order, ballot.audit) for ballot in ballots}
    return tuple(
        reading
        for reading in wanted
        if (reading.juror.ref, reading.order, reading.audit) not in done
    )


def _is_clear(setup: PanelSetup, contenders: tuple[str, ...], deciding: Sequence[Ballot]) -> bool:
    verdict = aggregate(setup, contenders, deciding).verdict
    if verdict.gain is not None:
        return verdict.gain < WORTHWHILE
    return verdict.z is not None and abs(verdict.z) >= CLEAR


def _ask(
    setup: PanelSetup, contenders: tuple[str, ...], asked: int, deciding: Sequence[Ballot]
) -> tuple[Reading, ...]:
    """Return the next juror's reading, in the order with the fewest valid ballots.

    With all ballots valid that is plain alternation; an invalid one must not leave the panel
    lopsided. On equal counts the order follows the one that was asked last.
    """
    juror = setup.roster[asked]
    orders = rotations(setup, contenders)
    if setup.mode is PanelMode.STRICT:
        return _both_orders(juror, orders[0])
    valid = Counter(ballot.order for ballot in deciding if ballot.valid)
    turn = asked % len(orders)
    following = orders[turn:] + orders[:turn]
    return (Reading(juror, min(following, key=lambda order: valid[order])),)


def _audits(setup: PanelSetup, deciding: Sequence[Ballot]) -> tuple[Reading, ...]:
    """Return each juror's other order, to measure how much order moves it.

    With a model, only that of the juror whose lean is known least.
    """
    jurors = {juror.ref: juror for juror in setup.roster}
    readings = tuple(
        Reading(jurors[ballot.juror], ballot.order[::-1], audit=True)
        for ballot in sorted(deciding, key=lambda ballot: ballot.juror)
        if ballot.valid and ballot.juror in jurors
    )
    if setup.fit is None:
        return readings
    known = setup.fit.jurors

    def doubt(reading: Reading) -> float:
        return known[reading.juror.ref].lean_error if reading.juror.ref in known else math.inf

    return tuple(sorted(readings, key=doubt, reverse=True)[:1])
