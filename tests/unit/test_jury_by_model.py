"""Panels that the model of jurors seats, stops and decides."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import pytest

from engine.jury.aggregate import aggregate
from engine.jury.ballot import Reading
from engine.jury.fitting import fit_jurors
from engine.jury.hearing import hear
from engine.jury.history import fit
from engine.jury.model import posterior, signal
from engine.jury.plan import WORTHWHILE, next_readings
from engine.jury.roster import seat_panel
from engine.jury.sight import stake_of
from engine.store.journal import PastDebate
from engine.values.debate import Fit, JurorFit, PanelMode, PanelSetup
from engine.values.judging import TIE, Ballot
from tests.unit.jury_cases import AB, BA, SIDES, hold, jurors, leaning, panel, spoilt

ROSTER = jurors(8)


def _known(**changes: object) -> Fit:
    one = JurorFit(family="f", ballots=100, lean=0.5, spread=1.5, named=0.1, skill_error=0.1)
    fitted = {
        juror.ref: one.model_copy(
            update={"family": juror.family, "skill": 1 + at / 10, "lean_error": at / 100}
        )
        for at, juror in enumerate(ROSTER)
    }
    found = Fit(
        number=7, debates=500, evidence=9.0,
        shared=0.3, kin=0.05, people=0.7, worth=0.2, jurors=fitted,
    )  # fmt: skip
    return found.model_copy(update=changes)


def _seat(fit: Fit | None, ordinal: int = 1, seed: int = 0) -> PanelSetup:
    return seat_panel(ROSTER, (), ordinal=ordinal, seed=seed, fit=fit)


def _seeing(reading: Reading, margin: int = 2) -> Ballot:
    return leaning(reading.order, margin, juror=reading.juror.ref, audit=reading.audit)


def test_a_verdict_is_the_models_and_says_what_it_rests_on() -> None:
    fit, setup = _known(), _seat(_known())
    ballots = [
        leaning(AB, 2, juror=ROSTER[0].ref),
        leaning(BA, 1, juror=ROSTER[1].ref),
        leaning(AB, -1, juror=ROSTER[2].ref),
    ]
    verdict, filled = aggregate(setup, SIDES, ballots)
    said = {
        one.juror: signal(fit, one.juror, 1 if one.order == AB else -1, margin, named)
        for one, margin, named in zip(ballots, (2, 1, -1), (1, 1, -1), strict=True)
    }
    found = posterior(fit, said)
    assert verdict.p["A"] == pytest.approx(found.p)
    assert verdict.z == pytest.approx(found.mean / math.sqrt(found.variance))
    assert (verdict.winner, verdict.rule, verdict.fit) == ("A", "model", 7)
    assert verdict.variance == pytest.approx(found.variance)
    assert verdict.gain is not None
    assert [(one.signal or {})["A"] for one in filled] == pytest.approx(list(said.values()))
    whole = sum((one.weight or 0) * (one.signal or {})["A"] for one in filled)
    assert whole == pytest.approx(found.mean)
    assert {one.pos for one in filled} == {0.5}


def test_exchanging_the_sides_mirrors_the_verdict_and_a_split_is_a_tie() -> None:
    setup = _seat(_known())
    ballots = [leaning(AB, 2, juror=ROSTER[0].ref), leaning(BA, -1, juror=ROSTER[1].ref)]
    flipped = [
        leaning(BA, -2, juror=ROSTER[0].ref),
        leaning(AB, 1, juror=ROSTER[1].ref),
    ]
    one, other = (aggregate(setup, SIDES, cast).verdict for cast in (ballots, flipped))
    assert one.p["A"] == pytest.approx(other.p["B"])
    fair = _known(jurors={ref: one.model_copy(update={"skill": 1.0, "lean": 0.0, "named": 0.0})
                          for ref, one in _known().jurors.items()})  # fmt: skip
    split = [leaning(AB, 2, juror=ROSTER[0].ref), leaning(BA, -2, juror=ROSTER[1].ref)]
    assert aggregate(_seat(fair), SIDES, split).verdict.winner == TIE


def test_several_contenders_are_judged_by_contrasts() -> None:
    sides = ("A", "B", "C")
    setup = _seat(_known())
    orders = [("A", "B", "C"), ("B", "C", "A"), ("C", "A", "B")]
    points = {"A": 9, "B": 6, "C": 4}
    cast = [
        leaning(AB, 1, juror=juror.ref).model_copy(
            update={
                "order": order,
                "scores": {side: dict.fromkeys(("logic", "evidence", "responsiveness", "honesty"),
                                               points[side]) for side in order},
                "verdict": "A",
            }
        )
        for juror, order in zip(ROSTER[:3], orders, strict=True)
    ]  # fmt: skip
    verdict = aggregate(setup, sides, cast).verdict
    assert verdict.winner == "A"
    assert verdict.rule == "model"
    assert verdict.p["A"] > verdict.p["B"] > verdict.p["C"]
    assert sum(verdict.p.values()) == pytest.approx(1)


def test_those_who_tell_most_are_asked_until_no_call_is_worth_it() -> None:
    setup = _seat(_known())
    assert [juror.ref for juror in setup.roster[:2]] == ["online/juror-7", "online/juror-6"]
    clear, read = hold(setup, lambda reading: _seeing(reading, 8))
    assert 2 <= len(read) <= 3
    assert clear.gain is not None
    assert clear.gain < WORTHWHILE
    margins = {ROSTER[7].ref: 2, ROSTER[6].ref: -2}
    split, read = hold(setup, lambda reading: _seeing(reading, margins.get(reading.juror.ref, 0)))
    assert 3 < len(read) <= 8
    assert split.gain is not None
    assert split.gain < WORTHWHILE or len(read) == 8


def test_a_small_roster_reads_in_other_orders_and_a_lone_juror_gives_a_verdict() -> None:
    for count in (1, 3):
        setup = seat_panel(ROSTER, ROSTER[count:], ordinal=1, seed=0, fit=_known())
        verdict, read = hold(setup, lambda reading: _seeing(reading, 0))
        assert len({(one.juror, one.order) for one in read}) == len(read) == 2 * count
        assert (verdict.winner, verdict.rule) == (TIE, "model")
        assert hold(setup, _seeing)[0].winner == "A"


def test_a_spoilt_ballot_is_made_up_for() -> None:
    def judge(reading: Reading) -> Ballot:
        if reading.juror == ROSTER[7]:
            return spoilt(reading.order, reading.juror.ref)
        return _seeing(reading, 8)

    verdict, read = hold(_seat(_known()), judge)
    assert sum(one.valid for one in read) >= 2
    assert (verdict.winner, verdict.rule) == ("A", "model")


def test_the_balanced_rule_decides_where_held_back_ballots_bear_the_model_out_less() -> None:
    setup = _seat(_known(ahead=-1.6))
    verdict, read = hold(setup, lambda reading: _seeing(reading, 8))
    assert (verdict.winner, verdict.rule, len(read)) == ("A", "", 3)
    assert hold(_seat(_known(ahead=-1.4)), _seeing)[0].rule == "model"


def test_jurors_that_see_nothing_weigh_nothing_and_are_heard_every_fifth_debate() -> None:
    blind = {
        ref: one.model_copy(update={"sees": 0.1, "skill_error": 0.9, "ballots": 60})
        for ref, one in list(_known().jurors.items())[4:]
    }
    fit = _known(jurors=_known().jurors | blind)
    sat = [seat_panel(ROSTER, (), ordinal=ordinal, seed=0, fit=fit) for ordinal in range(1, 11)]
    assert [setup.wave for setup in sat] == [0] * 10  # the able ones are known well enough
    first = [setup.roster[0].ref in blind for setup in sat]
    assert first == [False] * 4 + [True] + [False] * 4 + [True]
    verdict, ballots = hold(sat[4], lambda it: _seeing(it, -9 if it.juror.ref in blind else 2))
    assert verdict.winner == "A"
    assert {one.weight for one in ballots if one.juror in blind} == {0}


def test_an_interrupted_panel_asks_for_what_is_missing() -> None:
    setup = _seat(_known())
    first = next_readings(setup, SIDES, ())
    ballots = [_seeing(first[1])]
    assert next_readings(setup, SIDES, ballots) == first[:1]


def test_six_sit_while_skills_are_little_known_and_the_least_known_explore() -> None:
    unsure = {
        ref: one.model_copy(update={"skill_error": 0.35, "ballots": 20})
        for ref, one in _known().jurors.items()
    }
    setup = _seat(_known(jurors=unsure, debates=100))
    assert (setup.wave, len(next_readings(setup, SIDES, ()))) == (6, 6)
    assert _seat(_known(jurors=unsure, debates=200)).wave == 0  # it knows as much as it will
    known = _known().jurors
    known = known | {ROSTER[0].ref: known[ROSTER[0].ref].model_copy(update={"ballots": 40})}
    assert _seat(_known(jurors=known), ordinal=5).roster[0] == ROSTER[0]
    assert _seat(_known(jurors=known), ordinal=6).roster[0] != ROSTER[0]
    new = {ref: one for ref, one in known.items() if ref != ROSTER[3].ref}
    assert _seat(_known(jurors=new), ordinal=6).roster[0] == ROSTER[3]


def test_a_new_juror_is_read_and_weighs_nothing_yet() -> None:
    new = {ref: one for ref, one in _known().jurors.items() if ref != ROSTER[3].ref}
    setup = _seat(_known(jurors=new))
    ballots = [leaning(AB, 2, juror=ROSTER[0].ref), leaning(BA, 1, juror=ROSTER[1].ref)]
    stranger = leaning(AB, -9, juror=ROSTER[3].ref)
    verdict, filled = aggregate(setup, SIDES, [*ballots, stranger])
    assert verdict.p == aggregate(setup, SIDES, ballots).verdict.p
    assert filled[2].weight == 0
    assert filled[2].signal is not None


def test_the_audit_asks_the_juror_whose_lean_is_known_least() -> None:
    seeds = [seed for seed in range(200) if _seat(_known(), seed=seed).audit]
    assert 3 <= len(seeds) <= 20
    _, read = hold(_seat(_known(), seed=seeds[0]), lambda reading: _seeing(reading, 8))
    assert [one.juror for one in read if one.audit] == ["online/juror-7"]


def test_without_a_fit_or_with_another_mode_nothing_changes() -> None:
    old = _seat(None)
    assert (old.fit, old.wave) == (None, 0)
    strict = seat_panel(ROSTER, (), ordinal=1, seed=0, mode=PanelMode.STRICT, fit=_known())
    verdict, _ = hold(strict, _seeing)
    assert verdict.rule == ""
    assert (
        aggregate(panel(), SIDES, [leaning(AB, 1), leaning(BA, 1, juror="y")]).verdict.gain is None
    )


Strength = Callable[[Random], int]


@pytest.mark.parametrize(
    "strength",
    [
        lambda rng: 3,
        pytest.param(lambda rng: -3, marks=pytest.mark.slow),
        pytest.param(lambda rng: rng.randint(1, 9), marks=pytest.mark.slow),
        lambda rng: -rng.randint(1, 9),
    ],
    ids=["first", "second", "first, by chance", "second, by chance"],
)
def test_order_alone_never_decides_at_any_moment(strength: Strength) -> None:
    """From the first debate on, over every refit, not once."""
    assert _decided(lambda rng, reading: strength(rng) * (1 if reading.order == AB else -1)) == []


def test_jurors_that_toss_a_coin_decide_next_to_nothing_from_the_first_debate_on() -> None:
    decided = _decided(lambda rng, reading: rng.choice((-1, 1)) * rng.randint(1, 9), debates=200)
    assert len(decided) <= 4


def _decided(judge: Callable[[Random, Reading], int], debates: int = 150) -> list[int]:
    """Return the debates that had a winner, of an installation with such jurors."""
    rng, past, found = Random(8), list[PastDebate](), []
    learnt, model = fit(()), fit_jurors(())
    for number in range(1, debates + 1):
        setup = seat_panel(
            ROSTER, (), ordinal=number, seed=number, history=learnt.history, fit=model
        )
        verdict, ballots = hold(
            setup,
            lambda reading: leaning(
                reading.order, judge(rng, reading), juror=reading.juror.ref, audit=reading.audit
            ),
        )
        if verdict.winner not in (TIE, None):
            found.append(number)
        past.append(PastDebate(ballots, z=verdict.z))
        if number % 20 == 0:
            learnt, model = fit(past), fit_jurors(hear(past), model)
            assert stake_of(model, model.jurors) is not None
    return found


def test_a_panel_of_opposite_preferences_never_decides() -> None:
    """Each of its debates could look like agreement; both orders of each juror show it."""
    prefers = {juror.ref: 1 if at % 2 else -1 for at, juror in enumerate(ROSTER)}

    def judge(_: Random, reading: Reading) -> int:
        return 3 * prefers[reading.juror.ref] * (1 if reading.order == AB else -1)

    assert _decided(judge, debates=100) == []
    strict = seat_panel(ROSTER, (), ordinal=1, seed=1, mode=PanelMode.STRICT)
    verdict, _ = hold(
        strict,
        lambda reading: leaning(
            reading.order, judge(Random(0), reading), juror=reading.juror.ref, audit=reading.audit
        ),
    )
    assert verdict.winner == TIE
