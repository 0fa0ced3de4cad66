"""The Wilson interval, against statsmodels."""

import pytest
from hypothesis import given, strategies as st

from engine.tally.tally import wilson

SHARES = st.integers(1, 100_000).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.just(n)),
)


@pytest.mark.slow
@given(SHARES)
def test_equals_statsmodels(share: tuple[int, int]) -> None:
    # Loading it takes a second, which every process that only collects tests would spend too.
    from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

    k, n = share
    low, high = proportion_confint(k, n, alpha=0.05, method="wilson")
    assert wilson(k, n).low == pytest.approx(low, abs=1e-12)
    assert wilson(k, n).high == pytest.approx(high, abs=1e-12)


def test_three_of_five() -> None:
    low, high = wilson(3, 5)
    assert (round(low, 2), round(high, 2)) == (0.23, 0.88)


def test_nothing_seen_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@given(SHARES)
def test_bounds_are_a_share_and_hold_it(share: tuple[int, int]) -> None:
    k, n = share
    low, high = wilson(k, n)
    assert 0 <= low <= high <= 1
    assert low - 1e-12 <= k / n <= high + 1e-12


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (6, 5), (0, -1)])
def test_refuses_what_is_no_share(k: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"k = {k} and n = {n}"):
        wilson(k, n)
