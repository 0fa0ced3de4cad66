"""From archived debates to rows, and the figures that are drawn from them, computed twice."""

import asyncio
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from bot.research.stats import _guessing, _measure, _percents, _show
from engine.chat.answers import to_markdown
from engine.chat.answers.statistics import agreement_figures
from engine.chat.answers.voters import read_percent
from engine.dataset.entry import Keys
from engine.dataset.writer import write_export
from engine.stats.agreement import (
    measure_agreement,
    measure_anchoring,
    measure_crowds,
    measure_guesses,
)
from engine.stats.confidence import (
    FIFTHS,
    Confidence,
    Sure,
    calibrate,
    chances,
    compare,
    sure_votes,
)
from engine.stats.jurors import best_panels, right, view_fit
from engine.stats.row import Row, leads_in, read_rows, row_of, work_out
from engine.store import DebateRecord, ExportFilter
from engine.store.fits import Evidence
from engine.tally import wilson
from engine.values.debate import Fit, JurorFit, Model, PanelSetup, Status, TurnOrder
from engine.values.errors import StoppedError, StoreError, UsageError
from engine.values.options import read_option
from engine.values.verdicts import Question, Verdict, Vote
from tests.doubles.archive import MemoryArchive
from tests.kit import (
    ASPEN,
    BIRCH,
    MAPLE,
    cancelled,
    make_ballot,
    make_debate,
    make_record,
    make_row,
    make_turn,
    make_vote,
    some,
)
from tests.unit.test_dataset_export import table

ANYWHERE = ExportFilter(revealed=True)


def row(record: DebateRecord) -> Row:
    return some(row_of(record))


def test_a_revealed_debate_becomes_who_was_chosen_by_whom_and_no_other_a_statistic() -> None:
    found = row(make_record())
    assert (found.people, found.jury, found.p_a, found.closer) == ("A", "A", 0.8, "B")
    assert found.gold == {"A": 3, "B": 1, "tie": 1}
    assert found.models == {"A": "rehearsal/maple", "B": "rehearsal/birch"}
    assert [reading.verdict for reading in found.readings] == ["A", "A", None]
    assert found.verdicts() == {ASPEN.ref: "A"}
    for status in (Status.PARTIAL, Status.CANCELLED, Status.FAILED):
        assert row_of(make_record(make_debate(1, status))) is None


def test_gold_votes_words_topics_and_votes_of_jurors_are_counted_as_what_they_mean() -> None:
    votes = [make_vote(1, "weak"), make_vote(2, "tie"), make_vote(3, "A", gold=False)]
    votes += [make_vote(4, "A+B", ambiguous=True, gold=False)]
    ballots = [make_ballot(), make_ballot("BA", verdict="B"), make_ballot(audit=True, juror="x/y")]
    turns = [make_turn(n) for n in (1, 2, 3)]
    found = row(make_record(votes=votes, ballots=ballots, turns=turns))
    assert found.gold == {"tie": 2}
    assert found.verdicts() == {ASPEN.ref: "tie"}  # a juror that contradicts itself, and no audit
    assert found.words == {"A": turns[0].words + turns[2].words, "B": turns[1].words}
    one, other = (row(make_record(make_debate(topic=t))) for t in ("Tea, now!", " tea  NOW"))
    assert one.topic == other.topic
    assert "@" not in row(make_record(make_debate(topic="Ask <@700000000000000009>"))).title


def test_a_panel_that_saw_names_or_came_to_nothing_is_no_jury() -> None:
    seen = Verdict(winner="A", p={"A": 0.9, "B": 0.1}, valid=2, invalid=0, blind=False)
    found = row(replace(make_record(), verdict=seen))
    assert (found.jury, found.p_a) == (None, None)
    assert row(replace(make_record(), verdict=None)).jury is None
    sighted = make_debate().setup.model_copy(update={"panel": PanelSetup(roster=(), blind=False)})
    debate = make_debate().model_copy(update={"setup": sighted})
    assert row(make_record(debate)).verdicts() == {}


