"""The jury benchmark: its jurors err as they are said to, and its table is what was measured."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import fmean, pvariance

import numpy as np
import pytest

from bench.wheel.jury import Simulation, measure, run_jury
from bench.wheel.jury_panels import (
    PanelCall,
    ask_naive,
    ask_swapped,
    make_knowing,
    make_oracle,
    make_thrifty,
)
from bench.wheel.jury_scores import (
    BALANCED,
    KNOWING,
    LABELLED,
    NAIVE,
    ORACLE,
    SWAPPED,
    UNCALIBRATED,
    UNLABELLED,
    PanelLine,
    PanelScore,
    Scores,
    render,
    score_calls,
    summarise,
)
from bench.wheel.jury_world import (
    INVALID,
    MISSPECIFIED,
    SHOWING,
    SIDES,
    STANDARD,
    WORLDS,
    Case,
    Court,
    know_exactly,
    make_case,
    make_court,
    make_rng,
    weigh_exactly,
    weigh_perfectly,
)
from engine.jury.model import weigh
from engine.values.errors import UsageError
from engine.values.verdicts import TIE
from tests.kit import HANG_SECONDS

ROOT = Path(__file__).parents[2]
DEFAULT, MILD, HARSH, HERD = WORLDS
MANY = 300
# Every worker imports the program that started it, under another name.
PROGRAM = """
from pathlib import Path

if __name__ != "__main__":
    Path(__file__).with_name("worker").touch()

from bot.cli import main

if __name__ == "__main__":
    main()
