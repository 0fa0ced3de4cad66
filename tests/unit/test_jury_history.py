"""What past ballots teach about jurors, who sits on a panel, and whether jurors see at all."""

import time
from collections.abc import Callable, Mapping, Sequence
from random import Random
from statistics import fmean, median
from typing import Any

import pytest
from hypothesis import given, strategies as st

from engine.jury.aggregate import UNPROVEN
from engine.jury.ballot import MOST_JURORS, JurorReading
from engine.jury.consensus import track
from engine.jury.fit import bet, fit_jurors
from engine.jury.fit_quality import compare_rules, fit_all
from engine.jury.history import HeardDebate, PairBallot, fit, hear
from engine.jury.plan import attendance, next_readings
from engine.jury.roster import PROVEN, PanelFit, combine, seat_panel, stake_of
from engine.store.learning import PastDebate
from engine.values.debate import (
    BEHIND,
    SEES,
    Fit,
    JurorFit,
    JurorHistory,
    Model,
    PanelMode,
    PanelSetup,
)
from engine.values.verdicts import TIE, Ballot
from tests.kit import some
from tests.slow import slow_after
from tests.unit.test_jury_aggregate import AB, BA, SIDES, ballot, hold, jurors, leaning, spoilt


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


def test_a_lean_to_the_side_shown_first_is_found_and_weights_follow_agreement() -> None:
    assert fit([]) == PanelFit()
    found = fit([debate._replace(human=None) for debate in _world(400)])
    assert found.history["first"].pos == pytest.approx(2, abs=0.4)
    assert abs(found.history["good"].pos) < 0.4
    assert found.history["good"].ballots == 400
    weights = {juror: item.weight for juror, item in found.history.items()}
    assert weights["good"] > weights["fair"] > weights["noise"] > 0
    assert sum(weights.values()) / 4 == pytest.approx(1)
    assert 0.1 < some(found.correlation) < 0.8
    assert found.slope == 0.9


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

    def weigh(labelled: int, first: list[PastDebate]) -> list[float]:
        history = fit([*unlabelled[labelled:], *first[:labelled]]).history
        return [history[juror].weight for juror in ("good", "fair", "noise", "first")]

    assert weigh(37, past) == weigh(37, unlabelled), "148 ballots"
    assert weigh(38, past) != weigh(38, unlabelled), "152 ballots"


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


def test_audits_do_not_weigh_and_open_invalid_and_many_sided_ballots_teach_nothing() -> None:
    sides = ("1", "2", "3")
    past = [
        PastDebate((_juror("x", AB, 3), _juror("y", BA, 3)), blind=False),
        PastDebate((spoilt(AB, "x"), spoilt(BA, "y"))),
        PastDebate((ballot(sides, dict.fromkeys(sides, 5), "1"),), human="1", z=1.0),
    ]
    assert fit(past).history == {}
    audited = []
    for debate in _world(60):
        audit = debate.ballots[0].model_copy(update={"audit": True, "juror": "late"})
        audited.append(debate._replace(ballots=(*debate.ballots, audit)))
    late = fit(audited).history["late"]
    assert (late.ballots, late.weight, late.correlation) == (60, 1.0, None)


def test_equal_margins_never_divide_by_nothing_and_a_handful_of_ballots_teaches_little() -> None:
    past = [PastDebate((_juror("x", AB, 0), _juror("y", BA, 0)), human="tie", z=0.0)] * 3000
    assert fit(past).history["x"] == JurorHistory(ballots=3000, pos=0, sd=0.5, weight=1.0)
    item = fit([PastDebate((_juror("x", AB, 9), _juror("y", BA, 9)))]).history["x"]
    assert abs(item.pos) < 1
    assert (item.weight, item.correlation) == (1.0, None)


@pytest.mark.slow
def test_ten_thousand_debates_are_fitted_in_seconds() -> None:
    past = _world(500) * 20
    started = time.process_time()
    fit(past)
    assert time.process_time() - started < 5


# --- How closely jurors follow what all of them see -----------------------------------------------


Scores = dict[str, float]
SEATS = 4


def _hear(
    sds: Mapping[str, float], herd: Sequence[str], debates: int, seed: int = 1
) -> tuple[list[Scores], list[float]]:
    """Seat four jurors on each debate, and return their signals and who truly won.

    `sds` are the jurors' errors; `herd` shares one more.
    """
    rng = Random(seed)
    voices, truths = [], []
    for _ in range(debates):
        truth, common = rng.gauss(0, 1), rng.gauss(0, 0.8)
        seated = rng.sample(sorted(sds), SEATS)
        voices.append(
            {
                juror: truth + rng.gauss(0, sds[juror]) + (common if juror in herd else 0)
                for juror in seated
            }
        )
        truths.append(1.0 if truth > 0 else -1.0)
    return voices, truths