def test_nobody_closes_where_both_speak_unheard_and_three_contenders_have_no_p_of_a() -> None:
    simultaneous = make_debate(turn_order=TurnOrder.SIMULTANEOUS)
    assert row(make_record(simultaneous)).closer is None
    assert row(make_record(turns=[])).closer is None
    assert row(make_record(turns=[make_turn(1)])).closer == "A"
    sides = {side: Model.parse(f"near/m{side}") for side in "123"}
    verdict = Verdict(winner="2", p=dict.fromkeys("123", 1 / 3), valid=3, invalid=0)
    record = make_record(make_debate(sides=sides), turns=[], votes=[], ballots=[])
    found = row(replace(record, verdict=verdict))
    assert (found.jury, found.p_a, found.closer, found.people) == ("2", None, None, None)


async def test_the_filter_says_which_debates_are_read() -> None:
    records = [
        make_record(make_debate(1)),
        make_record(make_debate(2, language="tr")),
        make_record(make_debate(3, format="team")),
        make_record(make_debate(4, Status.PARTIAL)),
    ]
    archive = MemoryArchive(*records)

    async def debates(where: ExportFilter) -> int:
        return (await work_out(archive, where, measure_agreement)).debates

    assert await debates(ANYWHERE) == 3
    assert await debates(replace(ANYWHERE, languages=("tr",))) == 1
    assert await debates(replace(ANYWHERE, formats=("classic",))) == 2
    assert await debates(replace(ANYWHERE, community="elsewhere")) == 0


async def test_only_rows_are_handed_on_and_a_database_that_fails_is_said_to_who_asked() -> None:
    with pytest.raises(StoreError, match="database is gone"):
        await work_out(MemoryArchive(make_record(), fails_after=0), ANYWHERE, measure_agreement)
    told = await work_out(MemoryArchive(make_record()), ANYWHERE, lambda rows: repr(rows))
    assert "Because it is so" not in told
    assert "Lagoon answered" not in told


class EndlessArchive(MemoryArchive):
    """Yields one debate for ever, until somebody stops asking."""

    def __init__(self) -> None:
        super().__init__()
        self.started, self.left = threading.Event(), threading.Event()

    @contextmanager
    def reading(self, where: ExportFilter) -> Iterator[Iterator[DebateRecord]]:
        record = make_record()
        self.started.set()
        try:
            yield iter(lambda: record, None)
        finally:
            self.left.set()


async def test_whoever_stops_asking_stops_the_reading_which_then_makes_nothing() -> None:
    archive = EndlessArchive()
    task = asyncio.create_task(work_out(archive, ANYWHERE, measure_agreement))
    await asyncio.to_thread(archive.started.wait, 5)
    await cancelled(task)
    assert await asyncio.to_thread(archive.left.wait, 5)
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(StoppedError, match="stopped"):
        read_rows(MemoryArchive(make_record()), ANYWHERE, stopped)


# --- What the model of jurors is said to know, beside an independent computation of each figure


SKILLS = {"near/a": 1.4, "near/b": 1.1, "near/c": 0.9, "near/d": 0.7, "near/e": 0.5}
FAMILIES = dict(zip(SKILLS, ("x", "x", "y", "z", "w"), strict=True))
FIT = Fit(
    version=1,
    debates=200,
    ballots=900,
    shared=0.5,
    shared_error=0.3,
    kin=0.2,
    kin_error=0.5,
    people=0.8,
    evidence=60.0,
    jurors={
        name: JurorFit(
            family=FAMILIES[name],
            ballots=180,
            lean=0.3,
            lean_error=0.1,
            skill=skill,
            skill_error=0.15,
            group=0.6 if name in ("near/c", "near/d") else 0.0,
            group_error=0.2,
            scale=1.0,
            weight=1.0,
        )
        for name, skill in SKILLS.items()
    },
)


