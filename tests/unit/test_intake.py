"""From what was asked for to a frozen setup: defaults, draws and refusals."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from engine.jury.roster import PanelFit
from engine.prompts import load_prompts
from engine.run.estimate import check_prices
from engine.run.freeze import setup_of
from engine.run.order import Defaults, Order
from engine.run.plan import plan
from engine.values.debate import Model, Price, Request, Sampling, Scores, Setup, TurnOrder
from engine.values.errors import BudgetError, UsageError
from engine.values.language import speaking
from engine.values.limits import Caps
from engine.values.makers import read_vocabulary
from engine.words.translation import say

MODELS = tuple(Model.parse(f"near/{name}") for name in ("ana", "ben", "cleo"))
JURORS = tuple(Model.parse(f"near/{name}") for name in ("judy", "jo", "ana-2#ana"))
DEFAULTS = Defaults(
    models=MODELS,
    jurors=JURORS,
    sampling={role: Sampling(temperature=0.5, max_tokens=10) for role in ("debater", "juror")},
    limits={"classic": {"words": 80}},
)
NO_CAPS = Caps(debate_usd=None, community_daily_usd=None)


def order(**given: Any) -> Order:
    return Order(**{"platform": "p", "community": "c", "place": "l", "topic": "Tea"} | given)


def defaults(**given: Any) -> Defaults:
    return DEFAULTS.model_copy(update=given)


def ask(asked: Order, by_default: Defaults = DEFAULTS, seed: int = 1) -> Request:
    return plan(asked, by_default, load_prompts(), seed)[0].request


def setup(asked: Order, by_default: Defaults = DEFAULTS, seed: int = 1, number: int = 1) -> Setup:
    return setup_of(plan(asked, by_default, load_prompts(), seed)[0], number, PanelFit())


def test_what_is_asked_for_wins_over_the_default_and_what_is_left_out_is_the_default() -> None:
    by_default = defaults(
        topic="Coffee", conditions="At work.", language="tr", blind=False, vote_minutes=7.5
    )
    request = ask(order(topic=None), by_default)
    assert (request.topic, request.conditions) == ("Coffee", "At work.")
    assert (request.language, request.vote_minutes, request.rounds) == ("tr", 7.5, 1)
    assert (request.format, request.blind) == ("classic", False)
    asked = {
        "conditions": "",
        "language": "de",
        "rounds": 3,
        "turn_order": TurnOrder.SIMULTANEOUS,
        "scores": Scores.LIVE,
        "quorum": 0,
        "blind": True,
    }
    request = ask(order(**asked), by_default)
    assert {name: getattr(request, name) for name in asked} == asked


def test_models_left_out_are_drawn_for_either_side_without_repeating_one() -> None:
    drawn = [ask(order(models={"A": MODELS[0]}), seed=seed) for seed in range(40)]
    assert {request.sides["A"] for request in drawn} == {MODELS[0]}
    assert {request.drawn for request in drawn} == {("B",)}
    assert {request.sides["B"] for request in drawn} == set(MODELS[1:])
    pairs = {tuple(m.name for m in ask(order(), seed=s).sides.values()) for s in range(80)}
    assert len(pairs) == 6
    assert all(a != b for a, b in pairs)
    assert ask(order(), seed=5) == ask(order(), seed=5)
    alone = ask(order(), defaults(models=MODELS[:1]))
    assert list(alone.sides.values()) == [MODELS[0], MODELS[0]]
    by_default = defaults(sides={"A": MODELS[2], "B": MODELS[1]})
    assert ask(order(), by_default).drawn == ()
    request = ask(order(models={"B": MODELS[0]}), by_default)
    assert request.sides == {"A": MODELS[2], "B": MODELS[0]}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"topic": "  \x00 "}, "needs a topic; give one, for example"),
        ({"topic": "x" * 20_001}, "topic of a debate may have at most 20000.*Shorten it"),
        ({"conditions": "x" * 20_001}, "conditions of a debate may have at most 20000"),
        ({"language": "klingon!"}, "not a language code"),
        ({"format": "duel"}, "no format “duel”; choose from classic"),
        ({"rounds": 0}, "rounds is 0; it must be between 1 and 9"),
        ({"rounds": 10}, "rounds is 10"),
        ({"vote_minutes": float("nan")}, "vote_minutes is “nan”"),
        ({"vote_minutes": 0}, "vote_minutes is “0”"),
        ({"quorum": -1}, "quorum is -1"),
        ({"models": {"C": MODELS[0]}}, "no side C; its sides are A and B"),
    ],
)
def test_what_cannot_be_held_is_refused_with_what_to_do(asked: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        ask(order(**asked))


def test_without_models_or_jurors_the_setting_is_named() -> None:
    """To the operator alone: members of a chat read what they can do themselves."""
    with pytest.raises(UsageError, match="name one for each side") as models:
        ask(order(), defaults(models=()))
    with pytest.raises(UsageError, match="name some with the debate") as jurors:
        ask(order(), defaults(jurors=()))
    assert [models.value.hint, jurors.value.hint] == [
        "Or set ROSTRUM_MODELS.",
        "Or set ROSTRUM_JURORS.",
    ]
    assert "ROSTRUM" not in f"{models.value}{jurors.value}"
    panel = setup(order(jurors=MODELS), defaults(jurors=())).panel
    assert {*panel.roster, *panel.recused} == set(MODELS)


@pytest.mark.parametrize("topic", ["\u200b", "\u200d\u2060 \ufeff", "\u3164", "\u2800\u00ad"])
def test_a_topic_that_shows_nothing_is_refused_and_of_any_script_or_signs_taken(topic: str) -> None:
    nothing = r"needs a topic|All characters of this topic are invisible"
    with pytest.raises(UsageError, match=nothing):
        ask(order(topic=topic))
    for shown in ("茶", "🍵?", "…", "1+1=2", "ع"):
        assert ask(order(topic=shown)).topic == shown


@pytest.mark.parametrize("format", ["team", "oxford", "audited", "structured"])
def test_rounds_are_refused_where_a_format_has_its_own(format: str) -> None:
    with pytest.raises(
        UsageError, match=f"The format {format} has a fixed number of rounds: .* Its own opt"
    ):
        ask(order(format=format, rounds=3))
    assert ask(order(format=format)).rounds == 1


def test_as_many_judges_sit_as_are_named_and_more_than_a_format_asks_are_refused() -> None:
    ten = tuple(Model.parse(f"near/judge-{n}") for n in range(10))
    with pytest.raises(UsageError, match="has at most 9 judges of its own, and you named 10"):
        ask(order(format="team", judges=ten))
    with pytest.raises(UsageError, match="has 1 judge of its own, and you named 2"):
        ask(order(format="roundtable", judges=ten[:2], options={"judges": 1}))
    for format in ("classic", "roundtable"):  # nobody would ask them
        roomy = defaults(limits={format: {"words": 80}})
        with pytest.raises(UsageError, match="leave judges out"):
            ask(order(format=format, judges=JURORS[:1]), roomy)
    assert ask(order(format="team", judges=MODELS[:2])).judges == MODELS[:2]
    several = defaults(own_judges=JURORS[:2], limits={"team": {}})
    assert ask(order(format="team"), several).judges == JURORS[:2]
    assert ask(order(format="team", judges=MODELS[:1]), several).judges == MODELS[:1]


def test_single_seats_may_have_models_of_their_own_by_setting() -> None:
    seated = defaults(seats={"A2": MODELS[2], "B4": MODELS[0]}, limits={"team": {}})
    assert ask(order(format="team"), seated).seats == {"A2": MODELS[2], "B4": MODELS[0]}
    own = ask(order(format="team", models={"A2": MODELS[1]}), seated)
    assert own.seats == {"A2": MODELS[1], "B4": MODELS[0]}
    assert ask(order(format="classic"), seated).seats == {}


@given(st.text(min_size=1, max_size=200))
def test_a_topic_of_any_characters_is_kept_as_clean_text(topic: str) -> None:
    try:
        request = ask(order(topic=topic))
    except UsageError:
        return
    assert request.topic == request.topic.strip()
    request.topic.encode()
    assert ask(order(topic=request.topic)).topic == request.topic


def test_a_setup_holds_all_that_a_resumed_debate_reads() -> None:
    frozen = setup(order(models={"A": MODELS[0], "B": MODELS[1]}), seed=9, number=4)
    assert (frozen.seed, frozen.ordinal, frozen.format_version) == (9, 4, 1)
    assert frozen.limits == {"words": 80}
    assert set(frozen.sampling) == {"debater", "juror"}
    assert frozen.templates == load_prompts().only("classic", "jury").digest
    assert [juror.name for juror in frozen.panel.recused] == ["ana-2"]
    assert frozen.cap_usd == DEFAULTS.caps.debate_usd


def test_neutral_names_are_none_that_the_debate_speaks_of() -> None:
    words = read_vocabulary().neutral
    spoken, free = words[:-2], set(words[-2:])
    asked = order(topic=" and ".join(spoken[:20]), conditions=" or ".join(spoken[20:]))
    assert set(setup(asked).names.values()) == free


def test_a_dollar_cap_with_an_unknown_price_names_the_setting() -> None:
    prices = {"near/ana": Price(usd_in=1, usd_out=1), "near/ben": None}
    for caps in (Caps(), Caps(debate_usd=None), Caps(community_daily_usd=None)):
        with pytest.raises(BudgetError, match="price of near/ben") as refused:
            check_prices(prices, caps)
        assert refused.value.hint.startswith('Set ROSTRUM_PRICES, for example \'{"near/ben"')
        assert "ROSTRUM_" not in str(refused.value)
        assert "ask the operator" in say(refused.value.text)
        with speaking("de"):
            assert say(refused.value.text).endswith("bitte die Betreiber, den Preis festzulegen.")
        told = refused.value.for_operator
        assert told.startswith(
            "The price of near/ben is unknown, so the cap cannot be enforced. Set"
        )
        assert "operator" not in told
        assert "near/ana" not in told
    check_prices(prices, NO_CAPS)
    check_prices({"near/ana": prices["near/ana"]}, Caps())