"""


def _cases(seed: int = 1, count: int = MANY) -> list[Case]:
    rng = make_rng("default", seed)
    court = make_court(DEFAULT, rng)
    return [make_case(court, rng) for _ in range(count)]


@pytest.fixture(scope="module")
def scores() -> Scores:
    """What every panel got in one installation of the harsh world."""
    return measure(HARSH, 1, Simulation(range(1), 400, 200))


def test_a_seed_gives_the_same_figures_again() -> None:
    plan = Simulation(range(1), 20, 200)
    assert measure(HERD, 7, plan) == measure(HERD, 7, plan)
    assert measure(HERD, 7, plan) != measure(HERD, 8, plan)


def test_nobody_beats_the_oracle_and_everybody_beats_a_coin(scores: Scores) -> None:
    best = scores[ORACLE].accuracy
    assert all(0.5 < score.accuracy <= best for score in scores.values())


def test_order_fools_the_naive_and_not_the_product(scores: Scores) -> None:
    assert scores[NAIVE].lean > 0.1
    for panel in (SWAPPED, BALANCED, UNCALIBRATED, UNLABELLED, LABELLED):
        assert abs(scores[panel].lean) < 0.05
        assert scores[panel].accuracy > scores[NAIVE].accuracy


def test_shown_as_spoken_a_lean_to_what_stands_first_is_for_one_side_in_both_orders() -> None:
    leaning = SHOWING[-2:]
    for world, named in zip(leaning, ({"A", "B"}, {"A"}), strict=True):
        rng = make_rng(world.name, 1)
        case = make_case(make_court(world, rng), rng)
        asked = ((at, order) for at in range(0, 12, 2) for order in (SIDES, SIDES[::-1]))
        said = {case.ask(at, order, blind=True).verdict for at, order in asked}
        assert said - {TIE, None} == named


def test_the_product_asks_fewer_than_the_others_and_audits_a_tenth(scores: Scores) -> None:
    assert scores[NAIVE].calls == scores[SWAPPED].calls == 6
    assert 3 <= scores[BALANCED].calls <= 4.6
    assert 0.1 < scores[BALANCED].audits < 0.8
    assert 2 <= scores[UNLABELLED].calls <= 3.4
    assert 0.03 < scores[UNLABELLED].audits < 0.2
    assert all(scores[panel].cold for panel in (BALANCED, UNCALIBRATED, UNLABELLED))
    assert sum(one.n for one in scores[UNLABELLED].chances) == 400


def test_worlds_that_the_model_does_not_expect_are_what_they_say() -> None:
    worlds = {world.name: world for world in MISSPECIFIED}
    drifting = make_court(worlds["drifting"], make_rng("drifting", 1))
    first, last = drifting.at(0)[0].error, drifting.at(1)[0].error
    assert last == pytest.approx(4 * first)
    replaced = make_court(worlds["replaced"], make_rng("replaced", 1))
    before, after = replaced.at(0.4)[1], replaced.at(0.6)[1]
    assert before.model == after.model
    assert before.error != after.error
    invalid = make_court(worlds["invalid"], make_rng("invalid", 1))
    assert sum(juror.invalid == 0.3 for juror in invalid.jurors) == 4
    for name in ("heavy tails", "own halved", "length", "shared doubled", "shared halved"):
        rng = make_rng(name, 1)
        court = make_court(worlds[name], rng)
        errors = [case.felt[0] - case.truth for case in (make_case(court, rng) for _ in range(900))]
        shared, own = worlds[name].shared, court.jurors[0].error ** 2 * 0.6
        expected = shared + own + court.jurors[0].length ** 2
        # The variance of heavy tails is itself uncertain.
        near = 0.6 if worlds[name].heavy else 0.25
        assert pvariance(errors) == pytest.approx(expected, rel=near)


def test_nine_jurors_are_worth_about_three_votes() -> None:
    means, alone = [], []
    for seed in range(40):
        for case in _cases(seed, 50):
            errors = [felt - case.truth for felt in case.felt[:9]]
            means.append(fmean(errors))
            alone.append(errors[0])
    assert 2.0 < pvariance(alone) / pvariance(means) < 4.0


def test_one_juror_is_right_in_seven_of_ten() -> None:
    found = []
    for seed in range(30):
        for case in _cases(seed, 50):
            verdict = case.ask(0, SIDES, blind=True).verdict
            found.append(0.5 if verdict == TIE else float(verdict == case.winner))
    assert 0.68 < fmean(found) < 0.77


def test_jurors_favour_the_side_shown_first_and_sometimes_say_nothing_usable() -> None:
    first = [case.ask(0, SIDES, blind=True) for case in _cases()]
    second = [case.ask(0, SIDES[::-1], blind=True) for case in _cases()]
    lean = _case_court().jurors[0].position
    wins = [sum(said.verdict == "A" for said in group) for group in (first, second)]
    assert (wins[0] > wins[1]) == (lean > 0)
    invalid = sum(said.points is None for said in first + second)
    assert 0 < invalid < 4 * INVALID * len(first + second)


def _case_court() -> Court:
    return make_court(DEFAULT, make_rng("default", 1))


def test_the_oracle_takes_the_best_and_trusts_a_herd_less() -> None:
    plain = make_court(DEFAULT, make_rng("default", 3))
    weights = weigh_perfectly(plain)
    by_skill = sorted(range(12), key=lambda at: plain.jurors[at].error)
    assert sorted(weights, key=lambda at: -weights[at]) == by_skill[:6]
    herd = make_court(HERD, make_rng("herd", 3))
    alike = weigh_perfectly(Court(DEFAULT, herd.jurors))
    assert _herd_share(herd, weigh_perfectly(herd)) < _herd_share(herd, alike)


def _herd_share(court: Court, weights: dict[int, float]) -> float:
    herd = sum(weight for at, weight in weights.items() if court.jurors[at].in_herd)
    return herd / sum(weights.values())


def test_the_others_are_what_they_say() -> None:
    for case in _cases(count=30):
        said = [case.ask(at, SIDES, blind=False).verdict for at in range(6)]
        a, b = said.count("A"), said.count("B")
        assert ask_naive(case).winner == ("A" if a > b else "B" if b > a else TIE)
        assert ask_swapped(case).calls == 6
        assert make_oracle(case.court)(case).winner in SIDES


def test_six_with_exact_weights_read_ballots_of_those_who_may_sit() -> None:
    cases = [case for seed in range(6) for case in _cases(seed, 100)]
    rights = []
    for case in cases:
        call = make_knowing(case.court)(case)
        families = {model.family for model in case.debaters}
        read = {at for at, order, blind in case.made if blind}
        assert len(read) == 6
        assert not {case.court.roster[at].family for at in read} & families
        assert call.calls <= 6
        oracle = make_oracle(case.court)(case)
        rights.append([one.winner == case.winner for one in (oracle, call)])
    best, six = (fmean(one) for one in zip(*rights, strict=True))
    assert 0.78 < six < best + 0.02


def test_the_table_has_a_row_for_each_panel_and_a_column_for_each_world() -> None:
    line = PanelLine(UNLABELLED, 80.0, 93.25, 3.0, -0.25, 4.0, 0.4, of_six=97.0, interval_six=1.0)
    worse = line._replace(share=88.0, interval=4.0, lean=0.5, of_six=95.0, interval_six=2.4)
    parts = render({"mild": [line], "herd": [worse]}).split("\n\n")
    *tables, ahead = [part.splitlines() for part in parts]
    columns = ["average", "±", "worst", "±", "mild", "herd", "calls", "audits", "lean"]
    assert [head.split()[-9:] for head, _ in tables] == [columns, columns]
    assert [head.split("'")[0] for head, _ in tables] == ["of six ballots", "of impressions"]
    of_six, share = (row.split()[-9:] for _, row in tables)
    assert of_six == ["96.0", "1.3", "95.0", "2.4", "97.0", "95.0", "4.00", "0.40", "0.50"]
    assert share == ["90.6", "2.5", "88.0", "4.0", "93.2", "88.0", "4.00", "0.40", "0.50"]
    assert [row.split()[0] for row in ahead] == ["ahead", "mild", "herd"]


def test_shares_and_intervals_are_those_of_a_regression_through_the_origin() -> None:
    from scipy.stats import t  # type: ignore[import-untyped]

    """Beside them, the ratio's error by resampling installations."""
    rng = np.random.default_rng(3)
    oracle = 0.33 + rng.normal(0, 0.01, 40)
    six = 0.97 * oracle + rng.normal(0, 0.003, 40)
    panel = 0.95 * oracle + rng.normal(0, 0.005, 40)
    behind = panel - 0.02 + rng.normal(0, 0.002, 40)

    def score(gain: float, cold: float | None = None) -> PanelScore:
        return PanelScore(accuracy=0.5 + gain, lean=gain / 100, calls=4, audits=0, cold=cold)

    found = [
        {ORACLE: score(a), KNOWING: score(b), UNLABELLED: score(c, 0.8), BALANCED: score(d, 0.79)}
        for a, b, c, d in zip(oracle, six, panel, behind, strict=True)
    ]
    lines = {one.panel: one for one in summarise(found)}
    line = lines[UNLABELLED]
    assert line.over_unlabelled == 0
    assert lines[BALANCED].over_unlabelled == pytest.approx(-line.ahead)
    assert line.share == pytest.approx(100 * panel.sum() / oracle.sum())
    assert line.of_six == pytest.approx(100 * panel.sum() / six.sum())
    assert line.ahead == pytest.approx(100 * (panel - behind).sum() / six.sum())
    assert (line.cold_ahead, line.lean) == pytest.approx((1.0, panel.mean()))
    drawn = rng.integers(0, 40, (4000, 40))
    for interval, top, whole in (
        (line.interval, panel, oracle),
        (line.interval_six, panel, six),
        (line.interval_ahead, panel - behind, six),
    ):
        again = 100 * top[drawn].sum(1) / whole[drawn].sum(1)
        assert interval == pytest.approx(t.ppf(0.975, 39) * again.std(), rel=0.1)
    three = [{name: score(0.3 + at / 100) for name in found[0]} for at in range(3)]
    lean = next(summarise(three)).interval_lean
    assert lean == pytest.approx(t.ppf(0.975, 2) * 0.01 / math.sqrt(3), rel=0.04)


