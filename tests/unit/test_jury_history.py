"""What past ballots teach."""

from __future__ import annotations

import time
from random import Random

import pytest

from engine.jury.history import fit
from engine.store.journal import PastDebate
from engine.values.debate import JurorHistory
from engine.values.judging import Ballot
from tests.unit.jury_cases import AB, BA, leaning, spoilt


def _juror(name: str, order: tuple[str, ...], margin: float, audit: bool = False) -> Ballot:
    return leaning(order, max(-9, min(9, round(margin))), juror=name, audit=audit)


def _world(debates: int, seed: int = 1) -> list[PastDebate]:
    """Simulate: `good` sees the truth, `fair` half of it, `noise` none, `first` leans."""
    rng = Random(seed)
    past = []
    for _ in range(debates):
        truth = rng.gauss(0, 2)
        ballots = []
        for name, skill, lean in (
            ("good", 1.0, 0),
            ("fair", 0.6, 0),
            ("noise", 0, 0),
            ("first", 0.6, 2),
        ):
            order = rng.choice([AB, BA])
            o = 1 if order == AB else -1
            noise = rng.gauss(0, 1 if name == "good" else 2)
            ballots.append(_juror(name, order, truth * skill + noise + o * lean))
        human = "A" if truth > 0 else "B"
        past.append(PastDebate(tuple(ballots), human=human, z=truth / 2 + rng.gauss(0, 1)))
    return past


def test_nothing_teaches_nothing() -> None:
    assert fit([]) == ({}, None, 0.9, None)


def test_a_lean_to_the_side_shown_first_is_found() -> None:
    history = fit(_world(400)).history
    assert history["first"].pos == pytest.approx(2, abs=0.4)
    assert abs(history["good"].pos) < 0.4
    assert history["good"].ballots == 400


def test_lean_and_spread_follow_the_formula() -> None:
    past = [
        PastDebate((_juror("x", AB, 3), _juror("y", BA, 1))),
        PastDebate((_juror("x", BA, -1), _juror("y", AB, 2, audit=True))),
    ]
    history = fit(past).history
    pooled = (3 + 1 - 1 + 2) / (4 + 10)
    pos = {"x": (3 + 1 + 10 * pooled) / 12, "y": (-1 + 2 + 10 * pooled) / 12}
    assert {juror: item.pos for juror, item in history.items()} == pytest.approx(pos)
    squares = {
        "x": (3 - pos["x"]) ** 2 + (-1 + pos["x"]) ** 2,
        "y": (1 + pos["y"]) ** 2 + (2 - pos["y"]) ** 2,
    }
    variance = (sum(squares.values()) + 10 * 1.5**2) / 14
    for juror, item in history.items():
        assert item.sd**2 == pytest.approx((squares[juror] + 10 * variance) / 12)


def test_a_handful_of_ballots_teaches_little() -> None:
    item = fit([PastDebate((_juror("x", AB, 9), _juror("y", BA, 9)))]).history["x"]
    assert abs(item.pos) < 1
    assert item.weight == 1.0
    assert item.correlation is None


def test_weights_follow_agreement_and_average_one() -> None:
    found = fit([debate._replace(human=None) for debate in _world(400)])
    weights = {juror: item.weight for juror, item in found.history.items()}
    assert weights["good"] > weights["fair"] > weights["noise"] > 0
    assert sum(weights.values()) / 4 == pytest.approx(1)
    assert found.correlation is not None
    assert 0.1 < found.correlation < 0.8
    assert found.slope == 0.9


def test_people_outweigh_a_herd() -> None:
    """Two jurors that share their errors look best to one another, not to people."""
    rng = Random(5)
    past = []
    for _ in range(200):
        truth, herd = rng.gauss(0, 2), rng.gauss(0, 3)
        margins = {"one": herd, "two": herd, "true": truth, "also": truth + rng.gauss(0, 2)}
        ballots = [_juror(name, rng.choice([AB, BA]), m) for name, m in margins.items()]
        past.append(PastDebate(tuple(ballots), human="A" if truth > 0 else "B"))
    alone = fit([debate._replace(human=None) for debate in past]).history
    taught = fit(past).history
    assert taught["true"].weight > alone["true"].weight
    assert taught["true"].weight > 2 * taught["one"].weight


def test_votes_weigh_jurors_from_a_hundred_and_fifty_ballots_on() -> None:
    past = _world(400)
    unlabelled = [debate._replace(human=None) for debate in past]

    def weigh(labelled: int) -> list[float]:
        history = fit([*unlabelled[labelled:], *past[:labelled]]).history
        return [history[juror].weight for juror in ("good", "fair", "noise", "first")]

    def weigh_without(labelled: int) -> list[float]:
        history = fit([*unlabelled[labelled:], *unlabelled[:labelled]]).history
        return [history[juror].weight for juror in ("good", "fair", "noise", "first")]

    assert weigh(37) == weigh_without(37), "148 ballots"
    assert weigh(38) != weigh_without(38), "152 ballots"


def test_the_slope_is_fitted_on_labelled_debates_within_bounds() -> None:
    assert fit(_world(29)).slope == 0.9
    sharp = [
        PastDebate((_juror("x", AB, 1), _juror("y", BA, 1)), human="A" if z > 0 else "B", z=z)
        for z in (2.0, -2.0, 1.0, -1.0) * 10
    ]
    assert fit(sharp).slope == pytest.approx(3.0, abs=0.01)
    blunt = [debate._replace(human="tie") for debate in sharp]
    assert fit(blunt).slope == pytest.approx(0.2, abs=0.01)
    rng = Random(2)
    real = [
        debate._replace(
            human="A" if rng.random() < 1 / (1 + 2.718281828 ** (-1.3 * z)) else "B", z=z
        )
        for debate in sharp[:1] * 3000
        for z in [rng.gauss(0, 1.5)]
    ]
    assert fit(real).slope == pytest.approx(1.3, abs=0.15)


def test_open_invalid_and_many_sided_ballots_teach_nothing() -> None:
    many = leaning(AB, 3).model_copy(
        update={
            "order": ("1", "2", "3"),
            "scores": {
                side: dict.fromkeys(("logic", "evidence", "responsiveness", "honesty"), 5)
                for side in ("1", "2", "3")
            },
            "verdict": "1",
        }
    )
    past = [
        PastDebate((_juror("x", AB, 3), _juror("y", BA, 3)), blind=False),
        PastDebate((spoilt(AB, "x"), spoilt(BA, "y"))),
        PastDebate((many,), human="1", z=1.0),
    ]
    assert fit(past).history == {}


def test_audits_do_not_weigh() -> None:
    past = _world(60)
    audited = [
        debate._replace(
            ballots=(
                *debate.ballots,
                *(
                    item.model_copy(update={"audit": True, "juror": "late"})
                    for item in debate.ballots[:1]
                ),
            )
        )
        for debate in past
    ]
    late = fit(audited).history["late"]
    assert (late.ballots, late.weight, late.correlation) == (60, 1.0, None)


def test_equal_margins_never_divide_by_nothing() -> None:
    past = [PastDebate((_juror("x", AB, 0), _juror("y", BA, 0)), human="tie", z=0.0)] * 3000
    history = fit(past).history
    assert history["x"] == JurorHistory(ballots=3000, pos=0, sd=0.5, weight=1.0)


@pytest.mark.slow
def test_ten_thousand_debates_are_fitted_in_seconds() -> None:
    past = _world(500) * 20
    started = time.process_time()
    fit(past)
    assert time.process_time() - started < 5
