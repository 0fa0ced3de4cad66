"""A series' report: its figures, against tables worked out by hand, and its pictures."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import as_file, files
from itertools import combinations, permutations
from random import Random
from typing import Any, NamedTuple, get_args
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st
from PIL import ImageFont

from adapters.pictures import FONT, to_png
from engine.drawing import (
    DARK,
    Picture,
    darken,
    fit,
    round_scale,
    round_step,
    short_names,
    width_of,
)
from engine.series.report import (
    CaveatKind,
    PairResult,
    SeriesReport,
    juror_pairs,
    make_report,
    nearest_rank,
    split_topics,
)
from engine.series.report.data import (
    EndedDebate,
    SeriesRows,
    _CountedTurn,
    add_up,
)
from engine.series.report.page import CAVEATS, word_caveats, write_html, write_markdown, write_page
from engine.series.report.pictures import draw_report
from engine.series.spec import Series, read_series
from engine.stats.row import Row
from engine.store.series import CallTry, SeriesDebate, SeriesReading, StoredSeries
from engine.values.debate import Status
from engine.values.ports import utc_now
from tests.kit import NOW, juror_ballot, make_row, some
from tests.slow import slow_after


def make_file(models: Sequence[str], **changes: Any) -> Series:
    topics = [f"Topic {number}" for number in range(1, 9)]
    jury = {"models": ["far/j1", "far/j2", "far/j3"], "mode": "all"}
    held = {"name": "spring", "topics": topics, "models": list(models), "jury": jury}
    return read_series(held | changes, ())


def make_series(series: Series, seed: int = 1, **row_fields: Any) -> SeriesRows:
    """Hold a series by lot: earlier models are better, and side A has a small advantage."""
    random, names = Random(seed), [model.ref for model in series.models]
    rows: list[EndedDebate] = []
    debates: list[SeriesDebate] = []
    tries: list[CallTry] = []
    for topic in series.topics:
        for a, b in permutations(names, 2):
            id_ = f"d{len(rows)}"
            lead = 0.3 + (names.index(b) - names.index(a)) / len(names)
            jury = random.choices(["A", "B", "tie"], [10**lead, 1, 0.6])[0]
            fields: dict[str, Any] = {"topic": topic.text, "title": topic.text, "people": None}
            fields["models"] = {"A": a, "B": b}
            fields["readings"] = tuple(
                juror_ballot(juror.ref, jury if random.random() < 0.8 else "tie", order)
                for juror in series.jury.models
                for order in ("AB", "BA")
            )
            fields["words"] = {"A": random.randint(400, 900), "B": random.randint(400, 900)}
            row = replace(make_row(people=None, jury=jury), **fields | row_fields)
            spoken = tuple(
                _CountedTurn(model, 100 + 20 * turn, 200, ("too_many_words",) if turn == 3 else ())
                for model in (a, b)
                for turn in range(4)
            )
            rows.append(ended(id_, row, *spoken, format_=series.formats[0].format or ""))
            debates.append(SeriesDebate(id_, id_, Status.CLOSED, "", NOW))
            tries += [_try(id_, model, "debater", random) for model in (a, b) * 4]
            tries += [_try(id_, juror.ref, "juror", random) for juror in series.jury.models * 2]
    stored = StoredSeries(name=series.name, body=series.model_dump_json(), begun_at=NOW)
    found = add_up(SeriesReading(stored, debates, {names[0]: 1}, iter(tries), iter(())))
    found.ended = tuple(rows)
    return found


def _try(debate: str, model: str, role: str, random: Random) -> CallTry:
    usd = 0.001 * (1 + sum(map(ord, model)) % 17)
    seconds = random.uniform(1, 9)
    return CallTry(
        debate, model, role, random.random() < 0.01, False, 1000, 200, 50, 400, usd, seconds
    )


# --- The figures of a series' report, against tables worked out by hand ---------------------------


ANA, BEN, CID = "near/ana", "near/ben", "near/cid"


def debate(place: int, jury: str | None, a: str = ANA, b: str = BEN, **fields: Any) -> Row:
    return make_row(place, people=None, jury=jury, models={"A": a, "B": b}, **fields)


def tried(debate: str, model: str, role: str, usd: float | None, **fields: Any) -> CallTry:
    plain = CallTry(debate, model, role, False, False, 100, 20, 5, 40, usd, 2.0)
    return plain._replace(**fields)


def ended(
    id_: str, row: Row | None, *spoken: _CountedTurn, format_: str = "classic"
) -> EndedDebate:
    models = tuple(row.models.values()) if row else (ANA, BEN)
    return EndedDebate(id_, format_, row, models, spoken, unrecused=False)


def report(
    rows: list[EndedDebate],
    tries: list[CallTry],
    series: Series | None = None,
    states: tuple[tuple[Status, str], ...] = (),
    refusals: dict[str, int] | None = None,
) -> SeriesReport:
    file = series or make_file((ANA, BEN), topics=["Tea beats coffee"])
    stored = StoredSeries(name="spring", body=file.model_dump_json(), begun_at=utc_now())
    closed = [SeriesDebate(one.id, one.id, Status.CLOSED, "", utc_now()) for one in rows if one.row]
    others = [SeriesDebate(f"x{n}", f"x{n}", *one, utc_now()) for n, one in enumerate(states)]
    reading = SeriesReading(stored, closed + others, refusals or {}, iter(tries), iter(()))
    found: SeriesRows = add_up(reading)
    found.ended = tuple(rows)
    return make_report(found, utc_now())


def test_totals_costs_and_latencies_are_those_of_the_tries() -> None:
    found = report(
        [ended("d1", debate(1, "A")), ended("d2", debate(2, "B"), format_="oxford")],
        [
            tried("d1", ANA, "debater", 0.5),
            tried("d1", ANA, "debater", None, failed=True, tokens_in=None, seconds=None),
            tried("d1", "far/j1", "juror", 0.25, seconds=8.0),
            tried("d2", ANA, "debater", 1.5, seconds=4.0),
            tried("d2", BEN, "debater", 0.25),
        ],
    )
    ana, ben, juror = (next(t for t in found.totals if t.model == m) for m in (ANA, BEN, "far/j1"))
    assert (ana.calls, ana.failed, ana.tokens_in, ana.usd, ana.unpriced) == (3, 1, 200, 2.0, 1)
    assert (ben.role, juror.role) == ("debater", "juror")
    whole, classic, oxford = found.costs
    assert (whole.format, whole.debates, whole.calls, whole.usd) == ("", 2, 2.5, 1.25)
    assert (whole.usd_median, whole.usd_max) == (1.25, 1.75)
    assert (classic.usd, oxford.usd) == (0.75, 1.75)
    assert {one.model: one.usd for one in found.conduct} == {ANA: 1.0, BEN: 0.125}
    times = {one.model: (one.calls, one.failed, one.p50, one.p95) for one in found.availability}
    assert times == {ANA: (3, 1, 2.0, 4.0), BEN: (1, 0, 2.0, 2.0), "far/j1": (1, 0, 8.0, 8.0)}


@pytest.mark.parametrize(("share", "value"), [(0.5, 2.0), (0.95, 4.0), (0.25, 1.0), (0.26, 2.0)])
def test_percentiles_are_values_that_occurred(share: float, value: float) -> None:
    assert nearest_rank([1.0, 2.0, 3.0, 4.0], share) == value
    assert nearest_rank([], share) is None


def test_lengths_limits_and_refusals_are_counted_by_model() -> None:
    turns = (
        _CountedTurn(ANA, 100, 200, ()),
        _CountedTurn(ANA, 300, 200, ("too_many_words", "too_many_words", "no_decision")),
        _CountedTurn(BEN, 50, 0, ("refusal",)),
    )
    rows = [ended("d1", debate(1, "A"), *turns), ended("d2", None)]
    ana, ben = report(rows, [], refusals={BEN: 2}).conduct
    assert (ana.debates, ana.ended, ana.turns, ana.words, ana.of_limit) == (1, 2, 2, 200, 1.0)
    assert (ana.breaking, ana.broken) == (1, {"no_decision": 1, "too_many_words": 1})
    assert (ben.refused, ben.of_limit, ben.broken) == (2, None, {"refusal": 1})


def test_the_win_matrix_has_each_pair_once() -> None:
    rows = [
        ended("d1", debate(1, "A")),
        ended("d2", debate(2, "A", BEN, ANA)),
        ended("d3", debate(3, "tie")),
        ended("d4", debate(4, "B", CID, ANA)),
        ended("d5", debate(5, None)),
        ended("d6", debate(6, "A", mixed=True)),
    ]
    assert report(rows, []).wins == (
        PairResult(model=ANA, other=BEN, won=1, lost=1, tied=1),
        PairResult(model=ANA, other=CID, won=1, lost=0, tied=0),
    )


def test_topics_are_ordered_by_how_unlike_win_rates_are_and_by_chance() -> None:
    tea = [debate(1, "A"), debate(1, "A"), debate(1, "B", BEN, ANA), debate(1, "tie")]
    cats = [debate(2, "A"), debate(2, "B")]
    once = [debate(3, "A")]
    found = split_topics([*cats, *tea, *once])
    first, second = found.splits
    # On tea ana won 3.5 of 4 and ben 0.5: rates 0.875 and 0.125 around a mean of 0.5.
    assert (first.title, first.debates, first.spread) == ("Topic 1", 4, 0.375)
    assert [(one.model, one.rate) for one in first.rates] == [(ANA, 0.875), (BEN, 0.125)]
    assert (second.title, second.spread) == ("Topic 2", 0.0)
    assert found.by_chance is not None
    assert split_topics(tea).by_chance is None
    plain = [debate(n, "AB"[n % 2]) for n in range(1, 11) for _ in range(6)]
    odd = [debate(11, "A") for _ in range(6)]
    found = split_topics([*plain, *odd, *[debate(n, "BA"[n % 2]) for n in range(1, 11)] * 6])
    assert found.splits[0].title == "Topic 11"
    assert found.splits[0].spread > some(found.by_chance) > found.splits[1].spread


def test_jurors_are_compared_on_the_debates_that_both_judged() -> None:
    def judged(n: int, *said: str) -> Row:
        readings = tuple(
            juror_ballot(f"far/j{k}", choice) for k, choice in enumerate(said, 1) if choice
        )
        return debate(n, "A", readings=readings)

    rows = [judged(n, "A", "A" if n % 4 else "B") for n in range(40)]
    rows += [judged(40 + n, "A", "", "B") for n in range(3)]
    one, other = juror_pairs(rows)
    assert (one.juror, one.other) == ("far/j1", "far/j2")
    assert (one.agreement.n, one.agreement.value) == (40, 0.75)
    assert some(one.agreement.low) < 0.75
    assert one.kappa.value == 0.0  # one of them always says the same
    assert (other.other, other.agreement.n, other.agreement.value) == ("far/j3", 3, None)


def kinds(found: SeriesReport) -> set[CaveatKind]:
    return {one.kind for one in found.caveats}


def test_a_small_unfinished_series_says_so() -> None:
    assert set(CAVEATS) == {*get_args(CaveatKind)}
    waiting = (Status.QUEUED, f"Waiting for {ANA}: it is away")
    found = report([ended("d1", debate(1, "A"))], [], states=(waiting,))
    assert found.missing == 1
    assert found.standing.waiting == {ANA: 1}
    assert next(one.waiting for one in found.availability if one.model == ANA) == 1
    assert kinds(found) == {
        "unfinished",
        "few_debates",
        "no_people",
        "unrated",
        "one_language",
        "one_format",
        "few_topics",
    }
    text = write_markdown(write_page(found), {})
    assert "The series is not complete" in text
    assert "1 waiting for near/ana" in text
    assert "Only 1 of 2 debates were held." in text


def test_informative_pairing_ends_a_series_complete_and_overlapping_intervals_are_counted() -> None:
    file = make_file((ANA, BEN, CID), pairing="informative")
    found = report([ended("d1", debate(1, "A"))], [], file)
    assert found.missing == 0
    assert "unfinished" not in kinds(found)
    assert "1 of at most 48 debates held" in write_markdown(write_page(found), {})
    found = make_report(make_series(make_file((ANA, BEN, CID))), utc_now())
    untold = [one for one in found.caveats if one.kind == "untold"]
    assert all(0 < one.n <= one.of == 2 for one in untold)


def test_jurors_of_one_family_or_of_a_debaters_are_named() -> None:
    kin = make_file((ANA, BEN), jury={"models": ["far/ana-2", "far/j2"], "mode": "all"})
    found = next(one for one in report([], [], kin).caveats if one.kind == "kin")
    assert found.names == ("far/ana-2",)
    alike = make_file((ANA, BEN), jury={"models": ["far/x#k", "far/y#k"], "mode": "all"})
    assert "one_family" in kinds(report([], [], alike))
    alone = make_file((ANA, BEN), jury={"models": ["far/x"], "mode": "one"})
    assert "one_juror" in kinds(report([], [], alone))


def test_unbalanced_pairs_replaced_models_and_refusals_are_said() -> None:
    file = make_file((ANA, BEN, CID), topics=["Tea beats coffee"])
    rows = [
        ended("d1", debate(1, "A")),
        ended("d2", debate(1, "A", mixed=True)),
        ended("d3", debate(1, "A", ANA, CID)),
    ]
    found = report(rows, [tried("d1", ANA, "debater", None)], file)
    said = " ".join(word_caveats(found.caveats))
    assert "1 of 3 pairs have not met." in said
    assert "Pairs met between 1 and 2 times." in said
    assert "In 1 of 3 debates a model was replaced." in said
    assert "The cost of 1 of 1 calls is not known." in said


def test_names_and_topics_are_data_in_both_pages() -> None:
    file = make_file((ANA, BEN), topics=["<script>x</script> | *bold*"])
    row = {"title": "<script>x</script> | *bold*"}
    rows = [ended(f"d{n}", debate(1, "AB"[n % 2], **row)) for n in range(4)]
    page = write_page(report(rows, [], file))
    assert "<script>" not in write_html(page, {})
    assert "&lt;script&gt;" in write_html(page, {})
    assert "\\<script\\>x\\</script\\> \\| \\*bold\\*" in write_markdown(page, {})


# --- Pictures of a report: no text leaves them or covers another; alt texts have the numbers ------


SIZES = {"heading": 16.0, "small": 12.0}
LONG = (
    "online/deepseek/deepseek-v3.2-exp-thinking-2026-08",
    "online/anthropic/claude-opus-4.5",
    "local/WWWWWWWWMMMMMMMMWWWWWWWW",
)
ASCII = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30)

with as_file(files("adapters.pictures").joinpath(FONT)) as path:
    FONTS = {size: ImageFont.truetype(str(path), int(10 * size)) for size in (12.0, 14.0, 16.0)}


class Written(NamedTuple):
    """A text of a picture, and the rectangle that it covers."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


