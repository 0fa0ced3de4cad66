"""What it takes to ask a juror, and that it changes who is asked first."""

import pytest

from engine.jury.roster import PanelFit, seat_panel
from engine.run.freeze import weigh_costs
from engine.values.debate import Fit, JurorFit, Model, Price

CHEAP, DEAR, BEST = (Model.parse(f"near/{name}") for name in ("cheap", "dear", "best"))
PRICES = {
    CHEAP.ref: Price(usd_in=0.1, usd_out=0.1),
    DEAR.ref: Price(usd_in=10.0, usd_out=10.0),
    BEST.ref: None,
}


def known(skill: float) -> JurorFit:
    return JurorFit(family="x", ballots=200, skill=skill, skill_error=0.1)


def test_a_dear_juror_is_asked_later_once_money_matters() -> None:
    jurors = {CHEAP.ref: known(0.9), DEAR.ref: known(1.0)}
    jurors = {ref: one.model_copy(update={"family": ref}) for ref, one in jurors.items()}
    fit = Fit(version=1, shared=0.3, kin=0.1, people=0.74, evidence=50, jurors=jurors)
    roster = (CHEAP, DEAR)
    plain = seat_panel(roster, (), ordinal=1, seed=0, learnt=PanelFit(model=fit))
    assert plain.roster == (DEAR, CHEAP)
    costs = weigh_costs(roster, PRICES, value_per_usd=100)
    assert (
        seat_panel(roster, (), ordinal=1, seed=0, learnt=PanelFit(model=fit), prices=costs).roster
        == roster
    )


def test_a_call_takes_its_price_in_points_beside_what_each_call_has_to_gain() -> None:
    found = weigh_costs((CHEAP, DEAR, BEST), PRICES, value_per_usd=10)
    # 4,000 tokens read and 250 written, at 10 USD a million: 0.0425 USD, or 0.425 points.
    assert found[DEAR.ref] == pytest.approx(1 + 0.425 / 0.2)
    assert found[CHEAP.ref] == pytest.approx(1 + 0.00425 / 0.2)
    assert found[BEST.ref] == 1
