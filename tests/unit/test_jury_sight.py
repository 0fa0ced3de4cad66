"""Whether jurors have shown that they see: a bet that chance does not win."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from statistics import median

import pytest

from engine.jury.aggregate import BEHIND, MOST_JURORS, UNPROVEN
from engine.jury.ballot import Reading
from engine.jury.fitting import fit_jurors
from engine.jury.gate import compare_rules
from engine.jury.hearing import Heard, HeardDebate, hear
from engine.jury.history import fit_all
from engine.jury.plan import attendance, next_readings
from engine.jury.roster import seat_panel
from engine.jury.sight import PROVEN, bet, combine, stake_of
from engine.store.journal import PastDebate
from engine.values.debate import SEES, Fit, JurorFit, Model, PanelMode, PanelSetup
from engine.values.judging import TIE, Ballot
from tests.slow import slow_after
from tests.unit.jury_cases import AB, SIDES, hold, jurors, leaning, spoilt

Margin = Callable[[Random, int], float]


def coin(rng: Random, _: int) -> float:
    """Prefer either side, whichever is shown first."""
    return rng.choice((-1, 1)) * abs(rng.gauss(2.5, 1))


def leaning_coin(rng: Random, o: int) -> float:
    """Prefer the side shown first in seven of ten readings."""
    return (o if rng.random() < 0.7 else -o) * abs(rng.gauss(2.5, 1))


def first(rng: Random, o: int) -> float:
    """Prefer the side shown first."""
    return o * abs(rng.gauss(2.5, 1))


def second(rng: Random, o: int) -> float:
    """Prefer the side shown second."""
    return -first(rng, o)


ROSTER = jurors(8)


def _pairs(rng: Random, margin: Margin, debates: int, count: int = 3) -> list[HeardDebate]:
    """Return debates that each of these jurors read in both orders."""
    return [
        HeardDebate(
            tuple(
                Heard(f"juror-{at}", f"family-{at}", o, margin(rng, o), 0.0)
                for at in range(count)
                for o in (1, -1)
            )
        )
        for _ in range(debates)
    ]


@pytest.mark.parametrize("margin", slow_after(2, [coin, first, leaning_coin, second]))
def test_chance_passes_the_cold_start_in_one_installation_of_a_hundred_at_most(
    margin: Margin,
) -> None:
    passed = 0
    for seed in range(300):
        held = _pairs(Random(seed), margin, 60)
        looks = (bet(held[:debates]) for debates in (5, 10, 15, 20, 30, 40, 60))
        passed += any(combine(stakes, stakes) >= PROVEN for stakes in looks)
    assert passed <= 3


def test_able_jurors_pass_it_after_ten_to_fifteen_debates() -> None:
    after = []
    for seed in range(60):
        rng, held, stakes = Random(seed), list[HeardDebate](), dict[str, float]()
        while not held or combine(stakes, stakes) < PROVEN:
            truth = rng.gauss(0, 1.1)
            felt = {at: truth + rng.gauss(0, 0.65) for at in range(3)}
            ballots = [
                Heard(f"juror-{at}", "", o, 1.2 * (seen + 0.3 * o + rng.gauss(0, 0.55)), 0.0)
                for at, seen in felt.items()
                for o in (1, -1)
            ]
            held.append(HeardDebate(tuple(ballots)))
            stakes = bet(held)
        after.append(len(held))
    assert 8 <= median(after) <= 15


def test_one_able_juror_among_three_is_enough() -> None:
    held = [
        HeardDebate(
            (
                *(Heard("able", "", o, side * 3.0, 0.0) for o in (1, -1)),
                *(Heard(f"coin-{at}", "", o, coin(rng, o), 0.0) for at in (0, 1) for o in (1, -1)),
            )
        )
        for rng in [Random(3)]
        for side in rng.choices((1, -1), k=60)
    ]
    stakes = bet(held)
    assert stakes["able"] > 10
    assert combine(stakes, stakes) >= PROVEN


def test_pairs_that_are_both_faint_say_nothing_and_unheard_jurors_neither() -> None:
    assert bet([HeardDebate((Heard("a", "", 1, 0.3, 0), Heard("a", "", -1, 0.2, 0)))]) == {}
    assert bet([HeardDebate((Heard("a", "", 1, 3.0, 0),))]) == {}
    assert combine({}, ("a", "b")) == 1
    assert combine({"a": 2000.0, "b": 2000.0}, ("a", "b")) >= PROVEN


def test_different_jurors_who_agree_in_opposite_orders_prove_it_too() -> None:
    known = {juror.ref: JurorFit(family="f", ballots=20) for juror in ROSTER[:2]}
    assert stake_of(Fit(evidence=5.0, jurors=known), list(known)) is None
    assert stake_of(Fit(evidence=3.0, jurors=known), list(known)) == 1
    strangers = [juror.ref for juror in ROSTER[4:]]
    assert stake_of(Fit(evidence=5.0, jurors=known), strangers) == 1  # a new roster has to show it


def _cold(roster: tuple[Model, ...] = ROSTER, **fit: object) -> PanelSetup:
    return seat_panel(roster, (), ordinal=1, seed=0, fit=Fit().model_copy(update=fit))


def _says(margins: dict[str, int]) -> Callable[[Reading], Ballot]:
    return lambda it: leaning(it.order, margins.get(it.juror.ref, 2), juror=it.juror.ref)


def test_the_first_panels_read_in_both_orders_and_agree_or_give_no_verdict_yet() -> None:
    setup = _cold()
    verdict, read = hold(setup, _says({}))
    assert len(read) == len({(one.juror, one.order) for one in read}) == 6
    assert len({one.juror for one in read}) == 3
    assert (verdict.winner, verdict.problem, verdict.readings) == ("A", "", {})
    verdict, _ = hold(setup, _says({read[0].juror: -2}))
    assert (verdict.winner, verdict.problem) == (None, UNPROVEN)
    assert (verdict.p, verdict.readings) == ({}, {"A": 4, "B": 2})
    verdict, _ = hold(setup, _says({read[0].juror: 0}))
    assert (verdict.winner, verdict.readings) == (None, {"A": 4, TIE: 2})


def test_few_readings_that_agree_decide_nothing_yet_except_in_a_rehearsal() -> None:
    verdict, read = hold(_cold(ROSTER[:2]), _says({}))
    assert (verdict.winner, verdict.readings, len(read)) == (None, {"A": 4}, 4)
    made_up = tuple(Model(backend="rehearsal", name=f"j{at}", family=f"j{at}") for at in range(2))
    assert hold(_cold(made_up), _says({}))[0].winner == "A"
    assert hold(_cold(made_up), _says({"rehearsal/j0": 0}))[0].winner == "A"  # a tie is no dissent
    assert hold(_cold(made_up), _says({"rehearsal/j0": -2}))[0].winner is None


def test_agreement_decides_nothing_where_the_record_speaks_against_the_jurors() -> None:
    known = {juror.ref: JurorFit(family="f", stake=-2.0) for juror in ROSTER}
    verdict, _ = hold(_cold(jurors=known), _says({}))
    assert (verdict.winner, verdict.readings) == (None, {"A": 6})


@pytest.mark.parametrize("mode", [PanelMode.ADAPTIVE, PanelMode.STRICT])
def test_of_the_first_panels_a_juror_without_a_ballot_is_replaced(mode: PanelMode) -> None:
    setup = _cold().model_copy(update={"mode": mode})
    lost, half = (one.ref for one in setup.roster[:2])

    def answer(it: Reading) -> Ballot:
        silent = it.juror.ref == lost or (it.juror.ref == half and it.order == AB)
        return (
            spoilt(it.order, it.juror.ref) if silent else leaning(it.order, 2, juror=it.juror.ref)
        )

    verdict, read = hold(setup, answer)
    assert {one.juror for one in read} == {one.ref for one in setup.roster[:5]}
    assert (verdict.winner, verdict.valid, verdict.invalid) == ("A", 7, 3)
    rest = next_readings(setup, SIDES, read[3:])
    assert {(it.juror.ref, it.order) for it in rest} == {(it.juror, it.order) for it in read[:3]}
    nobody = hold(setup, lambda it: spoilt(it.order, it.juror.ref))[1]
    assert len({one.juror for one in nobody}) == attendance(setup).most == MOST_JURORS


def test_a_resumed_cold_panel_asks_for_what_is_missing() -> None:
    setup = PanelSetup.model_validate_json(_cold().model_dump_json())
    _, read = hold(setup, _says({}))
    missing = next_readings(setup, SIDES, [one for one in read if one.order == AB])
    assert {(one.juror.ref, one.order) for one in missing} == {
        (one.juror, one.order) for one in read if one.order != AB
    }


def _installation(
    seed: int,
    broken: tuple[Margin | None, ...],
    debates: int,
    *,
    sway: float = 0.0,
    taste: int = 0,
    twice: bool = False,
) -> list[PastDebate]:
    """Return what simulated jurors said, some of whom see nothing, in six readings a debate.

    `sway` is by how much (sd) debates differ in what the order adds. The first jurors share a
    `taste` and hardly err about it; the others then see little each. `twice`: three jurors read,
    in both orders.
    """
    rng, past = Random(seed), list[PastDebate]()
    noise = 2.0 if taste else 0.8
    for number in range(debates):
        truth, ballots = rng.gauss(0, 1.1), []
        liked, swayed = rng.gauss(0, 1.1) if taste else 0.0, rng.gauss(0, sway) if sway else 0.0
        readers = rng.sample(range(len(broken)), 3 if twice else 6)
        for at, number_of in enumerate(sorted(readers * 2) if twice else readers):
            o, blind = 1 if (at + number) % 2 else -1, broken[number_of]
            felt = blind(rng, o) if blind else 1.5 * (truth + rng.gauss(0, noise))
            if number_of < taste:
                felt = 1.5 * (liked + rng.gauss(0, 0.3))
            points = max(-9, min(9, round(felt + o * swayed)))
            ballots.append(leaning(SIDES[::o], points, juror=f"online/juror-{number_of}"))
        past.append(PastDebate(tuple(ballots)))
    return past


@pytest.mark.parametrize("kind", [(coin,), (leaning_coin,), (first,), (first, second)],
                         ids=["coins", "leaning coins", "first", "first and second"])  # fmt: skip
@pytest.mark.parametrize("able", slow_after(1, [6, 3, 9]))
def test_jurors_that_see_nothing_weigh_nothing_however_many_they_are(
    able: int, kind: tuple[Margin, ...]
) -> None:
    broken = tuple(None if at < able else kind[at % len(kind)] for at in range(12))
    wrong = 0
    for seed in range(4):
        fit = fit_jurors(hear(_installation(seed, broken, 150)))
        for at, blind in enumerate(broken):
            one = fit.jurors[f"online/juror-{at}"]
            assert one.weight == 0 or one.sees >= SEES
            wrong += (one.sees < SEES) != (blind is not None)
    assert wrong <= 4  # of 48, by chance


def test_a_few_who_share_a_taste_do_not_make_the_others_pass_for_blind() -> None:
    for seed in (2, 3, 4):
        fit = fit_jurors(hear(_installation(seed, (None,) * 12, 200, taste=4)))
        by_number = [fit.jurors[f"online/juror-{at}"] for at in range(12)]
        assert all(one.sees >= SEES for one in by_number[4:])
        weights = [one.weight for one in by_number]
        assert sum(weights[:4]) < sum(weights) / 4  # a third of the jurors


def test_the_gate_sees_no_difference_by_chance() -> None:
    able = _installation(1, (None,) * 12, 200)
    assert compare_rules(able) > BEHIND
    assert compare_rules(able[:99]) == 0.0  # too few
    assert compare_rules([one._replace(blind=False) for one in able]) == 0.0


@pytest.mark.slow
def test_the_gate_hands_over_where_the_model_collapses_and_back_once_that_is_over() -> None:
    # What the order adds changes from debate to debate: the model takes it to be the same in all.
    able = (None,) * 12
    proven = _installation(1, able, 40, twice=True) + _installation(2, able, 110)
    swayed = proven + _installation(21, able, 200, sway=2.0)
    over = swayed + _installation(41, able, 300)
    rules = []
    for past in (proven, swayed, over):
        known = fit_all(past)
        setup = seat_panel(jurors(12), (), ordinal=1, seed=0, fit=known.model)
        assert setup.stake is None
        rules.append(hold(setup, _says({}))[0].rule)
    assert rules == ["model", "", "model"]
