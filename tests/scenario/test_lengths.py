"""Short, normal and long debates in every format: what models are told, and what that takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.formats import FORMATS, find_format
from engine.formats.team.rules import SEATS
from engine.run.plan import Order, complete
from engine.values.debate import Length, Model
from engine.values.errors import UsageError
from engine.values.messages import Announcement
from engine.values.options import read_option
from engine.words.cards import card_of
from engine.words.phrases import estimated
from tests.doubles.rehearsed import DEFAULTS as REHEARSED, setup_for
from tests.doubles.whole_debate import DEFAULTS, hold_whole

JURORS = tuple(
    Model.parse(f"rehearsal/{name}") for name in ("birch", "elm", "rowan", "aspen", "hazel", "fir")
)
FULL = DEFAULTS.model_copy(update={"jurors": JURORS})
SAYS = {
    "classic": "At most 120 words.",
    "team": "words.",
    "structured": "Keep each text within 40 words.",
    "roundtable": "At most 120 words",
    "audited": "At most 120 words.",
    "oxford": "At most 120 words.",
}
TURNS = {"classic": 8, "team": 12, "structured": 6, "roundtable": 6, "audited": 6, "oxford": 6}
FIVE_MINUTES = 1200  # words


@pytest.mark.parametrize("format", FORMATS)
async def test_a_short_debate_is_read_in_five_minutes(
    database_url: str, tmp_path: Path, format: str
) -> None:
    whole = await hold_whole(
        database_url, tmp_path / "out", FULL, format=format, length=Length.SHORT
    )
    assert all(SAYS[format] in text for text in whole.sent("turn/opening"))
    turns = whole.table("turns")
    assert len(turns) == TURNS[format]
    assert sum(turn["words"] for turn in turns) <= FIVE_MINUTES
    (held,) = whole.table("debates")
    assert held["length"] == "short"
    expected = whole.started.estimate
    panel = len({step for step in whole.heard if step.startswith("jury/")})
    assert abs(len(whole.heard) - panel - (expected.calls - 4)) <= 2
    card = card_of(next(m for m in whole.posted if isinstance(m, Announcement)))
    assert any(f"**{format} (short)**: " in s and " to read" in s for s in card.lines)
    assert estimated(expected) == card.small


@pytest.mark.parametrize("seed", range(3))
async def test_a_short_team_debate_takes_an_afternoon(
    database_url: str, tmp_path: Path, seed: int
) -> None:
    whole = await hold_whole(
        database_url, tmp_path / "out", FULL, format="team", length=Length.SHORT, seed=seed
    )
    assert whole.messages <= 20
    assert len(whole.heard) <= 45
    assert whole.started.estimate.calls <= 45
    assert {turn["seat"] for turn in whole.table("turns")} == set(SEATS)


@pytest.mark.each_case
@pytest.mark.parametrize("format", FORMATS)
def test_short_never_allows_more_and_long_never_less(format: str) -> None:
    script = find_format(format)
    usual = script.limits.model_validate({}).model_dump()
    short, long = (script.limits_of(length, {}) for length in (Length.SHORT, Length.LONG))
    assert short
    assert long
    assert all(short[name] <= usual[name] for name in short)
    assert all(long[name] >= usual[name] for name in long)
    assert script.limits_of(Length.NORMAL, {"words": 7}) == {"words": 7}
    tight = {name: 1 for name, value in usual.items() if isinstance(value, int)}
    if format != "structured":
        assert all(script.limits_of(Length.SHORT, tight)[name] <= 1 for name in tight)


def test_what_was_asked_for_goes_before_the_length() -> None:
    short = setup_for("audited", length=Length.SHORT)
    assert short.request.options["turns"] == 6
    assert short.limits == {"words": 120}
    asked = setup_for("audited", length=Length.SHORT, options={"turns": "4"})
    assert asked.request.options["turns"] == 4
    assert setup_for("classic", length=Length.LONG).request.rounds == 2
    assert setup_for("classic", length=Length.LONG, rounds=1).request.rounds == 1
    assert setup_for("roundtable", length=Length.SHORT).request.rounds == 1
    assert setup_for("classic").request.length is Length.NORMAL


def test_a_community_and_the_operator_have_a_default() -> None:
    where = {"platform": "memory", "community": "club", "place": "lobby"}
    defaults = REHEARSED.model_copy(update={"length": Length.SHORT})
    request, _ = complete(Order(**where), defaults, 1)
    assert request.length is Length.SHORT
    asked, _ = complete(Order(**where, length=Length.LONG), defaults, 1)
    assert asked.length is Length.LONG
    assert read_option("length", "Short") is Length.SHORT
    with pytest.raises(UsageError, match="did you mean short"):
        read_option("length", "shrt")