def drawn(names: tuple[str, ...], n: int = 400_000) -> tuple[np.ndarray, np.ndarray]:
    """Draw truths, and jurors' signals as the model describes them, one component after another."""
    draw = np.random.default_rng(7)
    truth = draw.standard_normal(n)
    shared = math.sqrt(FIT.shared) * draw.standard_normal(n)
    group = draw.standard_normal(n)
    kin = {name: math.sqrt(FIT.kin) * draw.standard_normal(n) for name in sorted(FAMILIES.values())}
    signals = []
    for name in names:
        one = FIT.jurors[name]
        common = truth + shared + kin[one.family]
        signals.append(one.skill * common + one.group * group + draw.standard_normal(n))
    return truth, np.array(signals)


def accuracy(names: tuple[str, ...]) -> float:
    """Return how often the best linear guess from simulated signals has the sign of the truth."""
    truth, signals = drawn(names)
    weights = np.linalg.lstsq(signals.T, truth, rcond=None)[0]
    return float(np.mean(np.sign(weights @ signals) == np.sign(truth)))


@pytest.mark.slow
def test_a_panel_is_right_as_often_as_in_a_simulation() -> None:
    panels = best_panels(FIT)
    assert [len(panel.jurors) for panel in panels] == [1, 2, 3, 4, 5]
    for panel in panels:
        assert panel.right == pytest.approx(accuracy(panel.jurors), abs=0.004)
    gains = [panel.gain for panel in panels]
    assert sum(gains) == pytest.approx(panels[-1].right - 0.5)
    assert gains == sorted(gains, reverse=True)


@pytest.mark.slow
def test_each_panel_adds_the_juror_that_helps_most() -> None:
    by_size = best_panels(FIT)
    for before, after in pairwise(by_size):
        others = set(SKILLS) - set(before.jurors)
        found = {name: accuracy((*before.jurors, name)) for name in others}
        assert found[after.jurors[-1]] >= max(found.values()) - 0.003


def test_intervals_are_on_the_scale_of_their_errors() -> None:
    shown = view_fit(FIT, 3, datetime(2026, 3, 1, tzinfo=UTC), Evidence(debates=200, ballots=900))
    one = shown.jurors[0]
    assert (one.juror, one.family, one.known) == ("near/a", "x", True)
    assert (one.lean.low, one.lean.high) == pytest.approx((0.104, 0.496))
    logs = [math.log(bound) for bound in (one.skill.low, one.skill.high)]
    assert logs == pytest.approx([math.log(1.4) - 0.294, math.log(1.4) + 0.294])
    assert one.alone == pytest.approx(accuracy(("near/a",)), abs=0.004)
    assert (one.group.value, one.group.low, one.group.high) == pytest.approx((0.0, 0.0, 0.392))
    herd = shown.jurors[2].group
    assert (herd.value, herd.low, herd.high) == pytest.approx((0.6, 0.208, 0.992))
    # 95 % of samples of so many ballots, and the ten that spreads are drawn toward, are inside.
    spreads = np.random.default_rng(5).normal(0, one.spread.value, (20_000, 190)).std(axis=1)
    inside = np.mean((spreads > one.spread.low) & (spreads < one.spread.high))
    assert inside == pytest.approx(0.95, abs=0.01)
    assert math.log(shown.shared.high / 0.5) == pytest.approx(1.96 * 0.3)
    assert math.log(0.2 / shown.family.low) == pytest.approx(1.96 * 0.5)


def test_a_further_juror_is_one_of_median_skill_from_a_family_of_its_own() -> None:
    shown = view_fit(FIT, 3, datetime(2026, 3, 1, tzinfo=UTC), Evidence())
    n, names = 400_000, tuple(SKILLS)
    truth, signals = drawn(names, n)
    draw = np.random.default_rng(7)
    draw.standard_normal(n)
    shared = math.sqrt(FIT.shared) * draw.standard_normal(n)
    other = np.random.default_rng(8)
    own = math.sqrt(FIT.kin) * other.standard_normal(n)
    wider = np.vstack([signals, 0.9 * (truth + shared + own) + other.standard_normal(n)])
    weights = np.linalg.lstsq(wider.T, truth, rcond=None)[0]
    then = float(np.mean(np.sign(weights @ wider) == np.sign(truth)))
    assert shown.further == pytest.approx(then - accuracy(names), abs=0.003)


