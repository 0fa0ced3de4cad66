"""What a debate is expected to take, against what it was told to take."""

from __future__ import annotations

import pytest

from engine.debate import Estimate, Model, PanelMode, PanelSetup, Price, TurnOrder
from engine.estimate import estimate
from engine.formats.classic import Classic
from engine.prompts.library import load_prompts
from tests.doubles.desk import setup_of

JURORS = tuple(Model.parse(f"near/j{number}") for number in range(1, 7))
REFS = ["near/ana", "near/ben", *(juror.ref for juror in JURORS)]


async def expect(
    price: Price | None = None, jurors: int = 6, pace: float = 2.0, **changes: object
) -> Estimate:
    """Estimate a debate; changes are of its request."""
    setup = setup_of()
    setup = setup.model_copy(
        update={
            "panel": PanelSetup(roster=JURORS[:jurors]),
            "prices": dict.fromkeys(REFS, price),
            "request": setup.request.model_copy(update=changes),
        }
    )
    return await estimate(setup, Classic(), load_prompts(), dict.fromkeys(REFS, pace))


async def test_calls_are_the_turns_and_the_jurors_that_are_usually_asked() -> None:
    assert (await expect()).calls == 12
    assert (await expect(rounds=3)).calls == 16
    assert (await expect(jurors=2)).calls == 10
    assert (await expect()).calls_max == 28


@pytest.mark.parametrize("limits", [{}, {"words": 80.0, "decision_words": 20.0}])
async def test_a_turn_is_never_expected_to_pass_its_limits(limits: dict[str, float]) -> None:
    setup = setup_of(limits=limits)
    setup = setup.model_copy(update={"prices": dict.fromkeys(REFS)})
    expected = await estimate(setup, Classic(), load_prompts(), dict.fromkeys(REFS, 1.0))
    assert expected.calls == 10


async def test_an_unknown_price_makes_the_money_unknown_and_not_zero() -> None:
    unknown = await expect(price=None)
    assert (unknown.usd, unknown.usd_max) == (None, None)
    free = await expect(price=Price(usd_in=0, usd_out=0))
    assert (free.usd, free.usd_max) == (0, 0)


async def test_money_is_price_times_tokens_and_at_most_every_reply_at_its_cap_twice() -> None:
    expected = await expect(price=Price(usd_in=1, usd_out=10))
    assert expected.usd == pytest.approx((expected.tokens_in + 10 * expected.tokens_out) / 1e6)
    assert expected.usd_max is not None
    assert expected.usd_max >= 14 * 2 * 10 * 1000 / 1e6


async def test_simultaneous_rounds_take_half_the_time() -> None:
    in_turn, together = await expect(), await expect(turn_order=TurnOrder.SIMULTANEOUS)
    assert 0.5 < together.minutes / in_turn.minutes < 0.7
    assert in_turn.minutes == pytest.approx(8 * 2 / 60, rel=0.5)


async def test_more_words_allowed_are_more_words_expected() -> None:
    short = await estimate(
        setup_of(limits={"words": 100.0}), Classic(), load_prompts(), dict.fromkeys(REFS, 1.0)
    )
    assert short.tokens_out < (await expect(jurors=2)).tokens_out / 2


async def test_the_language_decides_how_many_tokens_the_words_are() -> None:
    chinese, english = await expect(language="zh"), await expect(language="en")
    assert chinese.tokens_out < english.tokens_out
    assert chinese.calls == english.calls


@pytest.mark.parametrize(
    "panel", [{"mode": PanelMode.STRICT}, {"audit": True}], ids=["strict", "audited"]
)
async def test_a_panel_that_reads_in_both_orders_is_expected_to(panel: dict[str, object]) -> None:
    """Half of the panel's calls, and of their money, were left out of the estimate."""
    setup = setup_of().model_copy(
        update={
            "panel": PanelSetup(roster=JURORS).model_copy(update=panel),
            "prices": dict.fromkeys(REFS, Price(usd_in=1, usd_out=10)),
        }
    )
    once = await expect(price=Price(usd_in=1, usd_out=10))
    twice = await estimate(setup, Classic(), load_prompts(), dict.fromkeys(REFS, 2.0))
    assert (twice.calls, twice.calls_max) == (8 + 2 * 4, 2 * (8 + 2 * 6))
    assert once.usd_max is not None
    assert twice.usd_max is not None
    # Six jurors more, each of whom may write 1000 tokens twice.
    assert twice.usd_max - once.usd_max >= 6 * 2 * 10 * 1000 / 1e6
