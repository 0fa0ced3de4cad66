"""The file of a series: what it means, and one sentence for each mistake."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from engine.series.contents import Planned, check_unchanged, expand
from engine.series.matches import Swiss, pair_up
from engine.series.spec import Series, read_series
from engine.values.errors import UsageError
from engine.values.topics import Topic

BASE: dict[str, Any] = {
    "name": "spring",
    "topics": ["Tabs beat spaces", "Tea beats coffee"],
    "models": ["near/ana", "near/ben", "near/cid"],
}


def series(**changes: Any) -> Series:
    return read_series(BASE | changes, ())


def debates(**changes: Any) -> list[Planned]:
    return list(expand(series(**changes)))


def test_each_pair_meets_on_each_topic_on_both_sides() -> None:
    held = {(one.topic.text, one.a.ref, one.b.ref) for one in debates()}
    names = BASE["models"]
    assert held == {(t, a, b) for t in BASE["topics"] for a in names for b in names if a != b}
    assert series().size == len(debates()) == 12
    assert [one.ordinal for one in debates()] == list(range(1, 13))


def test_drawn_sides_hold_each_pair_once_and_stay_drawn() -> None:
    once = debates(sides="drawn", repeats=8)
    assert len(once) == series(sides="drawn", repeats=8).size == 48
    assert once == debates(sides="drawn", repeats=8, models=BASE["models"])
    first = [one.a.ref < one.b.ref for one in once]
    assert 10 < sum(first) < 38


def test_keys_stay_when_debates_are_added_in_any_order() -> None:
    before = {one.key: one.seed for one in debates()}
    more = debates(
        topics=["Cats beat dogs", *reversed(BASE["topics"])],
        models=["near/dan", *reversed(BASE["models"])],
        formats=["oxford", "classic"],
        languages=["de", "en"],
        repeats=2,
    )
    after = {one.key: one.seed for one in more}
    assert len(after) == len(more)
    assert before.items() <= after.items()


def test_every_pair_has_met_about_as_often_wherever_a_series_is_cut() -> None:
    held = debates(topics=[f"Topic {n}" for n in range(9)])
    for cut in range(6, len(held), 5):
        met = [frozenset((one.a.ref, one.b.ref)) for one in held[:cut]]
        counts = [met.count(pair) for pair in set(met)]
        assert max(counts) - min(counts) <= 2


def test_a_topic_with_a_language_is_held_in_that_one() -> None:
    topics = (Topic(text="Tee ist besser", language="de"), Topic(text="Tea is fine", language="en"))
    read = read_series({"name": "x", "models": ["a/x", "a/y"], "languages": ["de", "tr"]}, topics)
    assert {(one.topic.text, one.language) for one in expand(read)} == {("Tee ist besser", "de")}


def test_a_roundtable_of_two_is_a_series() -> None:
    (one, *_) = debates(formats=[{"format": "roundtable", "agents": 2}])
    assert list(one.models) == ["1", "2"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pairng": "all"}, "There is no key “pairng”; did you mean pairing?"),
        ({"limits": {"usdd": 3}}, "There is no key “usdd” in [limits]; did you mean usd?"),
        ({"name": "Spring 2026"}, "name is “Spring 2026”; use at most 60 small letters"),
        ({"name": None}, "name"),
        ({"topics": []}, "There is no topic; give topics"),
        ({"topics": ["  "]}, "topics has an empty entry"),
        ({"topics": ["Tea", "tea!"]}, "The topic “tea!” is there twice"),
        ({"models": ["near/ana"]}, "models has one model; a series needs at least two."),
        ({"models": ["near/ana", "near/ana"]}, "models names near/ana twice"),
        ({"models": ["ana", "near/ben"]}, "models: “ana” does not name a model"),
        ({"pairing": "swis", "rounds": 2}, "pairing is “swis”; did you mean swiss?"),
        ({"pairing": "swiss"}, "rounds must say how many rounds to hold"),
        ({"rounds": 3}, "rounds is for pairing “swiss” alone"),
        ({"pairing": []}, "pairing is an empty list"),
        ({"pairing": [["near/ana"]]}, "a list of pairs; a pair needs two models, as in"),
        ({"pairing": [["near/ana", "near/ana"]]}, "pairing lets near/ana meet itself"),
        ({"pairing": [["near/ana", "near/bem"]]}, "not in models; did you mean near/ben?"),
        ({"sides": "bth"}, "sides must be both or drawn."),
        ({"formats": ["clasic"]}, "formats: There is no format “clasic”"),
        ({"formats": ["roundtable"]}, "In the format roundtable with these options 3 take part"),
        ({"formats": ["classic", "classic"]}, "formats has an entry twice"),
        ({"formats": [{"length": "short"}]}, "formats: each entry needs its name"),
        ({"formats": [{"format": "classic", "topic": "x"}]}, "topic is not an option of a format"),
        (
            {"formats": [{"format": "classic", "rounds": 99}]},
            "formats: rounds is 99; it must be between 1 and 9.",
        ),
        ({"languages": ["klingon"]}, "languages: “klingon” is not a language code"),
        ({"languages": ["en", "en"]}, "languages names one twice"),
        ({"repeats": 0}, "repeats must be at least 1."),
        ({"repeats": "many"}, "repeats must be a whole number."),
        ({"limits": {"usd": 0}}, "limits.usd must be more than 0."),
        ({"limits": {"usd": float("inf")}}, "limits.usd"),
        ({"limits": {"debates_at_once": 0}}, "limits.debates_at_once must be at least 1."),
        ({"jury": {"mode": "most"}}, "jury.mode must be"),
        ({"people": {"place": "nowhere"}}, "people.place is “nowhere”; write the platform"),
        ({"people": {"place": "discord:1", "at": "25:00"}}, "people.at is “25:00”; write a time"),
        (
            {"people": {"place": "discord:1", "at": "09:00 Europe/Berln"}},
            "the time zone “Europe/Berln”, which does not exist; did you mean Europe/Berlin?",
        ),
        ({"people": {"place": "slack:C1", "every": "soon"}}, "people.every is “soon”"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_its_key(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        series(**changes)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "pydantic" not in str(refused.value)


def test_a_file_as_people_write_it() -> None:
    text = """
    name = "spring"
    topics = "Tabs beat spaces"
    models = ["near/ana", "near/ben"]
    pairing = [["near/ana", "near/ben"]]
    formats = ["oxford", { format = "classic", length = "short", rounds = 2 }]
    [jury]
    models = ["near/j1", "near/j2"]
    mode = "all"
    [people]
    place = "discord:123"
    every = "1d"
    at = "09:00 Europe/Berlin"
    """
    read = read_series(tomllib.loads(text), ())
    assert read.people is not None
    assert read.people.every == 1440
    assert [one.rounds for one in read.formats] == [None, 2]
    assert Series.model_validate_json(read.model_dump_json()) == read


# --- what may change ---------------------------------------------------------------------


def held() -> set[str]:
    return {one.key for one in debates()}


def test_what_adds_debates_may_change() -> None:
    now = series(topics=[*BASE["topics"], "Cats beat dogs"], repeats=3, limits={"usd": 4})
    check_unchanged(series(), now, held())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"topics": ["Tea beats coffee"]}, "topics no longer has “Tabs beat spaces”"),
        ({"models": ["near/ana", "near/ben"]}, "models no longer has near/cid"),
        ({"sides": "drawn"}, "sides was both and is now drawn"),
        (
            {"jury": {"models": ["near/j1"]}},
            "would change 12 of them: jury was the default and is now near/j1.",
        ),
        (
            {"jury": {"mode": "all"}, "topics": ["Tabs beat spaces"]},
            "would change 12 of them: jury was the default and is now mode all; topics no longer",
        ),
    ],
)
def test_what_would_change_a_debate_is_refused_with_the_difference(
    changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match="The series spring has 12 debates") as refused:
        check_unchanged(series(), series(**changes), held())
    assert said in str(refused.value)
    check_unchanged(series(), series(**changes), ())


def test_a_jury_and_a_format_are_said_as_a_file_writes_them() -> None:
    jury = {"models": ["near/j1", "near/j2"], "mode": "all"}
    with pytest.raises(UsageError, match="near/j1 and near/j2, mode all, and is now the default"):
        check_unchanged(series(jury=jury), series(), held())
    before = series(formats=[{"format": "team", "one_model": True, "blind": False}])
    keys = {one.key for one in expand(before)}
    with pytest.raises(UsageError, match="no longer has format team, blind off, one_model on"):
        check_unchanged(before, series(), keys)


# --- swiss -------------------------------------------------------------------------------


def test_models_of_equal_points_meet_and_no_pair_twice() -> None:
    pairs, bye = pair_up("abcd", {"a": 2, "b": 2, "c": 1, "d": 1}, {frozenset("ab")})
    assert pairs == {frozenset("ac"), frozenset("bd")}
    assert bye is None
    pairs, bye = pair_up("abc", {"a": 1}, (), {"c"})
    assert bye == "b"
    assert pairs == {frozenset("ac")}


def test_rounds_follow_results_and_come_out_the_same_again() -> None:
    read = series(
        pairing="swiss",
        rounds=3,
        models=[f"near/m{n}" for n in range(6)],
        topics=[f"Topic {n}" for n in range(5)],
    )
    results: dict[str, str | None] = {}
    met: list[frozenset[str]] = []
    while found := list(Swiss(read).next(results.keys(), results)):
        assert {one.a.ref for one in found} == {model.ref for model in read.models}
        met += {frozenset((one.a.ref, one.b.ref)) for one in found}
        results |= {one.key: "A" if one.a.ref < one.b.ref else "B" for one in found}
    assert len(met) == len(set(met)) == 9
    assert len(results) == Swiss(read).total() == 18
