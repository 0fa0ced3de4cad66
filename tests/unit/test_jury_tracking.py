"""How closely jurors follow what all of them see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from statistics import fmean

import pytest
from hypothesis import given, strategies as st

from engine.jury.tracking import track

Heard = dict[str, float]
SEATS = 4


def _court(jurors: Sequence[str], sd: float = 0.7) -> dict[str, float]:
    return dict.fromkeys(jurors, sd)


def _hear(
    sds: Mapping[str, float], herd: Sequence[str], debates: int, seed: int = 1
) -> tuple[list[Heard], list[float]]:
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


def _unheard(voices: Sequence[Heard]) -> list[None]:
    return [None] * len(voices)


def test_each_juror_is_found_to_be_as_good_as_it_is() -> None:
    sds = {"fine": 0.3, "good": 0.6, "fair": 1.0, "poor": 1.5, "usual": 0.7}
    voices, _ = _hear(sds, (), 600)
    found = track(voices, _unheard(voices))
    for juror, sd in sds.items():
        assert found[juror] == pytest.approx(1 / (1 + sd * sd) ** 0.5, abs=0.1)


def test_who_is_asked_in_unclear_debates_alone_is_not_thought_worse() -> None:
    rng = Random(3)
    voices: list[Heard] = []
    for _ in range(800):
        truth = rng.gauss(0, 1)
        heard = {juror: truth + rng.gauss(0, 0.7) for juror in ("one", "two", "three")}
        if abs(sum(heard.values())) < 1.4:
            heard["late"] = truth + rng.gauss(0, 0.7)
        voices.append(heard)
    found = track(voices, _unheard(voices))
    assert found["late"] == pytest.approx(found["one"], abs=0.08)


HERD = ("h1", "h2", "h3", "h4")
OTHERS = ("o1", "o2", "o3", "o4", "o5", "o6", "o7")


def _gap(found: Mapping[str, float], others: Sequence[str]) -> float:
    """By how much the others are thought to track better than the herd."""
    return fmean(found[juror] for juror in others) - fmean(found[juror] for juror in HERD)


def test_a_few_that_err_together_are_seen_through_without_any_vote() -> None:
    voices, _ = _hear(_court(HERD + OTHERS), HERD, 800)
    assert _gap(track(voices, _unheard(voices)), OTHERS) > 0.04


def test_people_say_which_half_errs_together() -> None:
    others = OTHERS[:4]
    voices, truths = _hear(_court(HERD + others), HERD, 800)
    few = [*_unheard(voices)[200:], *truths[-200:]]
    told = _gap(track(voices, few), others)
    assert told > 0.05
    assert told > _gap(track(voices, _unheard(voices)), others)


def test_votes_that_follow_nothing_change_little() -> None:
    voices, _ = _hear(_court(HERD + OTHERS), HERD, 600)
    rng = Random(8)
    unheard = track(voices, _unheard(voices))
    noise = track(voices, [rng.choice([-1.0, 0.0, 1.0]) for _ in voices])
    assert all(noise[juror] == pytest.approx(r, abs=0.12) for juror, r in unheard.items())


def test_little_teaches_nothing() -> None:
    assert track([], []) == {}
    assert track([{"x": 1.0}] * 20, [1.0] * 20) == {}
    assert track([{"x": 1.0, "y": 1.0}] * 2, [1.0] * 2) == {}
    met = track([{"x": 1.0, "y": 1.0}] * 3 + [{"x": 1.0, "new": 1.0}] * 2, [None] * 5)
    assert met.keys() == {"x", "y"}


def test_jurors_that_never_agree_are_told_nothing_of() -> None:
    assert track([{"x": 0.0, "y": 0.0}] * 50, [None] * 50) == {}
    assert track([{"x": 1.0, "y": -1.0}, {"x": -1.0, "y": 1.0}] * 200, [None] * 400) == {}


SIGNALS = st.floats(-2.85, 2.85)
VOICES = st.lists(
    st.dictionaries(st.sampled_from("abcde"), SIGNALS, max_size=5), min_size=1, max_size=30
)
VOTES = st.sampled_from([None, -1.0, 0.0, 1.0])


@given(voices=VOICES, data=st.data())
def test_which_side_comes_first_does_not_matter(voices: list[Heard], data: st.DataObject) -> None:
    people = [data.draw(VOTES) for _ in voices]
    turned = [data.draw(st.sampled_from([1, -1])) for _ in voices]
    exchanged = track(
        [{j: s * x for j, x in heard.items()} for heard, s in zip(voices, turned, strict=True)],
        [vote and s * vote for vote, s in zip(people, turned, strict=True)],
    )
    found = track(voices, people)
    assert exchanged == pytest.approx(found, abs=1e-6)
    assert all(0.05 <= r <= 0.95 for r in found.values())
