"""The jury benchmark: its jurors err as they are said to, and its table is what was measured."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import fmean, pvariance

import pytest

from bot.bench.jury import (
    BALANCED,
    LABELLED,
    NAIVE,
    ORACLE,
    SWAPPED,
    UNCALIBRATED,
    UNLABELLED,
    PanelLine,
    Scores,
    Simulation,
    measure,
    render,
    run_jury,
)
from bot.bench.jury_panels import ask_naive, ask_swapped, make_knowing, make_oracle
from bot.bench.jury_world import (
    INVALID,
    MISSPECIFIED,
    SIDES,
    WORLDS,
    Case,
    Court,
    make_case,
    make_court,
    make_rng,
    weigh_perfectly,
)
from engine.errors import UsageError
from engine.judging import TIE

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


def test_the_product_asks_fewer_than_the_others_and_audits_a_tenth(scores: Scores) -> None:
    assert scores[NAIVE].calls == scores[SWAPPED].calls == 6
    assert 3 <= scores[BALANCED].calls <= 4.6
    assert 0.1 < scores[BALANCED].audits < 0.8
    assert 3 <= scores[UNLABELLED].calls <= 4.3  # it still learns
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
    line = PanelLine(UNLABELLED, 80.0, 93.25, 3.0, -0.25, 4.0, 0.4)
    worse = line._replace(share=88.0, interval=4.0, lean=0.5)
    heads, row = (line.split() for line in render({"mild": [line], "herd": [worse]}).splitlines())
    assert heads[-9:] == ["average", "±", "worst", "±", "mild", "herd", "calls", "audits", "lean"]
    assert row[-9:] == ["90.6", "2.5", "88.0", "4.0", "93.2", "88.0", "4.00", "0.40", "0.50"]


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
        out, err = running.communicate(timeout=60)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
    assert (running.returncode, out) == (1, "")
    assert err == "rostrum: The benchmark was stopped before it had a result.\n"
