"""A debate and its mirror."""

from typing import Any

import pytest

from engine.run.request import exchange, mirror
from engine.values.debate import Model, Request
from engine.values.errors import UsageError
from engine.values.messages import Estimate

ANA, BEN, CLEO = (Model.parse(f"near/{name}") for name in ("ana", "ben", "cleo"))


def _request(**fields: Any) -> Request:
    return Request(**{"topic": "Tea", "sides": {"A": ANA, "B": BEN}} | fields)


def _estimate(**fields: Any) -> Estimate:
    plain = {"calls": 11, "calls_max": 22, "tokens_in": 5, "tokens_out": 3, "minutes": 2.0}
    return Estimate(**plain | {"usd": 0.25, "usd_max": 0.5} | fields)


def test_a_mirror_exchanges_sides_seats_and_draws_alone_and_is_refused_where_it_cannot() -> None:
    request = _request(drawn=("B",), seats={"A2": CLEO}, conditions="At work.")
    mirrored = exchange(request)
    assert mirrored.sides == {"A": BEN, "B": ANA}
    assert mirrored.drawn == ("A",)
    assert mirrored.seats == {"B2": CLEO}
    assert mirrored.conditions == "At work."
    assert exchange(mirrored) == request
    with pytest.raises(UsageError, match="a roundtable debate has 3"):
        mirror(_request(format="roundtable", sides={"1": ANA, "2": BEN, "3": CLEO}))
    with pytest.raises(UsageError, match="would be the same debate"):
        mirror(_request(sides={"A": ANA, "B": ANA}))
    seated = _request(format="team", sides={"A": ANA, "B": ANA}, seats={"A1": BEN})
    assert mirror(seated) == exchange(seated)
    assert mirror(_request()) == exchange(_request())


def test_both_are_paid_for_and_run_at_the_same_time() -> None:
    both = _estimate().beside(_estimate(minutes=3.0))
    assert (both.calls, both.calls_max, both.tokens_in, both.tokens_out) == (22, 44, 10, 6)
    assert (both.minutes, both.usd, both.usd_max) == (3.0, 0.5, 1.0)
    assert _estimate().beside(_estimate(usd=None, usd_max=None)).usd is None
