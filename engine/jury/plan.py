"""Which readings a panel asks for next, given the ballots it has; pure and resumable.

A panel of every juror (`all`) or of a single one (`one`) is asked for all its readings at once,
each juror in both orders. Otherwise:

Until jurors are proven to see more than order or chance, three are asked in both orders, and one
more for each who gave an invalid ballot; then six readings while the model of jurors learns. Once
it knows them, two, then one reading at a time until no further one is worth its call, eight at
most: a further juror's, or the other order of one. By the balanced rule three jurors, then one at a
time up to six. The plan depends only on the frozen setup and the ballots, so an interrupted panel
asks exactly for the missing readings.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.jury.aggregate import aggregate
from engine.jury.ballot import MOST_JURORS, MOST_READINGS, JurorReading
from engine.values.debate import Model, PanelMode, PanelSetup
from engine.values.verdicts import Ballot

FIRST_WAVE = 3
FIRST_PAIR = 2  # where the model of jurors decides
USUAL = 4  # readings of a panel that asks as many as it takes; jurors where each reads twice
MATRIX = (PanelMode.ALL, PanelMode.ONE)
CLEAR = 1.4  # |z| from which no further juror is asked
WORTHWHILE = 0.002  # by how much a further call has to raise the chance of a right verdict


def next_readings(
    setup: PanelSetup, contenders: tuple[str, ...], ballots: Sequence[Ballot]
) -> tuple[JurorReading, ...]:
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
    if not (setup.mode is PanelMode.ADAPTIVE and (setup.stake is not None or setup.wave > 0)) and (
        more := _ask(setup, contenders, asked, deciding)
    ):
        return more
    return _missing(_audits(setup, deciding), ballots) if setup.audit else ()


class _Attendance(NamedTuple):
    """How many jurors read at least and at most, of how many; how often each at most.

    `calls` are readings in all, usually and at most, with audits; `waves` are those usual ones, in
    pairs, that follow the first without audits.
    """

    fewest: int
    most: int
    seated: int
    readings: int
    calls: tuple[int, int]
    waves: float


def attendance(setup: PanelSetup) -> _Attendance:
    """Return how many jurors will read; jurors, too, without the few debates that are audited."""
    seated, readings = len(setup.readers), 2
    first = min(_wave(setup), seated)
    if setup.mode in MATRIX:
        first = at_most = seated
        fewest = usual = most = 2 * seated
    elif setup.mode is PanelMode.STRICT or setup.stake is not None:
        at_most = min(MOST_JURORS, seated)
        often = max(first, min(USUAL, at_most)) if setup.mode is PanelMode.STRICT else first
        fewest, usual, most = 2 * first, 2 * often, 2 * at_most
    else:
        again = 1 if setup.fit is None else 2
        most = setup.wave or (MOST_READINGS if setup.ready_fit else MOST_JURORS)
        fewest, most = min(_wave(setup), again * seated), min(most, again * seated)
        usual = max(fewest, min(USUAL, most))
        at_most, readings = min(most, seated), again if most > seated else 1
    waves = (usual - fewest) / 2
    if setup.audit:  # with a model of jurors only one reads the other order too
        usual += 1 if setup.fit else usual
        most += 1 if setup.fit else most
    return _Attendance(first, at_most, seated, readings, (usual, most), waves)


def rotations(setup: PanelSetup, contenders: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the orders in which contenders may be shown, the debate's first one first.

    Juror i of a debate with more than two contenders starts at contender i.
    """
    turned = tuple(contenders[at:] + contenders[:at] for at in range(len(contenders)))
    if len(contenders) == 2 and setup.first_order == "BA":
        return turned[::-1]
    return turned


def _count_asked(setup: PanelSetup, deciding: Sequence[Ballot]) -> int:
    """Return how many jurors, from the top of the roster, belong to readings already planned.

    Before jurors are proven to see, one more for each who gave an invalid ballot, so that six
    readings can agree.
    """
    wave, seen = _wave(setup), {ballot.juror for ballot in deciding}
    if setup.stake is not None:
        spoilt = {ballot.juror for ballot in deciding if not ballot.valid}
        wave = min(wave + len(spoilt), MOST_JURORS)
    last = max((at for at, juror in enumerate(setup.roster, 1) if juror.ref in seen), default=0)
    return max(last, min(wave, len(setup.roster)))


def _wave(setup: PanelSetup) -> int:
    return setup.wave or (FIRST_PAIR if setup.ready_fit else FIRST_WAVE)