def test_what_p_misses_is_what_it_would_miss_on_average_if_it_is_right() -> None:
    """A panel whose p is the chance given what all share; then one that is twice as sure."""
    cases = [case for seed in range(8) for case in _cases(seed)]
    off = []
    for sure in (1, 2):
        p = [STANDARD.cdf(sure * STANDARD.inv_cdf(case.chance)) for case in cases]
        calls = [PanelCall("A" if one > 0.5 else "B", 6, p=one) for one in p]
        line = next(
            summarise(
                [dict.fromkeys((BALANCED, UNLABELLED, ORACLE, KNOWING), score_calls(cases, calls))]
            )
        )
        truth = [(one - (case.winner == "A")) ** 2 for one, case in zip(p, cases, strict=True)]
        assert line.brier == pytest.approx(fmean(truth), abs=0.01)
        off.append(line.brier_off)
    assert off[0] == pytest.approx(0, abs=1e-9)
    assert off[1] > 0.02


def test_a_mirrored_debate_has_every_error_but_that_of_order_the_other_way() -> None:
    fair = _cases(2, 60)
    for case in fair:
        other = case.mirror()
        plain = case.jurors[0]._replace(position=0.0)
        case.jurors = other.jurors = (plain, *case.jurors[1:])
        one, two = case.ask(0, SIDES, blind=True), other.ask(0, SIDES, blind=True)
        assert one.verdict is None or {"A": "B", "B": "A", TIE: TIE}[one.verdict] == two.verdict
        assert (one.points is None) == (two.points is None)
        assert one.points is None or one.points["A"] == (two.points or {})["B"]
        assert other.mirror().truth == case.truth
        assert {case.winner, other.winner} == {"A", "B"} == {case.human, other.human}
    always = PanelCall("A", 3, mirrored="A")
    assert score_calls(fair, [always] * 60).lean == 0.5
    assert score_calls(fair, [always._replace(mirrored="B")] * 60).lean == 0


