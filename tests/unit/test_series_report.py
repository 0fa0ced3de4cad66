"""The figures of a series' report, against tables worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from engine.series.report.data import (
    EndedDebate,
    SeriesRows,
    Spoken,
    add_up,
    juror_pairs,
    split_topics,
)
from engine.series.report.page import CAVEATS, word_caveats, write_html, write_markdown, write_page
from engine.series.report.report import (
    CaveatKind,
    PairResult,
    SeriesReport,
    make_report,
    nearest_rank,
)
from engine.series.spec import Series
from engine.stats.row import Row
from engine.store.series import SeriesDebate, SeriesReading, StoredSeries, Try
from engine.values.debate import Status
from engine.values.ports import utc_now
from tests.kit import juror_ballot, make_row
from tests.unit.report_cases import make_file, make_series

ANA, BEN, CID = "near/ana", "near/ben", "near/cid"


def debate(place: int, jury: str | None, a: str = ANA, b: str = BEN, **fields: Any) -> Row:
    return make_row(place, people=None, jury=jury, models={"A": a, "B": b}, **fields)


def tried(debate: str, model: str, role: str, usd: float | None, **fields: Any) -> Try:
    plain = Try(debate, model, role, False, 100, 20, 5, 40, usd, 2.0)
    return plain._replace(**fields)


def ended(id_: str, row: Row | None, *spoken: Spoken, format_: str = "classic") -> EndedDebate:
    return EndedDebate(id_, format_, row, (ANA, BEN), spoken, unrecused=False)


def report(
    rows: list[EndedDebate],
    tries: list[Try],
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
        Spoken(ANA, 100, 200, ()),
        Spoken(ANA, 300, 200, ("too_many_words", "too_many_words", "no_decision")),
        Spoken(BEN, 50, 0, ("refusal",)),
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


def test_topics_are_ordered_by_how_unlike_win_rates_are() -> None:
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


def test_a_topic_that_turns_results_around_is_above_chance() -> None:
    plain = [debate(n, "AB"[n % 2]) for n in range(1, 11) for _ in range(6)]
    odd = [debate(11, "A") for _ in range(6)]
    found = split_topics([*plain, *odd, *[debate(n, "BA"[n % 2]) for n in range(1, 11)] * 6])
    assert found.splits[0].title == "Topic 11"
    assert found.by_chance is not None
    assert found.splits[0].spread > found.by_chance > found.splits[1].spread


def test_jurors_are_compared_on_the_debates_that_both_judged() -> None:
    def judged(n: int, *said: str) -> Row:
        readings = tuple(
            juror_ballot(f"far/j{k}", choice) for k, choice in enumerate(said, 1) if choice
        )
        return debate(n, "A", readings=readings)

    rows = [judged(n, "A", "A" if n % 4 else "B") for n in range(40)]
    rows += [judged(40 + n, "A", "", "B") for n in range(3)]
    one, other = juror_pairs(rows)
    assert (one.juror, one.other, one.agreement.n, one.agreement.value) == (
        "far/j1",
        "far/j2",
        40,
        0.75,
    )
    assert one.agreement.low is not None
    assert one.agreement.low < 0.75
    assert one.kappa.value == 0.0  # one of them always says the same
    assert (other.other, other.agreement.n, other.agreement.value) == ("far/j3", 3, None)


# --- what the figures cannot say ---------------------------------------------------------


def kinds(found: SeriesReport) -> set[CaveatKind]:
    return {one.kind for one in found.caveats}


def test_every_limit_has_a_sentence() -> None:
    assert set(CAVEATS) == set(CaveatKind)


def test_a_small_unfinished_series_says_so() -> None:
    waiting = (Status.QUEUED, f"Waiting for {ANA}: it is away")
    found = report([ended("d1", debate(1, "A"))], [], states=(waiting,))
    assert found.missing == 1
    assert found.standing.waiting == {ANA: 1}
    assert next(one.waiting for one in found.availability if one.model == ANA) == 1
    assert kinds(found) == {
        CaveatKind.UNFINISHED,
        CaveatKind.FEW_DEBATES,
        CaveatKind.NO_PEOPLE,
        CaveatKind.UNRATED,
        CaveatKind.ONE_LANGUAGE,
        CaveatKind.ONE_FORMAT,
        CaveatKind.FEW_TOPICS,
    }
    text = write_markdown(write_page(found), {})
    assert "The series is not complete" in text
    assert "1 waiting for near/ana" in text
    assert "Only 1 of 2 debates were held." in text


def test_a_series_that_informative_pairing_ended_is_complete() -> None:
    file = make_file((ANA, BEN, CID), pairing="informative")
    found = report([ended("d1", debate(1, "A"))], [], file)
    assert found.missing == 0
    assert CaveatKind.UNFINISHED not in kinds(found)
    assert "1 of at most 48 debates held" in write_markdown(write_page(found), {})


def test_jurors_of_one_family_or_of_a_debaters_are_named() -> None:
    kin = make_file((ANA, BEN), jury={"models": ["far/ana-2", "far/j2"], "mode": "all"})
    found = next(one for one in report([], [], kin).caveats if one.kind is CaveatKind.KIN)
    assert found.names == ("far/ana-2",)
    alike = make_file((ANA, BEN), jury={"models": ["far/x#k", "far/y#k"], "mode": "all"})
    assert CaveatKind.ONE_FAMILY in kinds(report([], [], alike))
    alone = make_file((ANA, BEN), jury={"models": ["far/x"], "mode": "one"})
    assert CaveatKind.ONE_JUROR in kinds(report([], [], alone))


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


def test_overlapping_intervals_are_counted() -> None:
    found = make_report(make_series(make_file((ANA, BEN, CID))), utc_now())
    untold = [one for one in found.caveats if one.kind is CaveatKind.UNTOLD]
    assert all(0 < one.n <= one.of == 2 for one in untold)


# --- pages -------------------------------------------------------------------------------


def test_names_and_topics_are_data_in_both_pages() -> None:
    file = make_file((ANA, BEN), topics=["<script>x</script> | *bold*"])
    row = {"title": "<script>x</script> | *bold*"}
    rows = [ended(f"d{n}", debate(1, "AB"[n % 2], **row)) for n in range(4)]
    page = write_page(report(rows, [], file))
    assert "<script>" not in write_html(page, {})
    assert "&lt;script&gt;" in write_html(page, {})
    assert "\\<script\\>x\\</script\\> \\| \\*bold\\*" in write_markdown(page, {})


def test_a_large_series_is_a_page_with_every_part() -> None:
    found = make_report(make_series(make_file((ANA, BEN, CID)), people="A"), utc_now())
    titles = [section.title for section in write_page(found).sections]
    assert titles == [
        "Totals",
        "Ratings",
        "Who beat whom",
        "Side and last word",
        "Topics on which models differ most",
        "The jury",
        "Length, limits and refusals",
        "Availability and latency",
        "Cost",
        "What the figures cannot say",
    ]
    for section in write_page(found).sections:
        for grid in section.grids:
            assert {len(row) for row in grid.rows} == {len(grid.columns)}