def _due(setup: PanelSetup, contenders: tuple[str, ...], asked: int) -> tuple[JurorReading, ...]:
    """Return the readings due in any case: the first wave, and where they are due second orders.

    They are in strict mode, before jurors are proven to see, and where too few jurors may read.
    """
    orders = rotations(setup, contenders)
    wave = _wave(setup) if setup.stake is None else asked
    if setup.mode is PanelMode.STRICT:
        jurors = setup.roster[:asked]
        return tuple(pair for juror in jurors for pair in _both_orders(juror, orders[0]))
    once = tuple(
        JurorReading(juror, orders[at % len(orders)])
        for at, juror in enumerate(setup.roster[:wave])
    )
    again = tuple(reading._replace(order=reading.order[::-1]) for reading in once)
    if setup.stake is not None:
        return once + again
    return once + again[: wave - len(once)] if setup.fit is not None else once


def _matrix(setup: PanelSetup, contenders: tuple[str, ...]) -> Iterator[JurorReading]:
    """Yield every juror in both orders; a recused one decides nothing."""
    orders = rotations(setup, contenders)
    for at, juror in enumerate(setup.readers):
        recused = juror in setup.recused
        for reading in _both_orders(juror, orders[at % len(orders)]):
            yield reading._replace(audit=recused, recused=recused)


def _both_orders(juror: Model, order: tuple[str, ...]) -> tuple[JurorReading, JurorReading]:
    return JurorReading(juror, order), JurorReading(juror, order[::-1])


def _missing(wanted: Sequence[JurorReading], ballots: Sequence[Ballot]) -> tuple[JurorReading, ...]:
    done = {(ballot.juror, ballot.order, ballot.audit) for ballot in ballots}
    return tuple(
        reading
        for reading in wanted
        if (reading.juror.ref, reading.order, reading.audit) not in done
    )


def _ask(
    setup: PanelSetup, contenders: tuple[str, ...], asked: int, deciding: Sequence[Ballot]
) -> tuple[JurorReading, ...]:
    """Return the next reading, if one is worth its call: in strict mode those in both orders."""
    verdict, _ = aggregate(setup, contenders, deciding)
    orders = rotations(setup, contenders)
    if fit := setup.ready_fit:
        from engine.jury.model import next_readings  # it decides

        following, _ = next_readings(fit, setup, deciding)
        if not following or (verdict.gain is not None and verdict.gain < WORTHWHILE):
            return ()
        juror = next(one for one in setup.roster if one.ref == following[0])
        read = [ballot.order for ballot in deciding if ballot.juror == juror.ref]
        return (JurorReading(juror, read[0][::-1] if read else _balance(orders, deciding)),)
    if asked >= min(MOST_JURORS, len(setup.roster)):
        return ()
    if verdict.z is not None and abs(verdict.z) >= CLEAR:
        return ()
    juror = setup.roster[asked]
    if setup.mode is PanelMode.STRICT:
        return _both_orders(juror, orders[0])
    return (JurorReading(juror, _balance(orders, deciding)),)


def _balance(orders: tuple[tuple[str, ...], ...], deciding: Sequence[Ballot]) -> tuple[str, ...]:
    """Return the order with the fewest valid ballots; of several, the one after the last asked.

    With all ballots valid that is plain alternation; an invalid one must not leave the panel
    lopsided.
    """
    valid = Counter(ballot.order for ballot in deciding if ballot.valid)
    turn = len(deciding) % len(orders)
    return min(orders[turn:] + orders[:turn], key=lambda order: valid[order])


def _audits(setup: PanelSetup, deciding: Sequence[Ballot]) -> tuple[JurorReading, ...]:
    """Return each juror's other order, to measure how much order moves it.

    With a model, only that of the juror whose lean is known least.
    """
    jurors = {juror.ref: juror for juror in setup.roster}
    read = {(ballot.juror, ballot.order) for ballot in deciding}
    readings = tuple(
        JurorReading(jurors[ballot.juror], ballot.order[::-1], audit=True)
        for ballot in sorted(deciding, key=lambda ballot: ballot.juror)
        if ballot.valid
        and ballot.juror in jurors
        and (ballot.juror, ballot.order[::-1]) not in read
    )
    if setup.fit is None:
        return readings
    known = setup.fit.jurors

    def doubt(reading: JurorReading) -> float:
        return known[reading.juror.ref].lean_error if reading.juror.ref in known else math.inf

    return tuple(sorted(readings, key=doubt, reverse=True)[:1])
