"""Several juries of the same debates, side by side, and the one that everything rests on."""

import pytest

from engine.stats.agreement import measure_agreement
from engine.stats.alternative import compare_judges
from engine.stats.comparisons import measure_juries, of_jury, tell_juries
from engine.stats.row import Row, _JuryReading
from engine.values.errors import UsageError
from tests.kit import juror_ballot, make_row, some

SECOND = "near/j1,far/k:all"
THIRD = "far/m:strict"


def rows() -> list[Row]:
    """Forty debates that people and the first jury give to A; the second jury errs in ten."""
    made = []
    for n in range(40):
        second = "B" if n < 10 else "A"
        ballots = (juror_ballot("near/j1", "A"), juror_ballot("far/k", second))
        later = {SECOND: _JuryReading(second, 0.2 if n < 10 else 0.8, ballots, {})}
        if n < 35:
            later[THIRD] = _JuryReading("A", 0.9, (juror_ballot("far/m", "A"),), {})
        made.append(make_row(n, later=later, choices={"chat": ((1, "A"), (2, "A"))}))
    return made


def test_every_jury_stands_beside_people_and_beside_the_others() -> None:
    found = some(measure_juries(rows()))
    told = {one.name: (one.debates, one.agreement.value) for one in found.juries}
    assert told == {"first": (40, 1.0), SECOND: (40, 0.75), THIRD: (35, 1.0)}
    pairs = {(one.first, one.second): one.agreement for one in found.between}
    assert (pairs["first", SECOND].value, pairs["first", SECOND].n) == (0.75, 40)
    assert pairs[THIRD, SECOND].n == 35
    first, _, second = found.juries
    assert some(second.brier.value) > some(first.brier.value)
    assert (first.usd, second.usd) == (40 * 3 * 0.25, 40 * 2 * 0.25)
    said = " ".join(
        str(cell) for _, _, cells in tell_juries(found) for row in cells for cell in row
    )
    assert SECOND in said
    assert "all of them" in said


def test_everything_rests_on_the_jury_that_is_named_and_jurors_of_all_are_told() -> None:
    made = rows()
    assert measure_agreement(made).agreement.value == 1.0
    chosen = of_jury(made, "near/j1, far/k")
    found = measure_agreement(chosen)
    assert found.agreement.value == 0.75
    names = {one.juror: one.ballots for one in found.jurors}
    assert names == {"near/j1": 80, "near/j2": 40, "near/j3": 40, "far/k": 40, "far/m": 35}
    assert measure_agreement(of_jury(chosen, "first")).agreement.value == 1.0
    tested = {one.judge: one for one in compare_judges(chosen) if one.crowd == "chat"}
    assert {f"panel {SECOND}", "panel", "far/k", "far/m"} <= set(tested)
    assert some(tested[f"panel {SECOND}"].rho) < some(tested["panel"].rho)


def test_a_jury_that_is_not_there_or_stands_for_two_is_refused_with_those_there_are() -> None:
    made = rows()
    with pytest.raises(UsageError, match="“far/n” is not one of those here; there are first, "):
        of_jury(made, "far/n")
    later = {**made[0].later, "far/m:all": made[0].later[THIRD]}
    both = [make_row(99, later=later), *made]
    with pytest.raises(UsageError, match="there are far/m:all and far/m:strict"):
        of_jury(both, "far/m")


def test_a_single_jury_is_compared_with_nothing() -> None:
    assert measure_juries([make_row(n) for n in range(3)]) is None
    assert measure_juries([]) is None