def test_each_juror_is_found_to_be_as_good_as_it_is_also_if_asked_in_unclear_debates_alone() -> (
    None
):
    sds = {"fine": 0.3, "good": 0.6, "fair": 1.0, "poor": 1.5, "usual": 0.7}
    voices, _ = _hear(sds, (), 600)
    found = track(voices, [None] * 600)
    for juror, sd in sds.items():
        assert found[juror] == pytest.approx(1 / (1 + sd * sd) ** 0.5, abs=0.1)
    rng, voices = Random(3), []
    for _ in range(800):
        truth = rng.gauss(0, 1)
        heard = {juror: truth + rng.gauss(0, 0.7) for juror in ("one", "two", "three")}
        if abs(sum(heard.values())) < 1.4:
            heard["late"] = truth + rng.gauss(0, 0.7)
        voices.append(heard)
    found = track(voices, [None] * 800)
    assert found["late"] == pytest.approx(found["one"], abs=0.08)


HERD = ("h1", "h2", "h3", "h4")
OTHERS = ("o1", "o2", "o3", "o4", "o5", "o6", "o7")


def _gap(found: Mapping[str, float], others: Sequence[str]) -> float:
    """By how much the others are thought to track better than the herd."""
    return fmean(found[juror] for juror in others) - fmean(found[juror] for juror in HERD)


def test_a_few_that_err_together_are_seen_through_and_people_say_which_half_does() -> None:
    voices, _ = _hear(dict.fromkeys(HERD + OTHERS, 0.7), HERD, 800)
    assert _gap(track(voices, [None] * 800), OTHERS) > 0.04
    others = OTHERS[:4]
    voices, truths = _hear(dict.fromkeys(HERD + others, 0.7), HERD, 800)
    told = _gap(track(voices, [*[None] * 600, *truths[-200:]]), others)
    assert told > 0.05
    assert told > _gap(track(voices, [None] * 800), others)


def test_votes_that_follow_nothing_change_little() -> None:
    voices, _ = _hear(dict.fromkeys(HERD + OTHERS, 0.7), HERD, 600)
    rng = Random(8)
    unheard = track(voices, [None] * 600)
    noise = track(voices, [rng.choice([-1.0, 0.0, 1.0]) for _ in voices])
    assert all(noise[juror] == pytest.approx(r, abs=0.12) for juror, r in unheard.items())


def test_little_and_jurors_that_never_agree_teach_nothing() -> None:
    for voices in (
        [],
        [{"x": 1.0}] * 20,
        [{"x": 1.0, "y": 1.0}] * 2,
        [{"x": 0.0, "y": 0.0}] * 50,
        [{"x": 1.0, "y": -1.0}, {"x": -1.0, "y": 1.0}] * 200,
    ):
        assert track(voices, [1.0] * len(voices)) == {}
    met = track([{"x": 1.0, "y": 1.0}] * 3 + [{"x": 1.0, "new": 1.0}] * 2, [None] * 5)
    assert met.keys() == {"x", "y"}


SIGNALS = st.floats(-2.85, 2.85)
VOICES = st.lists(
    st.dictionaries(st.sampled_from("abcde"), SIGNALS, max_size=5), min_size=1, max_size=30
)
VOTES = st.sampled_from([None, -1.0, 0.0, 1.0])


@given(voices=VOICES, data=st.data())
def test_which_side_comes_first_does_not_matter(voices: list[Scores], data: st.DataObject) -> None:
    people = [data.draw(VOTES) for _ in voices]
    turned = [data.draw(st.sampled_from([1, -1])) for _ in voices]
    exchanged = track(
        [{j: s * x for j, x in heard.items()} for heard, s in zip(voices, turned, strict=True)],
        [vote and s * vote for vote, s in zip(people, turned, strict=True)],
    )
    found = track(voices, people)
    assert exchanged == pytest.approx(found, abs=1e-6)
    assert all(0.05 <= r <= 0.95 for r in found.values())


DEBATERS = tuple(
    map(Model.parse, ("online/deepseek/deepseek-v3", "online/meta-llama/llama-3.3-70b"))
)


def _seat(*roster: str, debaters: tuple[Model, ...] = DEBATERS, **options: Any) -> PanelSetup:
    models = [Model.parse(text) for text in roster]
    return seat_panel(models, debaters, **({"ordinal": 1, "seed": 1} | options))


