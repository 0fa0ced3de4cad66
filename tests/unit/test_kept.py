"""Figures that are kept stand while debates are added, and for no moment after one is deleted."""

import pytest

from engine.pages.public import FRESH_SECONDS, LONGEST_SECONDS, Kept, _Extent


class Made:
    """Counts how often a value was worked out, by a clock of its own."""

    def __init__(self) -> None:
        self.now, self.times = 0.0, 0
        self.kept = Kept(clock=lambda: self.now)

    async def _make(self) -> int:
        self.times += 1
        return self.times

    async def get(self, *extent: object) -> int:
        return await self.kept.get("figures", _Extent(*extent), self._make)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "extent", "made"),
    [
        (1, (5, "noon", "one"), 1),
        (FRESH_SECONDS - 1, (6, "one o'clock", "one"), 1),
        (FRESH_SECONDS + 1, (6, "one o'clock", "one"), 2),
        (LONGEST_SECONDS + 1, (5, "noon", "one"), 2),
        (1, (4, "noon", "one"), 2),
        (1, (5, "one o'clock", "two"), 2),
    ],
    ids=["same", "added", "added long ago", "too old", "fewer", "one deleted, another added"],
)
async def test_a_kept_value_stands_as_long_as_what_it_rests_on(
    seconds: float, extent: tuple[object, ...], made: int
) -> None:
    figures = Made()
    assert await figures.get(5, "noon", "one") == 1
    figures.now = seconds
    assert await figures.get(*extent) == made
