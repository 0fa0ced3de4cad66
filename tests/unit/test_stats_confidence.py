"""How clear a debate was: what each word is worth, from agreement with the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest

from engine.dataset.entry import Keys
from engine.dataset.writer import write_export
from engine.stats.agreement import measure_agreement
from engine.stats.confidence import Confidence, Sure, calibrate, chances, compare
from engine.stats.row import row_of
from engine.store import DebateRecord, ExportFilter
from tests.doubles.archive import MemoryArchive
from tests.kit import make_debate, make_record, make_vote

KEYS = Keys(splits=b"splits", master=b"master")


class Cast(NamedTuple):
    option: str
    confidence: str = ""
    gold: bool = True


def said(*votes: Cast) -> list[Sure]:
    return list(compare(votes, ("A", "B")))


def test_a_vote_is_compared_with_the_others_alone() -> None:
    assert said(Cast("A", "clear"), Cast("A"), Cast("B")) == []  # the others are level
    assert said(Cast("A", "clear"), Cast("A"), Cast("A")) == [Sure("clear", True)]
    assert said(Cast("B", "close"), Cast("A")) == [Sure("close", False)]
    assert said(Cast("A", "clear")) == []


def test_only_gold_votes_for_one_of_two_sides_count() -> None:
    others = (Cast("A"), Cast("A"), Cast("tie"), Cast("weak"))
    assert said(*others, Cast("tie", "clear"), Cast("weak", "close")) == []
    assert said(*others, Cast("A", "clear", gold=False)) == []
    assert said(Cast("A", "clear"), Cast("B", gold=False), Cast("B", gold=False)) == []
    assert list(compare((Cast("1", "clear"), Cast("1")), ("1", "2", "3"))) == []


@pytest.mark.parametrize(("k", "n", "p"), [(0, 29, None), (0, 30, 1 / 32), (30, 30, 31 / 32)])
def test_a_word_has_a_probability_from_thirty_votes_on(k: int, n: int, p: float | None) -> None:
    pairs = [Sure("clear", i < k) for i in range(n)]
    assert calibrate(pairs) == (
        Confidence(word="close", n=0, agreed=0),
        Confidence(word="clear", n=n, agreed=k, p=p),
        Confidence(word="one-sided", n=0, agreed=0),
    )
    assert chances(pairs) == ({} if p is None else {"clear": p})


def records(debates: int) -> list[DebateRecord]:
    """Return debates with three votes for A, one of them clear, and one close vote for B."""
    told: list[dict[str, Any]] = [{"confidence": "clear"}, {}, {}]
    return [
        make_record(
            make_debate(number),
            votes=[
                *(make_vote(n, "A", **fields) for n, fields in enumerate(told)),
                make_vote(9, "B", confidence="close"),
                make_vote(10, "tie", confidence="close"),
            ],
        )
        for number in range(1, debates + 1)
    ]


@pytest.mark.parametrize(("debates", "clear", "close"), [(29, None, None), (30, 31 / 32, 1 / 32)])
def test_an_export_has_the_word_and_its_probability(
    tmp_path: Path, debates: int, clear: float | None, close: float | None
) -> None:
    out = tmp_path / "out"
    write_export(MemoryArchive(*records(debates)), ExportFilter(), out, KEYS, version="0")
    rows = [
        orjson.loads(line)
        for file in sorted(out.glob("data/votes/*.jsonl"))
        for line in file.read_bytes().splitlines()
    ]
    found = {(row["option"], row["confidence"], row["p_majority"]) for row in rows}
    assert found == {
        *(("A", "clear", clear), ("A", None, None)),
        *(("B", "close", close), ("tie", "close", None)),
    }


def test_the_statistics_have_each_words_votes() -> None:
    rows = [row for record in records(30) if (row := row_of(record)) is not None]
    close, clear, one_sided = measure_agreement(rows).confidence
    assert (close.n, close.agreed, close.p) == (30, 0, 1 / 32)
    assert (clear.n, clear.agreed, clear.p) == (30, 30, 31 / 32)
    assert (one_sided.n, one_sided.p) == (0, None)