def _refs(setup: PanelSetup) -> list[str]:
    return [juror.ref for juror in setup.roster]


def test_families_of_the_debaters_step_down_while_others_exist() -> None:
    setup = _seat("a/deepseek-r1", "a/qwen-3", "a/glm-5")
    assert _refs(setup) == ["a/qwen-3", "a/glm-5"]
    assert [juror.ref for juror in setup.recused] == ["a/deepseek-r1"]
    assert not setup.recusal_failed
    # A maker and its models are one family.
    setup = _seat("local/llama-3.1-8b", "a/claude-4", "b/anthropic/claude-5", "a/qwen-3")
    assert _refs(setup) == ["a/claude-4", "a/qwen-3", "b/anthropic/claude-5"]
    setup = _seat("a/deepseek-r1", "a/llama-3")
    assert _refs(setup) == ["a/deepseek-r1", "a/llama-3"]
    assert (setup.recusal_failed, setup.recused) == (True, ())


def test_one_of_each_family_comes_before_a_second() -> None:
    setup = _seat("a/qwen-1", "a/qwen-2", "a/glm-1", "a/qwen-3", "a/kimi-1", "a/glm-2", "a/qwen-1")
    assert _refs(setup) == ["a/qwen-1", "a/glm-1", "a/kimi-1", "a/qwen-2", "a/glm-2", "a/qwen-3"]


def test_jurors_with_thirty_ballots_stand_by_their_weight_and_every_fifth_debate_in_rotation() -> (
    None
):
    history = {
        "a/qwen-1": JurorHistory(ballots=30, weight=0.4),
        "a/glm-1": JurorHistory(ballots=29, weight=9.0),
        "a/kimi-1": JurorHistory(ballots=99, weight=1.6),
        "a/gone-1": JurorHistory(ballots=99, weight=5.0),
    }
    sat = [
        _seat("a/qwen-1", "a/glm-1", "a/kimi-1", learnt=PanelFit(history=history), ordinal=ordinal)
        for ordinal in (1, 4, 5, 6, 10, 15)
    ]
    assert _refs(sat[0]) == ["a/kimi-1", "a/glm-1", "a/qwen-1"]
    assert "a/gone-1" not in sat[0].history
    kimi, glm, qwen = _refs(sat[0])
    assert [_refs(setup)[0] for setup in sat] == [kimi, kimi, glm, kimi, kimi, qwen]
    assert [setup.first_order for setup in sat] == ["BA", "AB", "BA", "AB", "AB", "BA"]


def test_a_tenth_of_debates_is_audited_by_their_seed() -> None:
    audited = [_seat("a/qwen-1", seed=seed).audit for seed in range(2000)]
    assert 160 <= sum(audited) <= 240
    assert audited == [_seat("a/qwen-1", seed=seed).audit for seed in range(2000)]
    strict = [_seat("a/qwen-1", seed=seed, mode=PanelMode.STRICT).audit for seed in range(200)]
    assert not any(strict)


@given(
    st.lists(st.sampled_from(["a/qwen-1", "a/qwen-2", "b/glm-1", "a/deepseek-2"]), unique=True),
    st.integers(0, 100),
)
def test_everybody_sits_or_is_recused(roster: list[str], ordinal: int) -> None:
    setup = _seat(*roster, ordinal=ordinal)
    assert sorted(_refs(setup) + [juror.ref for juror in setup.recused]) == sorted(roster)
    assert bool(setup.roster) == bool(roster)


# --- Whether jurors have shown that they see: a bet that chance does not win ----------------------


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
    return [
        HeardDebate(
            tuple(
                PairBallot(f"juror-{at}", f"family-{at}", o, margin(rng, o), 0.0)
                for at in range(count)
                for o in (1, -1)
            )
        )
        for _ in range(debates)
    ]


@pytest.mark.parametrize("margin", slow_after(1, [coin, first, leaning_coin, second]))
def test_chance_passes_the_cold_start_once_in_a_hundred_at_most(margin: Margin) -> None:
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
                PairBallot(f"juror-{at}", "", o, 1.2 * (seen + 0.3 * o + rng.gauss(0, 0.55)), 0.0)
                for at, seen in felt.items()
                for o in (1, -1)
            ]
            held.append(HeardDebate(tuple(ballots)))
            stakes = bet(held)
        after.append(len(held))
    assert 8 <= median(after) <= 15


