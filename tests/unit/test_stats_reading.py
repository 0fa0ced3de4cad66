"""From archived debates to the small rows that statistics are made of."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pytest

from engine.stats.agreement import measure_agreement
from engine.stats.row import Row, read_rows, row_of, work_out
from engine.store import DebateRecord, ExportFilter
from engine.values.debate import Model, PanelSetup, Status, TurnOrder
from engine.values.errors import StoppedError, StoreError
from engine.values.judging import Verdict
from tests.doubles.archive import MemoryArchive
from tests.kit import ASPEN, make_ballot, make_debate, make_record, make_turn, make_vote

ANYWHERE = ExportFilter(revealed=True)


def row(record: DebateRecord) -> Row:
    found = row_of(record)
    assert found is not None
    return found


def test_a_revealed_debate_becomes_who_was_chosen_by_whom() -> None:
    found = row(make_record())
    assert (found.people, found.jury, found.p_a, found.closer) == ("A", "A", 0.8, "B")
    assert found.gold == {"A": 3, "B": 1, "tie": 1}
    assert found.models == {"A": "rehearsal/maple", "B": "rehearsal/birch"}
    assert [reading.verdict for reading in found.readings] == ["A", "A", None]
    assert found.verdicts() == {ASPEN.ref: "A"}


@pytest.mark.parametrize("status", [Status.PARTIAL, Status.CANCELLED, Status.FAILED])
def test_what_was_never_revealed_is_no_statistic(status: Status) -> None:
    assert row_of(make_record(make_debate(1, status))) is None


def test_votes_that_are_not_gold_count_nowhere_and_both_weak_is_a_tie() -> None:
    votes = [make_vote(1, "weak"), make_vote(2, "tie"), make_vote(3, "A", gold=False)]
    votes += [make_vote(4, "A+B", ambiguous=True, gold=False)]
    assert row(make_record(votes=votes)).gold == {"tie": 2}


def test_a_panel_that_saw_names_or_came_to_nothing_is_no_jury() -> None:
    seen = Verdict(winner="A", p={"A": 0.9, "B": 0.1}, valid=2, invalid=0, blind=False)
    found = row(replace(make_record(), verdict=seen))
    assert (found.jury, found.p_a) == (None, None)
    assert row(replace(make_record(), verdict=None)).jury is None
    sighted = make_debate().setup.model_copy(update={"panel": PanelSetup(roster=(), blind=False)})
    debate = make_debate().model_copy(update={"setup": sighted})
    assert row(make_record(debate)).verdicts() == {}


def test_nobody_has_the_last_word_where_both_speak_unheard() -> None:
    simultaneous = make_debate(turn_order=TurnOrder.SIMULTANEOUS)
    assert row(make_record(simultaneous)).closer is None
    assert row(make_record(turns=[])).closer is None
    assert row(make_record(turns=[make_turn(1)])).closer == "A"


def test_each_side_is_counted_by_all_the_words_it_said() -> None:
    turns = [make_turn(n) for n in (1, 2, 3)]
    said: Counter[str] = Counter()
    for turn in turns:
        said[turn.side] += turn.words
    assert row(make_record(turns=turns)).words == said
    assert len(said) == 2


def test_a_topic_is_one_however_it_is_written_and_mentions_are_taken_out() -> None:
    one, other = (row(make_record(make_debate(topic=t))) for t in ("Tea, now!", " tea  NOW"))
    assert one.topic == other.topic
    assert "@" not in row(make_record(make_debate(topic="Ask <@700000000000000009>"))).title


def test_a_juror_that_contradicts_itself_has_chosen_a_tie_and_audits_do_not_count() -> None:
    ballots = [make_ballot(), make_ballot("BA", verdict="B"), make_ballot(audit=True, juror="x/y")]
    assert row(make_record(ballots=ballots)).verdicts() == {ASPEN.ref: "tie"}


def test_three_contenders_have_no_p_of_a() -> None:
    sides = {side: Model.parse(f"near/m{side}") for side in "123"}
    verdict = Verdict(winner="2", p=dict.fromkeys("123", 1 / 3), valid=3, invalid=0)
    record = make_record(make_debate(sides=sides), turns=[], votes=[], ballots=[])
    found = row(replace(record, verdict=verdict))
    assert (found.jury, found.p_a, found.closer, found.people) == ("2", None, None, None)


# --- reading -----------------------------------------------------------------------------


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


async def test_a_database_that_fails_is_said_to_the_one_who_asked() -> None:
    archive = MemoryArchive(make_record(), fails_after=0)
    with archive.reading(ANYWHERE):
        pass
    with pytest.raises(StoreError, match="database is gone"):
        await work_out(archive, ANYWHERE, measure_agreement)


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


async def test_whoever_stops_asking_stops_the_reading() -> None:
    archive = EndlessArchive()
    task = asyncio.create_task(work_out(archive, ANYWHERE, measure_agreement))
    await asyncio.to_thread(archive.started.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(archive.left.wait, 5)


def test_a_reading_that_was_stopped_makes_nothing() -> None:
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(StoppedError, match="stopped"):
        read_rows(MemoryArchive(make_record()), ANYWHERE, stopped)


async def test_only_rows_are_handed_on() -> None:
    def texts(rows: Sequence[Row]) -> str:
        return repr(rows)

    told = await work_out(MemoryArchive(make_record()), ANYWHERE, texts)
    assert "Because it is so" not in told
    assert "Lagoon answered" not in told