def measure(text: str, size: float) -> float:
    return float(FONTS[size].getlength(text)) / 10


def texts(picture: Picture) -> Iterator[Written]:
    for element in ElementTree.fromstring(picture.svg).iter():  # noqa: S314 - our own picture
        if element.tag.endswith("}text"):
            kinds = str(element.get("class")).split()
            size = next((SIZES[kind] for kind in kinds if kind in SIZES), 14.0)
            text, x, y = element.text or "", float(element.get("x", 0)), float(element.get("y", 0))
            width = measure(text, size)
            left = {"start": x, "middle": x - width / 2, "end": x - width}[
                str(element.get("text-anchor"))
            ]
            yield Written(text, left, y - 0.76 * size, left + width, y + 0.24 * size)


def drawn(models: int, **fields: Any) -> dict[str, Picture]:
    named = (*LONG, *(f"online/vendor{n}/model-number-{n}-instruct" for n in range(27)))[:models]
    topics = [f"Topic {n}" for n in range(2 if models > 9 else 5)]
    found = make_series(make_file(named, topics=topics), **fields)
    return draw_report(make_report(found, utc_now()))


@pytest.mark.parametrize("models", slow_after(1, [3, 9, 2, 12, 30]))
def test_no_text_leaves_its_picture_or_covers_another(models: int) -> None:
    pictures = drawn(models) | {f"people {k}": v for k, v in drawn(models, people="A").items()}
    assert set(pictures) >= {"ratings", "wins", "sides", "jurors", "cost"}
    for name, picture in pictures.items():
        root = ElementTree.fromstring(picture.svg)  # noqa: S314 - our own picture
        width, height = float(root.get("width", 0)), float(root.get("height", 0))
        assert width == 400
        written = list(texts(picture))
        for one in written:
            inside = one.left >= 0 and one.right <= width and one.bottom <= height
            assert inside, (name, one)
        for one, other in combinations(written, 2):
            apart = (
                one.right <= other.left
                or other.right <= one.left
                or one.bottom <= other.top
                or other.bottom <= one.top
            )
            assert apart, (name, one, other)