def test_what_is_known_is_how_often_a_panel_is_right_and_nothing_without_jurors() -> None:
    for variance, chance in ((1.0, 0.5), (0.0, 1.0), (0.5, 0.75)):
        assert right(variance) == pytest.approx(chance)
    empty = Fit(version=1, shared=0.5, kin=0.2, people=0.74)
    shown = view_fit(empty, 1, datetime(2026, 3, 1, tzinfo=UTC), Evidence())
    assert (shown.jurors, shown.panels, shown.further) == ((), (), None)


# --- How clear a debate was: what each word is worth, from agreement with the others --------------


KEYS = Keys(splits=b"splits", master=b"master")
P_A = {"A": 0.8, "B": 0.2}


class Cast(NamedTuple):
    option: str
    confidence: str = ""
    gold: bool = True


def said(*votes: Cast) -> list[Sure]:
    return list(compare(votes, ("A", "B")))


def test_gold_votes_for_one_of_two_sides_are_compared_with_the_others_alone() -> None:
    assert said(Cast("A", "clear"), Cast("A"), Cast("B")) == []  # the others are level
    assert said(Cast("A", "clear"), Cast("A"), Cast("A")) == [("clear", True)]
    assert said(Cast("B", "close"), Cast("A")) == [("close", False)]
    assert said(Cast("A", "clear")) == []
    others = (Cast("A"), Cast("A"), Cast("tie"), Cast("weak"))
    assert said(*others, Cast("tie", "clear"), Cast("weak", "close")) == []
    assert said(*others, Cast("A", "clear", gold=False)) == []
    assert said(Cast("A", "clear"), Cast("B", gold=False), Cast("B", gold=False)) == []
    assert list(compare((Cast("1", "clear"), Cast("1")), ("1", "2", "3"))) == []


@pytest.mark.parametrize(("k", "n", "p"), [(0, 29, None), (0, 30, 1 / 32), (30, 30, 31 / 32)])
def test_a_word_has_a_probability_from_thirty_votes_on(k: int, n: int, p: float | None) -> None:
    pairs = [("clear", i < k) for i in range(n)]
    assert calibrate(pairs) == (
        Confidence(word="close", n=0, agreed=0),
        Confidence(word="clear", n=n, agreed=k, p=p),
        Confidence(word="one-sided", n=0, agreed=0),
    )
    assert chances(pairs) == ({} if p is None else {"clear": p})


def records(debates: int) -> list[DebateRecord]:
    """Return debates with three votes for A, one of them clear, and one close vote for B."""
    votes = [make_vote(0, "A", confidence="clear"), make_vote(1, "A"), make_vote(2, "A")]
    votes += [make_vote(9, "B", confidence="close"), make_vote(10, "tie", confidence="close")]
    return [make_record(make_debate(number), votes=votes) for number in range(1, debates + 1)]


@pytest.mark.parametrize(("debates", "clear", "close"), [(29, None, None), (30, 31 / 32, 1 / 32)])
def test_an_export_has_the_word_and_its_probability(
    tmp_path: Path, debates: int, clear: float | None, close: float | None
) -> None:
    out = tmp_path / "out"
    write_export(MemoryArchive(*records(debates)), ExportFilter(), out, KEYS, version="0")
    rows = table(out, "votes")
    found = {(row["option"], row["confidence"], row["p_majority"]) for row in rows}
    assert found == {
        *(("A", "clear", clear), ("A", None, None)),
        *(("B", "close", close), ("tie", "close", None)),
    }


def test_the_statistics_have_each_words_votes() -> None:
    close, clear, one_sided = measure_agreement(list(map(row, records(30)))).confidence
    assert (close.n, close.agreed, close.p) == (30, 0, 1 / 32)
    assert (clear.n, clear.agreed, clear.p) == (30, 30, 31 / 32)
    assert (one_sided.n, one_sided.p) == (0, None)