def test_exact_weights_with_the_stop_of_the_product_ask_few_and_know_as_much() -> None:
    """The model with the true figures has the covariance that the ballots have."""
    court = make_court(HERD, make_rng("herd", 2))
    fit = know_exactly(court)
    names = [juror.model.ref for juror in court.jurors]
    for numbers in ((0, 1, 2), (3, 4, 5, 6, 7)):
        exact = weigh_exactly(court, numbers, read=True)
        found = weigh(fit, [names[at] for at in numbers])
        skills = [fit.jurors[names[at]].skill for at in numbers]
        ratios = [weight * skill for weight, skill in zip(found.weights, skills, strict=True)]
        whole = sum(exact.values())
        assert ratios == pytest.approx([one / (1 + whole) for one in exact.values()])
        assert found.variance == pytest.approx(1 / (1 + whole))
    cases = [make_case(court, make_rng("herd", seed)) for seed in range(300)]
    calls = [make_thrifty(court)(case) for case in cases]
    assert 1.5 < fmean(call.calls for call in calls) < 3.5
    assert min(call.calls for call in calls) == 1
    assert fmean(call.winner == case.winner for call, case in zip(calls, cases, strict=True)) > 0.74


async def test_too_few_debates_to_label_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 200"):
        await run_jury(debates=1, seeds=1, first_seed=0, learning=199)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_stopped_it_ends_with_one_line_and_leaves_no_process(
    tmp_path: Path, stop: signal.Signals
) -> None:
    """As a terminal does: everybody in the group is told."""
    program, worker = tmp_path / "program.py", tmp_path / "worker"
    program.write_text(PROGRAM)
    running = subprocess.Popen(
        [sys.executable, str(program), "bench", "jury"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not worker.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.killpg(running.pid, stop)
        # Whoever is left would keep these pipes open, and this would not return.
        out, err = running.communicate(timeout=HANG_SECONDS)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
    assert (running.returncode, out) == (1, "")
    assert err == "rostrum: The benchmark was stopped before it had a result.\n"
