"""Who meets whom in a league, who won, and the standing."""

from collections import Counter
from io import BytesIO

import pytest
from PIL import Image

from adapters.pictures import to_png
from engine.series.matches import (
    MOST_MATCHES,
    MatchResult,
    champions,
    decide,
    draw,
    drew_lots,
    met,
    standing,
)
from engine.series.schedule import LONGEST_NAME
from engine.series.spec import Decided, League, System
from engine.values.debate import Model
from engine.values.language import speaking
from engine.values.messages import BoardRow, LeagueTable, Reveal
from engine.values.verdicts import TIE, Tally, Verdict
from engine.words.cards import card_of
from engine.words.scores import columns, league_lines
from engine.words.translation import LANGUAGES
from tests.kit import reveal

NAMES = ("ana", "ben", "cid", "dan", "eve", "fay", "gus")


def league(system: System, count: int = 4, rounds: int = 1) -> League:
    models = tuple(Model.parse(f"near/{name}") for name in NAMES[:count])
    return League(system=system, rounds=rounds, seed=7, models=models)


def play(held: League) -> tuple[League, dict[int, MatchResult]]:
    """Play a league in which the name that comes first wins."""
    results: dict[int, MatchResult] = {}
    while (drawn := draw(held, results)) != held:
        held = drawn
        for at, match in enumerate(held.drawn):
            results[at] = MatchResult(min(match.pair), "people")
    return held, results


@pytest.mark.parametrize("count", [3, 4, 5, 6, 7])
@pytest.mark.parametrize("rounds", [1, 2])
def test_in_a_round_robin_pairs_meet_as_often_and_once_a_round(count: int, rounds: int) -> None:
    held, results = play(league(System.ROUND_ROBIN, count, rounds))
    pairs = Counter(match.pair for match in held.drawn)
    assert set(pairs.values()) == {rounds}
    assert len(held.drawn) == held.total == len(results)
    in_round = Counter((match.round, ref) for match in held.drawn for ref in match.pair)
    assert set(in_round.values()) == {1}
    assert champions(held, results) == ("near/ana",)
    assert [place.model for place in standing(held, results)] == sorted(
        model.ref for model in held.models
    )


@pytest.mark.parametrize("count", [4, 5, 6, 7])
def test_in_a_swiss_league_no_pair_meets_twice_and_byes_are_shared(count: int) -> None:
    held, results = play(league(System.SWISS, count, 3))
    assert max(Counter(match.pair for match in held.drawn).values()) == 1
    assert len(held.drawn) == held.total == 3 * (count // 2)
    assert len({bye.model.ref for bye in held.byes}) == len(held.byes) == 3 * (count % 2)
    assert champions(held, results)[0] == "near/ana"


@pytest.mark.parametrize("count", [3, 4, 5, 7])
def test_in_a_knockout_who_loses_is_out(count: int) -> None:
    held, results = play(league(System.KNOCKOUT, count))
    assert len(held.drawn) == held.total == count - 1
    lost = [max(match.pair) for match in held.drawn]
    assert len(set(lost)) == len(lost)
    assert champions(held, results) == ("near/ana",)


def test_a_tie_in_a_knockout_is_played_again_with_sides_exchanged_and_then_drawn_by_lot() -> None:
    held = draw(league(System.KNOCKOUT, 3), {})
    results: dict[int, MatchResult] = {}
    first = held.drawn[0]
    for number in range(MOST_MATCHES):
        assert len(held.drawn) == number + 1
        assert held.drawn[number].pair == first.pair
        assert drew_lots(held, results, first.pair) == ""
        results[number] = MatchResult(TIE if number else None, "jury" if number else "")
        held = draw(held, results)
    assert (held.drawn[1].a, held.drawn[1].b) == (first.b, first.a)
    through = drew_lots(held, results, first.pair)
    assert through in first.pair
    assert held.drawn[MOST_MATCHES].pair == {through, held.byes[0].model.ref}


def test_a_late_result_changes_no_match_that_was_drawn_and_only_revealed_ones_name_models() -> None:
    held = draw(league(System.SWISS, 4, 2), {})
    results = {0: MatchResult(None, ""), 1: MatchResult(min(held.drawn[1].pair), "people")}
    held = draw(held, results)
    before = held.drawn
    results[0] = MatchResult(max(held.drawn[0].pair), "jury")
    assert draw(held, results).drawn[: len(before)] == before
    held = draw(league(System.ROUND_ROBIN, 5), {})
    assert met(held, ()) == frozenset()
    assert met(held, (0,)) == held.drawn[0].pair


def revealed(people: str | None, jury: str | None) -> Reveal:
    tally = Tally(counts={}, gold={}, quorum_met=people is not None, winner=people)
    return reveal(
        models={"A": "near/ana", "B": "near/ben"},
        tally=tally,
        verdict=Verdict(winner=jury, valid=1, invalid=0),
    )


@pytest.mark.parametrize(
    ("decided", "people", "jury", "expected"),
    [
        ("people", "A", "B", MatchResult("near/ana", "people")),
        ("people", None, "B", MatchResult(None, "")),
        ("jury", "A", "B", MatchResult("near/ben", "jury")),
        ("people_then_jury", "A", "B", MatchResult("near/ana", "people")),
        ("people_then_jury", None, "B", MatchResult("near/ben", "jury")),
        ("people_then_jury", "tie", "B", MatchResult("tie", "people")),
        ("people_then_jury", None, None, MatchResult(None, "")),
        ("people_then_jury", "weak", "A", MatchResult("near/ana", "jury")),
    ],
)
def test_people_decide_where_the_quorum_is_met_and_else_whoever_is_set(
    decided: str, people: str | None, jury: str | None, expected: MatchResult
) -> None:
    held = league(System.SWISS).model_copy(update={"decided": Decided(decided)})
    assert decide(held, revealed(people, jury)) == expected


def test_in_a_knockout_the_jury_breaks_a_tie_of_the_people() -> None:
    held = league(System.KNOCKOUT)
    assert decide(held, revealed("tie", "B")) == MatchResult("near/ben", "jury")
    assert decide(held, revealed("tie", None)) == MatchResult("tie", "people")
    alone = held.model_copy(update={"decided": Decided.PEOPLE})
    assert decide(alone, revealed("tie", "B")) == MatchResult("tie", "people")


def test_the_standing_fits_a_phone_in_every_language() -> None:
    rows = (BoardRow(side="", name=f"20 {'m' * LONGEST_NAME}", cells=("190", "189.5")),)
    table = LeagueTable(played=1, total=2, rows=rows)
    for language in ("en", *LANGUAGES):
        with speaking(language):
            drawn = [line for line in league_lines(table) if line.startswith("|")]
        assert len(drawn) == 3
        assert max(columns(line) for line in drawn) <= 40


def test_the_standing_has_a_picture_whose_alt_text_says_the_same() -> None:
    rows = (
        BoardRow(side="", name="1 ana", cells=("2", "2")),
        BoardRow(side="", name="2 ben", cells=("0", "0.5")),
    )
    card = card_of(LeagueTable(played=2, total=3, rows=rows))
    (file,) = card.attached()
    assert file.alt == "The standing by points. 1 ana: points 2; 2 ben: points 0.5."
    with Image.open(BytesIO(to_png(file.content))) as image:
        assert image.format == "PNG"
        assert image.width == 2 * 720
    assert not card_of(LeagueTable(played=0, total=3, rows=())).attached()