# --- In percent: fifths, and beside the panel's probability ---------------------------------------


@pytest.mark.parametrize(
    ("percent", "fifth"),
    [("0", 0), ("20", 0), ("21", 1), ("50", 2), ("80", 3), ("81", 4), ("100", 4)],
)
def test_percents_are_calibrated_in_fifths(percent: str, fifth: int) -> None:
    pairs = [(percent, n < 20) for n in range(30)]
    *words, found = calibrate(pairs)
    assert found == Confidence(word=FIFTHS[fifth], n=30, agreed=20, p=21 / 32)
    assert not any(one.n for one in words)
    known = chances(pairs)
    assert known[percent] == 21 / 32
    assert len([one for one in known if one.isdigit()]) == (21 if fifth == 0 else 20)


def test_a_vote_in_percent_is_a_probability_of_a() -> None:
    votes = (Cast("A", "80"), Cast("B", "70"), Cast("A"), Cast("A"))
    assert list(sure_votes(votes, ("A", "B"))) == [(0.8, True), (pytest.approx(0.3), True)]
    level = (Cast("A", "80"), Cast("A"), Cast("B"))
    assert list(sure_votes(level, ("A", "B"))) == [(0.8, None)]
    others = (Cast("tie", "50"), Cast("A", "close"), Cast("A", "90", gold=False))
    assert list(sure_votes(others, ("A", "B"))) == []
    assert list(sure_votes((Cast("1", "80"),), ("1", "2", "3"))) == []


def test_people_and_panel_are_compared_on_one_scale() -> None:
    # In each debate three chose A, at 90 %; one chose B, at 60 %. The panel has A at 0.8.
    votes = [make_vote(n, "A", confidence="90") for n in range(3)]
    votes.append(make_vote(3, "B", confidence="60"))
    held = [make_record(make_debate(number), votes=votes) for number in range(1, 31)]
    held = [replace(one, verdict=some(one.verdict).model_copy(update={"p": P_A})) for one in held]
    found = measure_agreement(list(map(row, held))).percents
    assert found.difference.n == found.brier_people.n == found.brier_jury.n == 120
    assert found.difference.value == pytest.approx((3 * 0.1 + 0.4) / 4)
    assert found.brier_people.value == pytest.approx((3 * 0.1**2 + 0.6**2) / 4)
    assert found.brier_jury.value == pytest.approx(0.2**2)
    assert [one.n for one in found.people] == [0, 30, 0, 0, 90]
    assert [one.n for one in found.jury] == [0, 0, 0, 120, 0]
    title, _, rows = _percents(found)
    assert title == "How sure people and panel are"
    assert [one[0] for one in rows][:2] == ["mean absolute difference", "Brier score"]
    empty = measure_agreement(list(map(row, records(3)))).percents
    assert (empty.difference.n, list(_percents(empty)[2])) == (0, [])


def test_an_export_has_the_percent_as_it_was_given(tmp_path: Path) -> None:
    votes = [*(make_vote(n, "A", confidence="85") for n in range(2)), make_vote(3, "B")]
    held = [make_record(make_debate(number), votes=votes) for number in range(1, 31)]
    write_export(MemoryArchive(*held), ExportFilter(), tmp_path / "out", KEYS, version="0")
    rows = table(tmp_path / "out", "votes")
    found = {(row["option"], row["confidence"], row["confidence_percent"]) for row in rows}
    assert found == {("A", None, 85), ("B", None, None)}
    assert {row["p_majority"] for row in rows if row["option"] == "A"} == {None}  # others level


@pytest.mark.parametrize(("typed", "read"), [("0", "0"), (" 100 ", "100"), ("070 %", "70")])
def test_a_percent_is_read_as_a_whole_number(typed: str, read: str) -> None:
    assert read_percent(typed) == read


@pytest.mark.parametrize(
    "typed", ["-3", "101", "abc", "50.5", "", " % ", "٧٠", "７０", "²", "0x1f"]
)
def test_what_is_no_percent_is_refused_in_a_sentence(typed: str) -> None:
    with pytest.raises(UsageError, match="whole number from 0 to 100"):
        read_percent(typed)


