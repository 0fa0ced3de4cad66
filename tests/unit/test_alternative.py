"""The alternative annotator test: against its published formulas, and what it lets pass."""

from collections.abc import Mapping
from random import Random

import pytest

from engine.stats.alternative import (
    EPSILONS,
    _AltTest,
    compare_judges,
    measure_replacement,
    needed_debates,
    passing,
    student,
    tell_replacement,
)
from engine.stats.row import Row
from tests.kit import juror_ballot, make_row

Table = Mapping[str, Mapping[int, str]]
"""What each person chose: the person, then the debate."""


def by_the_paper(people: Table, judge: Mapping[int, str], epsilon: float) -> tuple[float, float]:
    """Return ω and ρ by section 3 of the paper, with scipy's t-test, written from its text."""
    from scipy.stats import ttest_1samp  # type: ignore[import-untyped]

    p_values, advantages = [], []
    for person, own in people.items():
        wins_judge, wins_person = [], []
        for debate, choice in own.items():
            others = [
                those[debate]
                for other, those in people.items()
                if other != person and debate in those
            ]
            if not others or debate not in judge:
                continue
            near_judge = sum(judge[debate] == one for one in others) / len(others)
            near_person = sum(choice == one for one in others) / len(others)
            wins_judge.append(near_judge >= near_person)
            wins_person.append(near_person >= near_judge)
        if len(wins_judge) < 30:
            continue
        differences = [int(a) - int(b) for a, b in zip(wins_person, wins_judge, strict=True)]
        p_values.append(float(ttest_1samp(differences, epsilon, alternative="less").pvalue))
        advantages.append(sum(wins_judge) / len(wins_judge))
    m = len(p_values)
    harmonic = sum(1 / k for k in range(1, m + 1))
    passed = [k for k, p in enumerate(sorted(p_values), start=1) if p <= 0.05 * k / (m * harmonic)]
    return max(passed, default=0) / m, sum(advantages) / m


def rows_of(people: Table, judge: Mapping[int, str], debates: int) -> list[Row]:
    numbers = {name: number for number, name in enumerate(people)}
    return [
        make_row(
            debate,
            jury=judge.get(debate),
            readings=(juror_ballot("near/j", judge.get(debate)),),
            choices={
                "chat": tuple(
                    (numbers[name], own[debate]) for name, own in people.items() if debate in own
                )
            },
        )
        for debate in range(debates)
    ]


def panel_in_chat(rows: list[Row]) -> _AltTest:
    return next(one for one in compare_judges(rows) if (one.crowd, one.judge) == ("chat", "panel"))


@pytest.mark.filterwarnings("ignore:Precision loss")
@pytest.mark.parametrize("part", range(4))
def test_it_equals_the_published_formulas_on_random_tables(part: int) -> None:
    random = Random(part)
    compared = 0
    for _ in range(250):
        debates, count = random.randint(30, 70), random.randint(2, 7)
        skill, kept = random.uniform(0.2, 1), random.uniform(0.8, 1)
        truth = [random.choice("AB") for _ in range(debates)]

        def say(debate: int, skill: float) -> str:
            return truth[debate] if random.random() < skill else random.choice(("A", "B", "tie"))  # noqa: B023

        people = {
            f"p{n}": {d: say(d, skill) for d in range(debates) if random.random() < kept}
            for n in range(count)
        }
        judge = {d: say(d, random.uniform(0, 1)) for d in range(debates) if random.random() < kept}
        ours = panel_in_chat(rows_of(people, judge, debates))
        if ours.rho is None:
            continue
        compared += 1
        for epsilon, omega in zip(EPSILONS, ours.omega, strict=True):
            theirs = by_the_paper(people, judge, epsilon)
            assert (omega, ours.rho) == pytest.approx(theirs, abs=1e-9)
    assert compared > 150


@pytest.mark.parametrize("freedom", [1, 2, 29, 30, 59, 500, 1999])
def test_students_t_is_that_of_scipy(freedom: int) -> None:
    from scipy.stats import t

    for value in (-40.0, -4.2, -2.3, -0.1, 0.0, 0.7, 3.1, 25.0):
        assert student(value, freedom) == pytest.approx(t.cdf(value, freedom), abs=1e-12)


def simulated(random: Random, person: float, judge: float) -> _AltTest:
    """Sixty debates that five people judge, who are right so often."""

    def choose(right: float) -> dict[int, str]:
        return {debate: "A" if random.random() < right else "B" for debate in range(60)}

    people = {f"p{n}": choose(person) for n in range(5)}
    return panel_in_chat(rows_of(people, choose(judge), 60))


def test_a_coin_does_not_pass_and_a_juror_as_good_as_a_person_does() -> None:
    random = Random(5)
    coins = [simulated(random, 0.85, 0.5).passes(2) for _ in range(200)]
    peers = [simulated(random, 0.85, 0.85).passes(2) for _ in range(200)]
    assert sum(coins) <= 0.05 * len(coins)
    assert sum(peers) >= 0.8 * len(peers)
    # What a plan promises is what the test then does.
    assert sum(peers) / len(peers) == pytest.approx(passing(0.85, 0.85, 60, 5)[2], abs=0.08)


def test_a_wider_margin_and_people_who_agree_need_fewer_debates() -> None:
    at_odds, of_one_mind = needed_debates(0.6, 5), needed_debates(0.9, 5)
    for one in (at_odds, of_one_mind):
        known = [n or 10_000 for n in one]
        assert known == sorted(known, reverse=True)
    assert (of_one_mind[2], at_odds[2]) == (40, 80)


def say_all(rows: list[Row]) -> str:
    lines, tables = tell_replacement(measure_replacement(rows))
    return "\n".join(
        [*lines, *(str(cell) for _, _, rows in tables for row in rows for cell in row)]
    )


def test_fewer_than_two_people_are_not_tested_and_it_says_what_to_do() -> None:
    alone = {"p0": dict.fromkeys(range(40), "A")}
    said = say_all(rows_of(alone, dict.fromkeys(range(40), "A"), 40))
    assert "fewer than two people judged 30 debates" in said
    assert "passes" not in said.replace("passes from", "").replace("them passes", "")
    assert "Nobody judged a debate blind" in say_all([make_row(1)])


def test_labels_of_pages_and_votes_of_chats_are_tested_apart_and_together() -> None:
    judge = dict.fromkeys(range(40), "A")
    rows = rows_of({"p0": judge, "p1": judge}, judge, 40)
    for place, row in enumerate(rows):
        row.choices["web"] = ((7, "A"), (8, "B" if place % 2 else "A"))  # type: ignore[index]
    found = {one.crowd: one for one in compare_judges(rows) if one.judge == "panel"}
    assert {name: one.people for name, one in found.items()} == {"chat": 2, "web": 2, "both": 4}
    assert found["chat"].omega == (1.0, 1.0, 1.0)
