"""What a debate is expected to take, against what it was told to take."""

import pytest

from engine.formats.classic import Classic
from engine.prompts import DATA, Prompts, load_prompts
from engine.run import estimate as module
from engine.run.estimate import estimate
from engine.stage import Stage
from engine.values.debate import Model, PanelMode, PanelSetup, Price, TurnOrder
from engine.values.messages import Estimate
from tests.kit import setup_of, some

FEW = {"words": 80.0, "decision_words": 20.0}
JURORS = tuple(Model.parse(f"near/j{number}") for number in range(1, 7))
REFS = ["near/ana", "near/ben", *(juror.ref for juror in JURORS)]


class Watched(Classic):
    """The format, and how often it was held."""

    def __init__(self) -> None:
        self.held = 0

    async def run(self, stage: Stage) -> None:
        self.held += 1
        await super().run(stage)


async def expect(
    price: Price | None = None,
    jurors: int = 6,
    pace: float = 2.0,
    panel: dict[str, object] | None = None,
    limits: dict[str, float] | None = None,
    **changes: object,
) -> Estimate:
    """Estimate a debate; changes are of its request."""
    setup = setup_of(limits=limits or {})
    seated = PanelSetup(roster=JURORS[:jurors]).model_copy(update=panel or {})
    setup = setup.model_copy(
        update={
            "panel": seated,
            "prices": dict.fromkeys(REFS, price),
            "request": setup.request.model_copy(update=changes),
        }
    )
    return await estimate(setup, Classic(), load_prompts(), dict.fromkeys(REFS, pace))


async def test_calls_are_the_turns_and_the_jurors_that_are_usually_asked() -> None:
    assert (await expect()).calls == 13
    assert (await expect(rounds=3)).calls == 17
    assert (await expect(jurors=2)).calls == 11
    assert (await expect()).calls_max == 30
    # No turn is expected to pass its limits, and more words allowed are more words expected.
    assert (await expect(jurors=2, limits=FEW)).calls == 11
    short = await expect(jurors=2, limits={"words": 100.0})
    assert short.tokens_out < (await expect(jurors=2)).tokens_out / 2


async def test_money_is_price_times_tokens_and_unknown_where_the_price_is() -> None:
    unknown = await expect(price=None)
    assert (unknown.usd, unknown.usd_max) == (None, None)
    free = await expect(price=Price(usd_in=0, usd_out=0))
    assert (free.usd, free.usd_max) == (0, 0)
    expected = await expect(price=Price(usd_in=1, usd_out=10))
    assert expected.usd == pytest.approx((expected.tokens_in + 10 * expected.tokens_out) / 1e6)
    assert expected.usd_max is not None  # every reply at its cap twice
    assert expected.usd_max >= 14 * 2 * 10 * 1000 / 1e6


async def test_reading_takes_as_long_as_the_turns_have_words() -> None:
    classic = (await expect()).reading
    assert 4 < classic < 12
    assert (await expect(rounds=3)).reading > classic
    german = (await expect(language="de")).reading
    assert german == pytest.approx(classic, rel=0.1)  # longer words, and as much to say


async def test_simultaneous_rounds_take_half_the_time_and_a_language_has_its_tokens() -> None:
    in_turn, together = await expect(), await expect(turn_order=TurnOrder.SIMULTANEOUS)
    assert 0.5 < together.minutes / in_turn.minutes < 0.7
    assert in_turn.minutes == pytest.approx(8 * 2 / 60, rel=0.5)
    chinese = await expect(language="zh")
    assert chinese.tokens_out < in_turn.tokens_out
    assert chinese.calls == in_turn.calls


@pytest.mark.parametrize(
    "panel", [{"mode": PanelMode.STRICT}, {"audit": True}], ids=["strict", "audited"]
)
async def test_a_panel_that_reads_in_both_orders_is_expected_to(panel: dict[str, object]) -> None:
    """Half of the panel's calls, and of their money, were left out of the estimate."""
    price = Price(usd_in=1, usd_out=10)
    once, twice = await expect(price), await expect(price, panel=panel)
    assert (twice.calls, twice.calls_max) == (8 + 1 + 2 * 4, 2 * (8 + 1 + 2 * 6))
    assert once.usd_max is not None
    # Six jurors more, each of whom may write 1000 tokens twice.
    assert some(twice.usd_max) - once.usd_max >= 6 * 2 * 10 * 1000 / 1e6


async def test_a_longer_topic_and_conditions_are_read_in_every_prompt_that_holds_them() -> None:
    short, topic = await expect(topic="Tea"), await expect(topic="Tea" + "x" * 4200)
    assert (topic.calls, topic.tokens_out) == (short.calls, short.tokens_out)
    # 1000 tokens, in the system prompt of each of eight turns.
    assert topic.tokens_in - short.tokens_in == pytest.approx(8 * 1000, rel=0.01)
    some, more = await expect(conditions="y"), await expect(conditions="y" + "x" * 4200)
    assert more.tokens_in - some.tokens_in == pytest.approx(8 * 1000, rel=0.01)
    assert some.tokens_in > (await expect()).tokens_in


async def test_a_script_is_held_dry_once_for_all_topics_and_models() -> None:
    script, prompts, pace = Watched(), load_prompts(), dict.fromkeys([*REFS, "near/eva"], 1.0)
    eva, price = Model.parse("near/eva"), Price(usd_in=1, usd_out=10)
    for topic in ("Tea", "{{ topic }}", "远程办公", "x" * 9000):
        setup = setup_of(topic=topic)
        drawn = setup.request.model_copy(update={"sides": {**setup.request.sides, "A": eva}})
        other = setup.model_copy(update={"request": drawn, "seed": 2, "ordinal": 7})
        other = other.model_copy(update={"prices": dict.fromkeys(pace, price)})
        for one in (setup, other):
            fresh = await estimate(one, Watched(), prompts, pace)
            assert await estimate(one, script, prompts, pace) == fresh
    assert script.held == 1


async def test_what_changes_the_order_is_held_dry_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_DEMANDS", 2)
    script, built_in, pace = Watched(), load_prompts(), dict.fromkeys(REFS, 1.0)
    wordy = Prompts(
        {
            name: text if name.endswith(DATA) else f"{text} Mind this."
            for name, text in built_in.texts.items()
        }
    )
    setups = [setup_of(), setup_of(rounds=2), setup_of(conditions="None."), setup_of(limits=FEW)]
    found = [await estimate(setup, script, built_in, pace) for setup in setups]
    found.append(await estimate(setups[0], script, wordy, pace))
    assert (script.held, len({one.tokens_in for one in found})) == (5, 5)
    # Few are kept at once, and what is kept no longer is found out again.
    assert await estimate(setups[0], script, built_in, pace) == found[0]
    assert script.held == 6