@pytest.mark.parametrize(
    ("typed", "read"), [("percent", "percent"), ("ON", "on"), ("no", "off"), ("true", "on")]
)
def test_the_option_takes_a_switch_or_percent(typed: str, read: str) -> None:
    assert read_option("confidence", typed) == read
    with pytest.raises(UsageError, match="did you mean percent"):
        read_option("confidence", "percents")


def test_a_request_in_words_is_written_as_ever() -> None:
    request = make_debate(1).setup.request
    for asked, written in ((True, b'"confidence":true'), ("percent", b'"confidence":"percent"')):
        made = request.__class__.model_validate(request.model_dump() | {"confidence": asked})
        assert written in made.model_dump_json().encode()
        assert request.__class__.model_validate_json(made.model_dump_json()) == made
    assert "confidence" not in request.model_dump_json()


# --- Whether guesses at the models beat chance, and what decided for people and jurors ------------


MENU = (BIRCH.ref, MAPLE.ref, "near/cleo", "near/dora")


def guess(person: int, side: str, model: str, **fields: object) -> Vote:
    return make_vote(person, model, question=Question.GUESS, step=side, **fields)


def record(*votes: Vote, menu: tuple[str, ...] = MENU) -> DebateRecord:
    debate = make_debate(1, sides={"A": MAPLE, "B": BIRCH})
    setup = debate.setup.model_copy(update={"menu": menu})
    return make_record(debate.model_copy(update={"setup": setup}), votes=votes)


def test_blind_guesses_that_could_be_right_count() -> None:
    known = guess(3, "A", MAPLE.ref, gold=False, reason="starter")
    told = guess(4, "A", MAPLE.ref, gold=False, reason="mirror")
    found = record(guess(1, "A", MAPLE.ref), guess(2, "B", "near/cleo"), known, told)
    assert row(found).guesses == ((True, 4), (False, 4))
    # A model that was not on the menu could not be guessed.
    elsewhere = record(guess(1, "A", "near/cleo"), menu=("near/cleo", "near/dora"))
    assert row(elsewhere).guesses == ()


@pytest.mark.parametrize(("right", "above"), [(10, False), (15, False), (17, True), (40, True)])
def test_guesses_beat_chance_once_their_interval_lies_above_it(right: int, above: bool) -> None:
    found = measure_guesses((i < right, 4) for i in range(40))
    assert (found.chance, found.above) == (0.25, above)
    assert (found.share.low, found.share.high) == wilson(right, 40)
    _, _, ((told, *_),) = _guessing(found)
    assert told == ("they beat chance" if above else "they do not beat chance")


def test_few_guesses_have_no_share_and_none_no_row() -> None:
    few = measure_guesses([(True, 2)])
    assert (few.share.value, few.share.n, few.chance) == (None, 1, 0.5)
    assert _guessing(measure_guesses([]))[2] == []


def test_what_decided_for_people_stands_beside_what_did_for_jurors() -> None:
    said = [make_vote(n, "A", ground="logic" if n < 25 else "rebuttal") for n in range(40)]
    found = measure_agreement([row(record(*said))]).grounds
    people = {one.name: one.people.value for one in found}
    nothing = dict.fromkeys(("evidence", "style", "other"), 0.0)
    assert people == nothing | {"logic": 25 / 40, "rebuttal": 15 / 40}
    assert {one.name for one in found if one.criterion} == {"logic", "evidence", "rebuttal"}


def test_a_tie_of_criteria_counts_for_each_in_part() -> None:
    sheet = {"A": {"logic": 8, "evidence": 8, "honesty": 5}, "B": {"logic": 5, "evidence": 5}}
    sheet["B"]["honesty"] = 5
    found = make_record(ballots=[make_ballot().model_copy(update={"scores": sheet})])
    assert leads_in(found.ballots) == {"logic": 0.5, "evidence": 0.5}


# --- People beside people, by platform; chat, labels and jury in pairs: checked independently -----