def test_pictures_say_their_numbers_in_words_and_a_png_is_twice_as_large_in_both_schemes() -> None:
    found = make_series(make_file(LONG))
    pictures = draw_report(make_report(found, utc_now()))
    for picture in pictures.values():
        assert f'<desc id="description">{picture.alt[:20]}' in picture.svg
    assert "online/anthropic/claude-opus-4.5 by jury: 1" in pictures["ratings"].alt
    assert "USD" in pictures["cost"].alt
    found.paid = dict.fromkeys(found.paid, 0.0)
    assert "cost" not in draw_report(make_report(found, utc_now()))
    picture = drawn(2)["wins"]
    light, dark = to_png(picture.svg), to_png(darken(picture.svg))
    for png in (light, dark):
        assert png.startswith(b"\x89PNG")
        assert struct.unpack(">I", png[16:20]) == (800,)
    assert light != dark
    assert "@media" not in darken(picture.svg)
    assert DARK in darken(picture.svg)


@given(ASCII)
def test_texts_are_never_wider_than_is_counted_on(text: str) -> None:
    assert measure(text, 12.0) <= width_of(text, 12.0) + 0.01
    assert width_of(fit(text, 90)) <= 90 or fit(text, 90) == "…"


def test_names_that_look_alike_are_told_apart_and_scales_have_round_ticks() -> None:
    names = short_names(
        [f"x/vendor/a-very-long-name-of-model-{n}-instruct" for n in range(30)], 120
    )
    assert len(set(names.values())) == 30
    assert short_names(["x/a", "y/a"], 120) == {"x/a": "x/a", "y/a": "y/a"}
    assert short_names(["x/a", "y/b"], 120) == {"x/a": "a", "y/b": "b"}
    assert round_scale(752, 1177, 0, 100, 3).ticks == (600, 800, 1000, 1200)
    assert round_scale(0, 0, 0, 100, 3).ticks == (0, 1)
    assert [round_step(least) for least in (0.011, 0.3, 7, 100)] == [0.02, 0.5, 10, 100]
    scale = round_scale(0, 10, 0, 100, 5)
    assert (scale.at(5), scale.at(-3), scale.at(99)) == (50, 0, 100)
    assert [scale.word(value) for value in (-0.5, 1000, -50_000)] == ["−0.5", "1000", "−50k"]


def test_without_a_verdict_a_sentence_stands_in_place_of_an_empty_table() -> None:
    series = make_series(make_file(("near/ana", "near/ben")), jury=None)
    page = write_page(make_report(series, NOW))
    (ratings,) = [one for one in page.sections if one.key == "ratings"]
    assert "there are no ratings yet" in ratings.lines[0]
    assert not ratings.grids
