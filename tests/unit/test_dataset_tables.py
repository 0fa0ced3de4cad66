"""What a reader of each table finds in its rows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from engine.dataset.columns import Column
from engine.dataset.entry import Entry, make_entry
from engine.dataset.tables import TABLES
from engine.dataset.voters import Pseudonyms
from engine.debate import BallotKind, Model, Scores, Status, TurnOrder, Usage
from engine.store import CallRecord, DebateRecord, ExportFilter
from tests.doubles.archive import (
    NOON,
    make_ballot,
    make_call,
    make_debate,
    make_invalid_ballot,
    make_record,
    make_turn,
    make_vote,
)

VOTERS = Pseudonyms(b"master", ExportFilter(), NOON)
BY_NAME = {table.name: table for table in TABLES}
TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int64": (int,),
    "float64": (int, float),
}


def entry(record: DebateRecord) -> Entry:
    return make_entry(record, VOTERS, b"salt")


def rows(table: str, record: DebateRecord | None = None) -> list[dict[str, Any]]:
    return list(BY_NAME[table].rows(entry(record or make_record())))


def debate_row(record: DebateRecord | None = None) -> dict[str, Any]:
    (row,) = rows("debates", record)
    return row


def check_cell(column: Column, value: Any) -> None:
    if value is None:
        assert "null" in column.about, column.name
    elif isinstance(column.type, str):
        assert type(value) is not bool or column.type == "bool", column.name
        assert isinstance(value, TYPES.get(column.type, (str,))), column.name
    else:
        for item in value:
            assert list(item) == [field.name for field in column.type]
            for field in column.type:
                check_cell(field, item[field.name])


RECORDS = [
    make_record(),
    make_record(make_debate(2, Status.PARTIAL), turns=[make_turn(1)], calls=[]),
    make_record(make_debate(3, Status.CANCELLED), turns=[], calls=[]),
    make_record(make_debate(4, quorum=9), ballots=[make_invalid_ballot()], votes=[]),
]


class TestEveryTable:
    @pytest.mark.parametrize("name", BY_NAME)
    @pytest.mark.parametrize("record", RECORDS, ids=["closed", "partial", "cancelled", "bare"])
    def test_rows_are_what_the_columns_declare(self, name: str, record: DebateRecord) -> None:
        table = BY_NAME[name]
        for row in table.rows(entry(record)):
            assert list(row) == [column.name for column in table.columns]
            for column in table.columns:
                check_cell(column, row[column.name])

    @pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
    def test_nothing_is_made_that_no_column_declares(self, table: Any) -> None:
        (made, *_) = table.make(entry(make_record()))
        declared = {column.name for column in table.columns}
        assert set(made) | {"debate_id", "split"} == declared

    def test_every_row_names_its_debate_and_split(self) -> None:
        record = make_record()
        found = {(r["debate_id"], r["split"]) for name in BY_NAME for r in rows(name, record)}
        assert found == {(record.debate.id, entry(record).split)}


class TestDebates:
    def test_both_judgments_stand_side_by_side(self) -> None:
        row = debate_row()
        assert row["status"] == "closed"
        assert (row["human_winner"], row["jury_winner"], row["agree"]) == ("A", "A", True)
        assert (row["p_a"], row["z"], row["n_valid"], row["n_invalid"]) == (0.8, 1.5, 2, 1)
        assert [row[f"n_{name}"] for name in ("a", "b", "tie", "weak")] == [3, 1, 1, 0]
        assert [row[f"gold_{name}"] for name in ("a", "b", "tie", "weak")] == [3, 1, 1, 0]
        assert row["share_a"] == 0.75
        assert row["share_low"] < 0.75 < row["share_high"]
        assert row["quorum_met"] is True
        assert row["revealed_at"] == "2026-03-01T13:00:30Z"

    def test_votes_that_are_not_gold_are_counted_apart(self) -> None:
        votes = [
            make_vote(1),
            make_vote(2, "B", gold=False, starter=True),
            make_vote(3, "A+tie", gold=False, ambiguous=True),
        ]
        row = debate_row(make_record(votes=votes))
        assert (row["n_a"], row["gold_a"], row["n_b"], row["gold_b"]) == (1, 1, 1, 0)
        assert (row["n_ambiguous"], row["n_tie"]) == (1, 0)

    def test_below_the_quorum_people_have_no_winner(self) -> None:
        row = debate_row(make_record(votes=[make_vote(1)]))
        assert (row["human_winner"], row["quorum_met"], row["agree"]) == (None, False, None)
        assert (row["jury_winner"], row["n_a"]) == ("A", 1)

    @pytest.mark.parametrize("status", [Status.PARTIAL, Status.CANCELLED, Status.FAILED])
    def test_a_debate_that_ended_early_is_labelled_and_has_no_labels(self, status: Status) -> None:
        row = debate_row(make_record(make_debate(2, status), turns=[make_turn(1)]))
        assert row["status"] == status.value
        for name in ("human_winner", "jury_winner", "p_a", "n_a", "n_valid", "revealed_at"):
            assert row[name] is None
        assert (row["n_turns"], row["spoke_first"], row["spoke_last"]) == (1, "A", "A")

    def test_a_panel_without_a_verdict_says_why(self) -> None:
        record = make_record()
        assert record.verdict is not None
        none = record.verdict.model_copy(
            update={"winner": None, "problem": "too few ballots", "p": {}, "z": None}
        )
        row = debate_row(DebateRecord(**_fields(record) | {"verdict": none}))
        assert (row["jury_winner"], row["jury_problem"]) == (None, "too few ballots")
        assert (row["p_a"], row["p"], row["agree"]) == (None, None, None)

    def test_says_who_argued_which_side_and_who_was_drawn(self) -> None:
        (a, b) = debate_row(make_record(make_debate(drawn=("B",))))["sides"]
        assert a == {
            "side": "A",
            "backend": "rehearsal",
            "model": "maple",
            "family": "maple",
            "drawn": False,
        }
        assert (b["model"], b["drawn"]) == ("birch", True)

    def test_holds_how_the_debate_was_held(self) -> None:
        debate = make_debate(
            conditions="In <@123456789> years",
            language="tr",
            turn_order=TurnOrder.SIMULTANEOUS,
            blind=False,
            scores=Scores.LIVE,
            ballot=BallotKind.SECRET,
        )
        row = debate_row(make_record(debate))
        assert row["conditions"] == "In [mention] years"
        assert (row["language"], row["turn_order"]) == ("tr", "simultaneous")
        assert (row["blind"], row["scores"], row["ballot"]) == (False, "live", "secret")

    def test_a_cost_that_nobody_knows_is_null(self) -> None:
        known = [make_call("turn/opening/A", cost=0.1), make_call("turn/opening/B", cost=0.2)]
        assert debate_row(make_record(calls=known))["cost_usd"] == pytest.approx(0.3)
        unknown = [*known, make_call("turn/closing/A", cost=None)]
        row = debate_row(make_record(calls=unknown))
        assert (row["cost_usd"], row["n_calls"]) == (None, 3)

    def test_the_prompt_hash_tells_other_prompts_apart(self) -> None:
        one = debate_row(make_record(calls=[make_call("x"), make_call("y")]))["prompt_hash"]
        same = debate_row(make_record(calls=[make_call("y", attempt=2), make_call("x")]))
        other = debate_row(make_record(calls=[make_call("x")]))
        assert one == same["prompt_hash"] != other["prompt_hash"]

    def test_more_than_two_sides_are_in_the_lists(self) -> None:
        sides = {str(n): Model.parse(f"rehearsal/m{n}") for n in (1, 2, 3)}
        votes = [make_vote(1, "2"), make_vote(2, "2"), make_vote(3, "tie")]
        record = make_record(make_debate(sides=sides), turns=[], ballots=[], votes=votes)
        row = debate_row(record)
        assert (row["human_winner"], row["n_a"], row["share_a"]) == ("2", None, None)
        assert {"option": "2", "n": 2, "gold": 2} in row["tally"]

    def test_a_topic_is_identified_without_the_mention_in_it(self) -> None:
        one, other = (
            debate_row(make_record(make_debate(topic=f"Is <@{user}> right?")))
            for user in (123456789012345678, 876543210987654321)
        )
        assert one["topic"] == "Is [mention] right?"
        assert one["topic_id"] == other["topic_id"]


class TestTurns:
    def test_a_turn_carries_its_call(self) -> None:
        call = make_call(
            "turn/opening/A",
            finish="length",
            usage=Usage(tokens_in=11, tokens_out=22),
            latency=3.5,
        )
        turn = make_turn(1, "Ask <@123456789> now.", limit=0)
        (row,) = rows("turns", make_record(turns=[turn], calls=[call]))
        assert (row["text"], row["word_limit"]) == ("Ask [mention] now.", None)
        assert (row["tokens_in"], row["tokens_out"], row["latency_s"]) == (11, 22, 3.5)
        assert (row["stop_reason"], row["prompt_hash"]) == ("length", "hash of turn/opening/A")
        assert (row["model_asked"], row["model_answered"]) == ("rehearsal/maple", "maple-2026")
        assert (row["shortened"], row["thumbs_up"]) == (False, None)

    def test_a_shortened_turn_carries_the_call_that_shortened_it(self) -> None:
        calls = [make_call("turn/opening/A"), make_call("turn/opening/A/shorten", latency=9)]
        (row,) = rows("turns", make_record(turns=[make_turn(1)], calls=calls))
        assert (row["shortened"], row["latency_s"]) == (True, 9)

    def test_failed_tries_are_not_taken_for_the_answer(self) -> None:
        failed = CallRecord("turn/opening/A", 2, None, "503", 0.0, 1.0, "x")
        (row,) = rows("turns", make_record(turns=[make_turn(1)], calls=[failed]))
        assert (row["stop_reason"], row["tokens_in"], row["prompt_hash"]) == (None, None, None)

    def test_violations_are_listed(self) -> None:
        *fine, broken = rows("turns")
        assert [row["violations"] for row in fine] == [[], [], []]
        assert broken["violations"] == [{"kind": "too_many_words", "measured": 512, "limit": 500}]


class TestVerdicts:
    def test_a_valid_ballot_is_there_with_what_was_made_of_it(self) -> None:
        (row, reverse, _) = rows("verdicts")
        assert (row["order"], reverse["order"]) == ("AB", "BA")
        assert (row["juror"], row["model_answered"]) == ("rehearsal/aspen", "aspen-2026")
        assert {"side": "B", "criterion": "honesty", "score": 5} in row["scores"]
        assert row["names"] == [{"side": "A", "name": "Lagoon"}, {"side": "B", "name": "Meadow"}]
        assert row["x"] == [{"side": "A", "x": 1.7}, {"side": "B", "x": -1.7}]
        assert (row["weight"], row["pos"], row["sd"], row["slope"]) == (1.0, 0.0, 1.5, 0.9)

    def test_an_invalid_ballot_keeps_its_raw_text_and_is_no_number(self) -> None:
        *_, row = rows("verdicts")
        assert (row["valid"], row["raw"]) == (False, "I cannot say.")
        assert row["problem"] == "the answer holds no JSON object"
        for name in ("scores", "verdict", "confidence", "x", "weight", "reasons"):
            assert row[name] is None

    def test_mentions_are_gone_from_all_its_texts(self) -> None:
        said = "Ask <@123456789>."
        ballot = make_ballot(reasons=said, raw=said, problem=said, audit=True)
        (row,) = rows("verdicts", make_record(ballots=[ballot]))
        assert row["reasons"] == row["raw"] == row["problem"] == "Ask [mention]."
        assert row["audit"] is True

    def test_a_debate_without_a_panel_has_none(self) -> None:
        assert rows("verdicts", make_record(make_debate(2, Status.PARTIAL))) == []


class TestVotes:
    def test_a_vote_has_its_circumstances_and_times_to_the_minute(self) -> None:
        vote = make_vote(
            1,
            "A+tie",
            ambiguous=True,
            gold=False,
            starter=True,
            late_seen=True,
            votes_seen_before=2,
            changes=3,
            last_at=NOON + timedelta(minutes=2, microseconds=5),
        )
        (row,) = rows("votes", make_record(votes=[vote]))
        assert (row["option"], row["ambiguous"], row["gold"]) == ("A+tie", True, False)
        assert (row["starter"], row["late_seen"], row["changes"]) == (True, True, 3)
        assert (row["votes_seen_before"], row["phase"]) == (2, "before_reveal")
        assert row["first_at"] == "2026-03-01T12:00:00Z"
        assert row["last_at"] == "2026-03-01T12:02:00Z"
        assert (row["ballot"], row["platform"]) == ("open", "discord")

    def test_rows_do_not_betray_who_came_to_the_bot_first(self) -> None:
        votes = [make_vote(person) for person in range(1, 40)]
        voters = [row["voter"] for row in rows("votes", make_record(votes=votes))]
        assert voters == sorted(voters)
        assert voters != [VOTERS.voter(vote.person) for vote in votes]

    def test_a_voter_is_the_same_in_all_debates(self) -> None:
        one = rows("votes", make_record(votes=[make_vote(7)]))
        other = rows("votes", make_record(make_debate(2), votes=[make_vote(7, "B")]))
        assert one[0]["voter"] == other[0]["voter"]


def _fields(record: DebateRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in DebateRecord.__dataclass_fields__}
