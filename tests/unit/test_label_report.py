"""What a labelling task has given, counted again by other means."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, count, permutations
from random import Random
from statistics import fmean, median, multimode

import numpy as np
import pytest

from engine.labelling.report import HARD, Labelled, LabelReport, Rate, report_of
from engine.store.labelling import Drawn, Filled, Kind, Queued, Task
from tests.kit import NOW

CHOICES = ("A", "B", "tie")
TASK = Task(name="tea", per_debate=3, seed="5eed", created_at=NOW)
_numbers = count(1)


def sheet(person: int, debate: str, option: str, kind: Kind = "plain", **said: object) -> Drawn:
    """Return an answered sheet; `known` and `exposed` are its own, the rest is of the answer."""
    number = next(_numbers)
    own = {name: said.pop(name) for name in ("known", "exposed", "order") if name in said}
    return Drawn.model_validate(
        {
            "id": f"s{number}",
            "task": "tea",
            "debate": debate,
            "person": person,
            "number": number,
            "kind": kind,
            "order": "AB",
            "given_at": NOW,
            "filled": Filled.model_validate({"option": option, "seconds": 60.0} | said),
            **own,
        }
    )


def report(work: list[Drawn], jury: str | None = "A", chat: str | None = None) -> LabelReport:
    ids = sorted({one.debate for one in work})
    debates = {id: Labelled(id, id[-2:], id, id, jury, chat, 0.01) for id in ids}
    queue = [Queued(id, rank, "AB") for rank, id in enumerate(ids)]
    return report_of(TASK, queue, work, debates, pay=0.5)


def mixed(random: Random) -> list[Drawn]:
    """Return labels of six people who differ, some of them for neither side."""
    options = random.choices(("A", "A", "B", "tie", "weak"), k=500)
    return [
        sheet(person, f"d{debate:02}", options.pop(), order=random.choice(("AB", "BA")))
        for debate in range(60)
        for person in range(1, 7)
        if random.random() < 0.7
    ]


def said_of(work: list[Drawn]) -> dict[str, dict[int, str]]:
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for one in work:
        assert one.filled is not None
        found[one.debate][one.person] = one.filled.option.replace("weak", "tie")
    return found


@pytest.mark.slow
def test_agreement_is_what_other_implementations_say() -> None:
    from krippendorff import alpha as krippendorff_alpha
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

    work = mixed(Random(18))
    said, found = said_of(work), report(work)
    several = {id: list(of.values()) for id, of in said.items() if len(of) > 1}
    counts = np.array([[list(of.values()).count(c) for c in CHOICES] for of in said.values()])
    pairs = [pair for of in several.values() for pair in permutations(of, 2)]
    shares = {id: fmean(a == b for a, b in combinations(of, 2)) for id, of in several.items()}
    assert found.alpha.value == pytest.approx(
        krippendorff_alpha(value_counts=counts, level_of_measurement="nominal")
    )
    assert found.kappa.value == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert found.agreement.value == pytest.approx(fmean(shares.values()))
    majorities = [multimode(of.values()) for of in said.values()]
    decided = [found for [found, *more] in majorities if not more]
    assert found.jury.value == pytest.approx(decided.count("A") / len(decided))
    assert (found.jury.n, found.chat.n) == (len(decided), 0)
    for figure in (found.alpha, found.kappa, found.agreement, found.jury):
        assert figure.value is not None
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low < figure.value < figure.high
    hardest = sorted(shares, key=lambda id: (shares[id], -len(several[id]), id))[:HARD]
    assert [one.debate for one in found.hard] == hardest
    for hard in found.hard:
        assert hard.labels == Counter(several[hard.debate])
        assert hard.agreement == pytest.approx(shares[hard.debate])
    sided = [one for one in work if one.filled and one.filled.option in "AB"]
    first = sum(one.filled.option == one.order[0] for one in sided if one.filled)
    check_rate(found.first, first, len(sided))
    assert found.labels == found.gold == len(work)
    assert found.cost.per_label == pytest.approx((0.01 * len(said) + 0.5 * len(work)) / len(work))


def check_rate(rate: Rate, right: int, n: int) -> None:
    from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

    assert (rate.right, rate.n) == (right, n)
    assert rate.value == pytest.approx(right / n)
    low, high = proportion_confint(right, n, method="wilson")
    assert (rate.low, rate.high) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.slow
def test_a_person_is_set_beside_the_majority_of_everyone_else() -> None:
    work = mixed(Random(7))
    said = said_of(work)
    by_hand = []
    for person in range(1, 7):
        beside = [
            of[person] == most
            for of in said.values()
            if person in of
            for most, *more in [multimode(c for who, c in of.items() if who != person) or [""]]
            if most and not more
        ]
        by_hand.append((sum(person in of for of in said.values()), sum(beside), len(beside)))
    found = report(work).people
    assert sorted((p.labels, p.others.right, p.others.n) for p in found) == sorted(by_hand)
    assert len({one.name for one in found}) == 6
    for one in found:
        check_rate(one.others, one.others.right, one.others.n)


def own(options: str, fast: int, known: str, again: str) -> list[Drawn]:
    """Return the sheets of person 1, of whom everyone else chooses A; the tests' answer is A."""
    labels = [
        sheet(1, f"d{n}", option, fast=n < fast, seconds=float(n))
        for n, option in enumerate(options)
    ]
    others = [sheet(p, f"d{n}", "A") for n in range(len(options)) for p in (2, 3)]
    tests = [sheet(1, f"k{n}", option, "known", known="A") for n, option in enumerate(known)]
    repeats = [sheet(1, f"d{n}", option, "again") for n, option in enumerate(again)]
    return [*labels, *others, *tests, *repeats]


@pytest.mark.parametrize(
    ("options", "fast", "known", "again", "marks"),
    [
        ("BBBBBBAAAA", 3, "BBA", "AAB", ("fast", "tests", "repeats", "alone")),
        ("BBBBBAAAAA", 2, "BAA", "BBA", ()),  # at the limits, or right above
        ("BBBBBBBBB", 0, "BB", "AA", ()),  # too few to say
    ],
)
def test_people_are_marked_from_the_limits_on(
    options: str, fast: int, known: str, again: str, marks: tuple[str, ...]
) -> None:
    work = own(options, fast, known, again)
    found = report(work)
    [person] = [one for one in found.people if one.known.n]
    assert person.marks == marks
    assert (person.labels, person.fast, found.fast) == (len(options), fast, fast)
    assert person.known.right == known.count("A")
    assert person.again.right == sum(a == b for a, b in zip(again, options, strict=False))
    assert person.others.right == options.count("A")
    seconds = [one.filled.seconds for one in work if one.person == 1 and one.filled]
    assert person.seconds == median(seconds)
    # Tests and second showings are no labels, nor do they count in agreement.
    assert found.labels == 3 * len(options)
    assert (found.known, found.again) == (person.known, person.again)
    assert found.agreement.n == len(options)