def test_one_able_juror_among_three_is_enough() -> None:
    rng, held = Random(3), []
    for side in rng.choices((1, -1), k=60):
        able = [PairBallot("able", "", o, side * 3.0, 0.0) for o in (1, -1)]
        coins = [
            PairBallot(f"coin-{at}", "", o, coin(rng, o), 0.0) for at in (0, 1) for o in (1, -1)
        ]
        held.append(HeardDebate((*able, *coins)))
    stakes = bet(held)
    assert stakes["able"] > 10
    assert combine(stakes, stakes) >= PROVEN


def test_faint_pairs_and_unheard_jurors_prove_nothing_and_different_jurors_who_agree_do() -> None:
    faint = (PairBallot("a", "", 1, 0.3, 0), PairBallot("a", "", -1, 0.2, 0))
    assert bet([HeardDebate(faint)]) == {}
    assert bet([HeardDebate((PairBallot("a", "", 1, 3.0, 0),))]) == {}
    assert combine({}, ("a", "b")) == 1
    assert combine({"a": 2000.0, "b": 2000.0}, ("a", "b")) >= PROVEN
    known = {juror.ref: JurorFit(family="f", ballots=20) for juror in ROSTER[:2]}
    assert stake_of(Fit(evidence=5.0, jurors=known), list(known)) is None
    assert stake_of(Fit(evidence=3.0, jurors=known), list(known)) == 1
    strangers = [juror.ref for juror in ROSTER[4:]]
    assert stake_of(Fit(evidence=5.0, jurors=known), strangers) == 1  # a new roster has to show it


def _cold(roster: tuple[Model, ...] = ROSTER, **fit: object) -> PanelSetup:
    return seat_panel(
        roster, (), ordinal=1, seed=0, learnt=PanelFit(model=Fit().model_copy(update=fit))
    )


def _says(margins: dict[str, int]) -> Callable[[JurorReading], Ballot]:
    return lambda it: leaning(it.order, margins.get(it.juror.ref, 2), juror=it.juror.ref)


def test_the_first_panels_read_in_both_orders_and_agree_or_give_no_verdict_yet() -> None:
    setup = _cold()
    verdict, read = hold(setup, _says({}))
    done = [one for one in read if one.order == AB]
    resumed = PanelSetup.model_validate_json(setup.model_dump_json())
    missing = {(one.juror.ref, one.order) for one in next_readings(resumed, SIDES, done)}
    assert missing == {(one.juror, one.order) for one in read if one.order != AB}
    assert len(read) == len({(one.juror, one.order) for one in read}) == 6
    assert len({one.juror for one in read}) == 3
    assert (verdict.winner, verdict.problem, verdict.readings) == ("A", "", {})
    verdict, _ = hold(setup, _says({read[0].juror: -2}))
    assert (verdict.winner, verdict.problem) == (None, UNPROVEN)
    assert (verdict.p, verdict.readings) == ({}, {"A": 4, "B": 2})
    verdict, _ = hold(setup, _says({read[0].juror: 0}))
    assert (verdict.winner, verdict.readings) == (None, {"A": 4, TIE: 2})


def test_agreement_of_few_or_against_the_record_decides_nothing_except_in_a_rehearsal() -> None:
    verdict, read = hold(_cold(ROSTER[:2]), _says({}))
    assert (verdict.winner, verdict.readings, len(read)) == (None, {"A": 4}, 4)
    made_up = tuple(Model(backend="rehearsal", name=f"j{at}", family=f"j{at}") for at in range(2))
    assert hold(_cold(made_up), _says({}))[0].winner == "A"
    assert hold(_cold(made_up), _says({"rehearsal/j0": 0}))[0].winner == "A"  # a tie is no dissent
    assert hold(_cold(made_up), _says({"rehearsal/j0": -2}))[0].winner is None
    known = {juror.ref: JurorFit(family="f", stake=-2.0) for juror in ROSTER}
    verdict, _ = hold(_cold(jurors=known), _says({}))
    assert (verdict.winner, verdict.readings) == (None, {"A": 6})


@pytest.mark.parametrize("mode", [PanelMode.ADAPTIVE, PanelMode.STRICT])
def test_of_the_first_panels_a_juror_without_a_ballot_is_replaced(mode: PanelMode) -> None:
    setup = _cold().model_copy(update={"mode": mode})
    lost, half = (one.ref for one in setup.roster[:2])

    def answer(it: JurorReading) -> Ballot:
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
def test_jurors_that_see_nothing_weigh_nothing(able: int, kind: tuple[Margin, ...]) -> None:
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
        setup = seat_panel(jurors(12), (), ordinal=1, seed=0, learnt=PanelFit(model=known.model))
        assert setup.stake is None
        rules.append(hold(setup, _says({}))[0].rule)
    assert rules == ["model", "", "model"]
