"""Times as people say them."""

from __future__ import annotations

import pytest

from engine.values.language import speaking
from engine.words.phrases import about_minutes, lasting


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (1 / 3, "20 seconds"),
        (0.5, "30 seconds"),
        (1.5, "90 seconds"),
        (1, "1 minute"),
        (30, "30 minutes"),
        (60, "1 hour"),
        (90, "90 minutes"),
        (150, "2 hours 30 minutes"),
        (1440, "24 hours"),
        (2880, "2 days"),
        (3180, "2 days 5 hours"),
        (10080, "7 days"),
    ],
)
def test_a_time_is_said_in_units_that_people_use(minutes: float, said: str) -> None:
    assert lasting(minutes) == said


def test_a_rough_time_is_not_said_in_thousands_of_minutes() -> None:
    assert about_minutes(0.4) == "less than a minute"
    assert about_minutes(5.4) == "about 5 minutes"
    assert about_minutes(14_398_560) == "about 9999 days"
    with speaking("zh"):
        assert about_minutes(300) == "约 5 小时"