WINNERS = ("A", "B", "tie")


def rows(random: Random) -> list[Row]:
    return [
        make_row(
            n,
            people=random.choice(WINNERS),
            jury=random.choice(("A", "A", "B")),
            crowds={"web": {"A": random.randrange(1, 4), "B": random.randrange(3)}},
            web=random.choice(("A", "B", None)),
        )
        for n in range(120)
    ]


@pytest.mark.parametrize(("web", "n"), [(None, 0), ("B", 40)], ids=["two", "three"])
def test_all_three_are_told_only_where_chat_labels_and_jury_each_decided(
    web: str | None, n: int, capsys: pytest.CaptureFixture[str]
) -> None:
    crowds = {"discord": {"A": 2, "B": 1}}
    made = [make_row(k, "AB"[k % 2], "A", crowds=crowds, web=web) for k in range(40)]
    found = _measure(made, None, alt_test=False)
    crowds_found = found.agreement.crowds
    assert (crowds_found.between[1].agreement.n, crowds_found.alpha.n) == (40, n)
    _show(found)
    assert ("all three" in capsys.readouterr().out) is bool(n)


@pytest.mark.slow
def test_figures_agree_with_other_implementations() -> None:
    from krippendorff import alpha as krippendorff_alpha
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

    made = rows(Random(5))
    found = measure_crowds(made)
    pairs = [(row.people, row.web) for row in made if row.web]
    [chat_web, chat_jury, _] = found.between
    assert chat_web.kappa.value == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert chat_jury.agreement.value == sum(row.people == row.jury for row in made) / 120
    counts = np.array([[row.crowds["web"].get(side, 0) for side in "AB"] for row in made])
    [web] = found.platforms
    assert web.alpha.value == pytest.approx(
        krippendorff_alpha(value_counts=counts, level_of_measurement="nominal")
    )
    three = np.array(
        [
            [(row.people, row.web, row.jury).count(side) for side in WINNERS]
            for row in made
            if row.web
        ]
    )
    assert found.alpha.value == pytest.approx(
        krippendorff_alpha(value_counts=three, level_of_measurement="nominal")
    )


# --- How far a reveal moves people, by what they answered before and after it ---------------------


def test_who_came_to_the_jury_and_left_it_is_counted_where_enough_people_did() -> None:
    moved = (("B", "A"), ("B", "A"), ("tie", "A"), ("B", "B"), ("A", "A"), ("A", "tie"))
    rows = [make_row(n, jury="A", revised=moved) for n in range(20)]
    found = measure_anchoring(rows)
    assert (found.toward.n, found.away.n) == (80, 40)
    assert found.toward.value == pytest.approx(0.75)
    assert found.away.value == pytest.approx(0.5)
    assert found.toward.low == found.toward.high == pytest.approx(0.75)  # every topic says so
    rows = [make_row(n, jury="A", revised=(("B", "A"),)) for n in range(29)]
    assert measure_anchoring(rows).toward.value is None
    told = to_markdown(agreement_figures(measure_agreement(rows)))
    assert "disagreed with the jury, too few (29) moved to" in told
    found = measure_anchoring([make_row(jury=None, revised=(("A", "B"),))])
    assert (found.toward.n, found.away.n) == (0, 0)
    told = to_markdown(agreement_figures(measure_agreement([make_row()])))
    assert "Asked again" not in told


def test_only_gold_votes_and_clear_answers_are_compared() -> None:
    again = {"question": Question.AGAIN, "gold": False, "judge_visible": True}
    answers = (
        make_vote(1, "weak"),
        make_vote(2, "B"),
        make_vote(3, "B", gold=False, starter=True),
        make_vote(1, "A", **again),
        make_vote(2, "A+B", ambiguous=True, **again),
        make_vote(3, "A", **again),
        make_vote(4, "A", **again),
    )
    found = row(DebateRecord(make_debate(), (), (), None, answers, ()))
    assert found.revised == (("tie", "A"),)
    assert found.gold == {"tie": 1, "B": 1}  # what comes after the reveal counts in no tally
