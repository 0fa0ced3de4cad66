"""What a reader of each table finds in its rows."""

from dataclasses import replace
from datetime import timedelta
from math import log
from typing import Any

import orjson
import pytest

from engine.dataset.columns import DEBATE, SPLIT, Column, Table
from engine.dataset.debate_table import read_record
from engine.dataset.entry import Entry, Pseudonyms, make_entry
from engine.dataset.preferences import PREFERENCE, UNPAIRED
from engine.dataset.tables import TABLES
from engine.store import CallRecord, DebateRecord, ExportFilter
from engine.values.configuration import parse_model
from engine.values.debate import Model, Quotation, Source, Status, Usage, Violation
from engine.values.verdicts import Adjustment, Artifact, Question, Score, Summary, Vote
from engine.votes.close import people_of
from tests.kit import (
    BIRCH,
    MAPLE,
    NOON,
    call_record,
    make_ballot,
    make_debate,
    make_invalid_ballot,
    make_label,
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
    return as_read(BY_NAME[table].rows(entry(record or make_record())))


def as_read(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [orjson.loads(orjson.dumps(row)) for row in made]


def full_entry() -> Entry:
    """A debate with rows in every table: thumbs, a source, a question, a guess, a mirror."""
    models = {"A": BIRCH, "B": MAPLE}
    source = Source(title="Tea", text="Tea wakes <@7>.")
    quoted = Quotation(text="Tea wakes", source=1, found_in=1, share=1.0)
    first = make_record(
        make_debate(1, topic="Tea is good.", sources=(source,)),
        turns=[make_turn(1, quotations=(quoted,)), make_turn(2)],
        labels=[make_label("turn/opening/A")],
        votes=[
            *(make_vote(n, option) for n, option in enumerate(("A", "A", "A", "B", "tie"), 1)),
            make_vote(1, MAPLE.ref, question=Question.GUESS, step="A"),
        ],
        questions=["Is <@7> right?"],
    )
    mirror = make_record(make_debate(2, topic="tea is good", sides=models), votes=[make_vote(1)])
    return replace(entry(first), mirror=entry(mirror))


def flawed(kind: str) -> tuple[Violation, ...]:
    return (Violation(kind=kind, measured=1, limit=0),)


def debate_row(record: DebateRecord | None = None) -> dict[str, Any]:
    (row,) = rows("debates", record)
    return row


def check_cell(column: Column[Any], value: Any) -> None:
    if value is None:
        assert column.null, column.name
    elif isinstance(column.type, str):
        assert type(value) is not bool or column.type == "bool", column.name
        assert isinstance(value, TYPES.get(column.type, (str,))), column.name
    else:
        for item in value:
            assert list(item) == [field.name for field in column.type]
            for field in column.type:
                check_cell(field, item[field.name])


ENTRIES = {
    "closed": entry(make_record()),
    "partial": entry(make_record(make_debate(2, Status.PARTIAL), turns=[make_turn(1)], calls=[])),
    "cancelled": entry(make_record(make_debate(3, Status.CANCELLED), turns=[], calls=[])),
    "bare": entry(make_record(make_debate(4, quorum=9), ballots=[make_invalid_ballot()], votes=[])),
    "full": full_entry(),
}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
@pytest.mark.parametrize("debate", ENTRIES)
def test_rows_are_what_the_columns_declare_and_a_full_debate_has_some(
    table: Table[Any], debate: str
) -> None:
    made = as_read(table.rows(ENTRIES[debate]))
    assert made or debate != "full"
    for row in made:
        assert list(row) == [column.name for column in table.columns]
        for column in table.columns:
            check_cell(column, row[column.name])


def test_every_row_names_its_debate_and_split_and_every_column_says_what_it_is() -> None:
    record = make_record()
    found = {(r["debate_id"], r.get("split")) for name in BY_NAME for r in rows(name, record)}
    split = entry(record).split
    assert found == {(record.debate.id, split), (record.debate.id, None)}
    without = [table.name for table in TABLES if SPLIT not in table.columns]
    assert without == ["arena_human", "arena_jury"]
    for table in TABLES:
        names = [column.name for column in table.columns]
        assert DEBATE.name in names
        assert len(names) == len(set(names))
        assert all(column.meaning and "|" not in column.about for column in table.columns)


def test_without_a_quorum_or_a_verdict_nobody_won() -> None:
    record = make_record(votes=[make_vote(1)])
    row = debate_row(record)
    assert (row["human_winner"], row["quorum_met"], row["agree"]) == (None, False, None)
    assert (row["jury_winner"], row["n_a"]) == ("A", 1)
    assert record.verdict is not None
    none: dict[str, Any] = {"winner": None, "problem": "too few ballots", "p": {}, "z": None}
    row = debate_row(replace(make_record(), verdict=record.verdict.model_copy(update=none)))
    assert (row["jury_winner"], row["jury_problem"]) == (None, "too few ballots")
    assert (row["p_a"], row["p"], row["agree"]) == (None, None, None)


@pytest.mark.parametrize("status", [Status.PARTIAL, Status.CANCELLED, Status.FAILED])
def test_a_debate_that_ended_early_is_labelled_and_has_no_labels(status: Status) -> None:
    row = debate_row(make_record(make_debate(2, status), turns=[make_turn(1)]))
    assert row["status"] == status.value
    for name in ("human_winner", "jury_winner", "p_a", "n_a", "n_valid", "revealed_at"):
        assert row[name] is None
    assert (row["n_turns"], row["spoke_first"], row["spoke_last"]) == (1, "A", "A")


def test_holds_how_the_debate_was_held_without_mentions() -> None:
    users = (123456789012345678, 876543210987654321)
    row, other = (
        debate_row(
            make_record(
                make_debate(
                    drawn=("B",),
                    topic=f"Is <@{user}> right?",
                    conditions=f"In <@{user}> years",
                    language="tr",
                    blind=False,
                )
            )
        )
        for user in users
    )
    assert [(side["model"], side["drawn"]) for side in row["sides"]] == [
        ("maple", False),
        ("birch", True),
    ]
    assert (row["topic"], row["conditions"]) == ("Is [mention] right?", "In [mention] years")
    assert (row["language"], row["blind"]) == ("tr", False)
    assert row["topic_id"] == other["topic_id"]


def test_what_a_configured_model_was_set_to_stands_beside_the_debate() -> None:
    written, plain = parse_model("near/oak@effort=low"), parse_model("near/elm")
    set_so = {"configuration": written.configuration, "variant": "x-high"}
    named = parse_model("near/ana").model_copy(update=set_so)
    debate = make_debate(1, sides={"A": MAPLE, "B": BIRCH}, seats={"A1": named})
    panel = debate.setup.panel.model_copy(update={"roster": (written, plain)})
    setup = debate.setup.model_copy(update={"panel": panel})
    calls = tuple(replace(call_record(one.ref), model=one.ref) for one in (named, plain))
    record = make_record(debate.model_copy(update={"setup": setup}), calls=calls)
    (row,) = rows("debates", record)
    assert row["configurations"] == [{"model": "near/ana@x-high", "settings": '{"effort":"low"}'}]


def test_a_cost_that_nobody_knows_is_null_and_where_it_is_known_from_stands_beside_it() -> None:
    known = [
        replace(call_record("turn/opening/A", cost=0.1), cost_origin="bundled"),
        replace(call_record("turn/opening/B", cost=0.2), cost_origin="reply"),
    ]
    record = make_record(turns=[make_turn(1)], calls=known)
    (turn,), debate = rows("turns", record), debate_row(record)
    assert (turn["cost_origin"], debate["cost_origin"]) == ("bundled", "bundled+reply")
    assert debate["cost_usd"] == pytest.approx(0.3)
    row = debate_row(make_record(calls=[*known, call_record("turn/closing/A", cost=None)]))
    assert (row["cost_usd"], row["n_calls"]) == (None, 3)
    one, same, other = (
        debate_row(make_record(calls=calls))["prompt_hash"]  # which tells other prompts apart
        for calls in (
            [call_record("x"), call_record("y")],
            [call_record("y", attempt=2), call_record("x")],
            [call_record("x")],
        )
    )
    assert one == same != other


def test_every_try_has_what_it_read_found_in_a_cache_wrote_and_cost() -> None:
    usage = Usage(tokens_in=90, tokens_cached=60, tokens_written=20, tokens_out=7)
    failed = replace(call_record("judge/1", cost=None), reply=None, error="away")
    answered = call_record("judge/1", attempt=2, usage=usage, latency=3.5)
    first, second = rows("calls", make_record(calls=[failed, answered]))
    names = ("tokens_in", "tokens_cached", "tokens_written", "tokens_out", "latency_s")
    assert [first[name] for name in names] == [None] * 5
    assert [second[name] for name in names] == [90, 60, 20, 7, 3.5]
    assert [row["answered"] for row in (first, second)] == [False, True]
    assert [row["cost_usd"] for row in (first, second)] == [None, 0.25]
    assert [row["attempt"] for row in (first, second)] == [1, 2]
    assert {row["step"] for row in (first, second)} == {"judge/1"}


def test_a_turn_carries_its_call_and_a_failed_try_is_not_taken_for_it() -> None:
    usage = Usage(tokens_in=11, tokens_cached=8, tokens_out=22)
    call = call_record("turn/opening/A", finish="length", usage=usage, latency=3.5)
    turn = make_turn(1, "Ask <@123456789> now.", limit=0)
    (row,) = rows("turns", make_record(turns=[turn], calls=[call]))
    assert (row["text"], row["word_limit"]) == ("Ask [mention] now.", None)
    assert (row["tokens_in"], row["tokens_out"], row["latency_s"]) == (11, 22, 3.5)
    assert row["tokens_cached"] == 8
    assert (row["stop_reason"], row["prompt_hash"]) == ("length", "hash of turn/opening/A")
    assert (row["model_asked"], row["model_answered"]) == ("rehearsal/maple", "maple-2026")
    assert (row["shortened"], row["thumbs_up"]) == (False, None)
    failed = CallRecord("turn/opening/A", 2, None, "503", 0.0, 1.0, "x", "unknown")
    (row,) = rows("turns", make_record(turns=[make_turn(1)], calls=[failed]))
    assert (row["stop_reason"], row["tokens_in"], row["prompt_hash"]) == (None, None, None)


def test_mentions_are_gone_from_all_its_texts() -> None:
    said = "Ask <@123456789>."
    ballot = make_ballot(reasons=said, raw=said, problem=said, audit=True)
    (row,) = rows("verdicts", make_record(ballots=[ballot]))
    assert row["reasons"] == row["raw"] == row["problem"] == "Ask [mention]."
    assert row["audit"] is True


def test_an_audit_is_calibrated_and_is_no_part_of_what_decided() -> None:
    ballots = [make_ballot("AB"), make_ballot("BA", audit=True, verdict="tie")]
    (row,) = rows("calibration", make_record(ballots=ballots))
    assert (row["n_ballots"], row["decided"], row["consistent"]) == (2, "AB", False)


def test_a_voter_is_the_same_in_all_debates_and_no_row_betrays_who_came_first() -> None:
    votes = [make_vote(person) for person in range(1, 40)]
    voters = [row["voter"] for row in rows("votes", make_record(votes=votes))]
    assert voters == sorted(voters)
    assert voters != [VOTERS.voter(vote.person) for vote in votes]
    (other,) = rows("votes", make_record(make_debate(2), votes=[make_vote(7, "B")]))
    assert other["voter"] == VOTERS.voter(7)
    assert other["voter"] in voters


def test_a_vote_is_read_as_it_was_stored_without_what_labels_alone_have() -> None:
    vote = make_vote(3, "A+tie", ambiguous=True, last_at=NOON + timedelta(microseconds=5))
    assert Vote.of(orjson.loads(vote.encode())) == vote
    assert '"last_at":"2026-03-01T12:00:30.000005Z"' in vote.encode()
    assert '"task"' not in vote.encode()
    label = make_vote(3, question=Question.LABEL, order="BA", seconds=12.0, task="tea")
    assert Vote.of(orjson.loads(label.encode())) == label


def test_whoever_opted_out_is_counted_and_has_no_row() -> None:
    votes = [make_vote(person) for person in range(1, 6)]
    record = replace(make_record(votes=votes), opted_out=frozenset({2, 4}))
    hidden = {VOTERS.voter(person) for person in (2, 4)}
    assert len(rows("votes", record)) == len(rows("arena_human", record)) == 3
    assert not hidden & {row["voter"] for row in rows("votes", record)}
    assert not hidden & {row["judge"] for row in rows("arena_human", record)}
    row = debate_row(record)
    assert (row["opted_out"], row["n_a"], row["gold_a"]) == (2, 5, 5)


def test_stances_are_rows_and_say_whom_the_debate_moved() -> None:
    stances = [
        make_vote(1, "against", question=Question.STANCE_BEFORE),
        make_vote(1, "for", question=Question.STANCE_AFTER),
        make_vote(2, "unsure", question=Question.STANCE_BEFORE),
    ]
    record = make_record(votes=[make_vote(1), *stances])
    phases = sorted(row["phase"] for row in rows("votes", record))
    assert phases == ["before_reveal", "stance_after", "stance_before", "stance_before"]
    row = debate_row(record)
    assert row["persuaded"] == [{"side": "A", "moved": 1}, {"side": "B", "moved": 0}]
    assert (row["n_persuaded"], row["persuasion_winner"], row["n_a"]) == (1, "A", 1)
    assert debate_row()["persuaded"] is None


@pytest.mark.parametrize("options", [["A", "A"], ["A", "B", "tie"], ["A", "A", "tie", "tie"]])
def test_ties_too_few_votes_and_who_said_nothing_make_no_pair(options: list[str]) -> None:
    votes = [make_vote(n, option) for n, option in enumerate(options)]
    assert rows("preference", make_record(votes=votes)) == []
    assert rows("preference", make_record(turns=[make_turn(1)])) == []


def test_of_many_answers_the_best_is_set_beside_the_weakest() -> None:
    sides = {str(n): Model.parse(f"rehearsal/m{n}") for n in (1, 2, 3)}
    told = {"draft": "Draft by {}.", "revision-1": "By {}.\n\n---\n\nI narrowed it."}
    turns = [
        make_turn(n, text.format(n), side=str(n), seat=str(n), round=name, step=f"{name}/{n}")
        for name, text in told.items()
        for n in (1, 2, 3)
    ]
    for options, weakest in (("22211", "3"), ("22213", "1")):
        votes = [make_vote(n, option) for n, option in enumerate(options)]
        debate = make_debate(sides=sides, topic="Why tea?", conditions="At home.")
        (row,) = rows("preference", make_record(debate, turns=turns, votes=votes))
        assert (row["chosen_side"], row["rejected_side"]) == ("2", weakest)
        assert row["prompt"] == [{"role": "user", "content": "Why tea?\n\nAt home."}]
        assert row["chosen"] == [{"role": "assistant", "content": "By 2."}]
        assert row["rejected"] == [{"role": "assistant", "content": f"By {weakest}."}]
        assert row["chosen_drafts"] == [{"round": "draft", "text": "Draft by 2."}]
        assert row["rejected_drafts"] == [{"round": "draft", "text": f"Draft by {weakest}."}]


@pytest.mark.parametrize("number", [1, 2], ids=["chosen", "rejected"])
@pytest.mark.parametrize(
    "kind", ["cut_off", "cut", "long_reply", "unreadable", "refusal", "repeats", "missed"]
)
def test_a_flawed_turn_makes_a_marked_pair_if_asked_for(number: int, kind: str) -> None:
    turns = [make_turn(n, violations=flawed(kind) * (n == number)) for n in (1, 2, 3)]
    record = make_record(turns=turns)
    assert rows("preference", record) == []
    (row,) = PREFERENCE.rows(replace(entry(record), flawed=True))
    assert (row["chosen_flaws"], row["rejected_flaws"]) == (
        (kind, None) if number == 1 else (None, kind)
    )


def test_the_weakest_answer_is_one_without_flaws() -> None:
    sides = {str(n): Model.parse(f"rehearsal/m{n}") for n in (1, 2, 3)}
    turns = [
        make_turn(n, side=str(n), seat=str(n), round=name, step=f"{name}/{n}", violations=broken)
        for name in ("draft", "revision-1")
        for n, broken in ((1, flawed("refusal") * (name != "draft")), (2, ()), (3, ()))
    ]
    votes = [make_vote(n, option) for n, option in enumerate("22223")]
    (row,) = rows("preference", make_record(make_debate(sides=sides), turns=turns, votes=votes))
    assert row["rejected_side"] == "3"


def pair(here: str, there: str, **fields: Any) -> list[dict[str, Any]]:
    """Two debates that mirror each other, with these votes, as rows; `fields` of A's turns."""
    first, second = (
        make_record(
            make_debate(number, sides=sides),
            turns=[
                make_turn(1, f"For, by {name}.", **fields),
                make_turn(2, f"Against, not {name}."),
            ],
            votes=[make_vote(n, option) for n, option in enumerate(options)],
        )
        for number, name, sides, options in (
            (1, "maple", {"A": MAPLE, "B": BIRCH}, here),
            (2, "birch", {"A": BIRCH, "B": MAPLE}, there),
        )
    )
    joined = replace(entry(first), mirror=entry(second))
    return as_read(BY_NAME["preference_same_side"].rows(joined))


def test_the_model_with_more_votes_in_both_is_chosen_on_either_side() -> None:
    rows_for, rows_against = pair("AAAB", "AABB")
    assert (rows_for["side"], rows_against["side"]) == ("A", "B")
    assert rows_for["chosen"][0]["content"].endswith("For, by maple.")
    assert rows_for["rejected"][0]["content"].endswith("For, by birch.")
    assert rows_against["chosen"][0]["content"].endswith("Against, not birch.")
    assert rows_against["rejected"][0]["content"].endswith("Against, not maple.")
    assert rows_for["prompt"][0]["content"].endswith("case, for it.")
    assert rows_against["prompt"][0]["content"].endswith("case, against it.")
    assert rows_for["margin"] == rows_against["margin"] == pytest.approx(log(5.5 / 3.5))
    assert rows_for["debate_id"] == rows_against["rejected_debate_id"]


def test_a_side_that_everybody_likes_decides_nothing_and_a_flawed_turn_takes_its_out() -> None:
    assert pair("AAAB", "AAAB") == []
    (row,) = pair("AAAB", "AABB", violations=flawed("cut_off"))
    assert (row["side"], row["chosen_flaws"]) == ("B", None)


def test_a_turn_that_people_liked_comes_with_the_debate_before_it() -> None:
    turns = [make_turn(1, "Tea."), make_turn(2, "Coffee."), make_turn(3, "Calm.")]
    labels = [make_label(turns[2].step), make_label(turns[0].step, up=False)]
    first, last = rows("unpaired", make_record(turns=turns, labels=labels))
    assert (first["label"], first["completion"][0]["content"]) == (False, "Tea.")
    assert (last["label"], last["thumbs_up"], last["thumbs_down"]) == (True, 1, 0)
    assert [message["role"] for message in last["prompt"]] == ["user", "assistant", "user"]
    assert last["prompt"][-1]["content"] == "Coffee.\n\nIt is your turn: closing."
    assert last["completion"] == [{"role": "assistant", "content": "Calm."}]


def test_a_flawed_turn_a_draw_and_thumbs_after_the_reveal_are_no_examples() -> None:
    turns = [make_turn(1, violations=flawed("refusal")), make_turn(2)]
    step = turns[0].step
    record = make_record(turns=turns, labels=[make_label(step, up=False)])
    assert rows("unpaired", record) == []
    (row,) = UNPAIRED.rows(replace(entry(record), flawed=True))  # asked for, it is marked
    assert row["flaws"] == "refusal"
    draw = [make_label(step, 1), make_label(step, 2, up=False), make_label(step, 3, blind=False)]
    assert rows("unpaired", make_record(labels=draw)) == []


def test_columns_and_types_are_those_of_mt_bench() -> None:
    names = ("question_id", "model_a", "model_b", "winner", "judge")
    for name in ("arena_human", "arena_jury"):
        types = {column.name: column.type for column in BY_NAME[name].columns}
        assert tuple(types)[:8] == (*names, "conversation_a", "conversation_b", "turn")
        assert tuple(types)[8:] == ("debate_id", "replaced", "order")
        assert types.pop("question_id") == types.pop("turn") == "int64"
        for chat in (types.pop("conversation_a"), types.pop("conversation_b")):
            assert [(part.name, part.type) for part in chat if isinstance(part, Column)] == [
                ("content", "string"),
                ("role", "string"),
            ]
        assert set(types.values()) == {"string"}
    assert 0 <= rows("arena_human")[0]["question_id"] < 2**63


def test_a_last_turn_has_its_decision_and_what_became_of_its_position_without_mentions() -> None:
    turns = [make_turn(number, "So.", step=f"turn/closing/{number}") for number in (1, 2, 3)]
    said = {"decision": "gives_up", "why": "Tell <@1> it fell."}
    unread = {"decision": "unknown", "why": "", "raw": "?", "problem": "none"}
    moved = {"change": "partly_changed", "why": "Ask <@1> about it."}
    kept = (
        Artifact(name=f"decision/{turns[0].step}", kind="decision", body=said),
        Artifact(name=f"decision/{turns[1].step}", kind="decision", valid=False, body=unread),
        Artifact(name=f"position/{turns[0].step}", kind="position", body=moved),
    )
    first, *others = rows("turns", replace(make_record(turns=turns), artifacts=kept))
    assert (first["decision"], first["position"]) == ("gives_up", "partly_changed")
    assert "<@1>" not in first["decision_why"] + first["position_why"]
    assert [(row["decision"], row["decision_why"]) for row in others] == [
        ("unknown", None),
        (None, None),
    ]
    assert {(row["position"], row["position_why"]) for row in others} == {(None, None)}


def test_a_summary_says_what_became_of_it_and_who_wrote_it() -> None:
    record = make_record()
    assert record.verdict is not None
    names = ("summary", "summary_fit", "summary_by", "summary_problem")
    assert [debate_row(record)[name] for name in names] == [None] * 4
    for summary, expected in (
        (Summary(text="A spoke.", fit="trimmed"), ("A spoke.", "trimmed", "near/j2", None)),
        (Summary(problem="away"), (None, None, "near/j2", "away")),
    ):
        call = replace(call_record("summary"), model="near/j2")
        verdict = record.verdict.model_copy(update={"summary": summary})
        given = replace(record, verdict=verdict, calls=(*record.calls, call))
        assert tuple(debate_row(given)[name] for name in names) == expected


def test_a_score_is_exported_as_it_was_given_and_as_it_stands_in_the_end() -> None:
    """A part's change counts for its total as well; one to a total was counted by its format."""
    given = {"logic": 30.0, "rhetoric": 20.0, "total": 50.0}
    scores = tuple(Score(subject="t1", side="A", criterion=c, value=v) for c, v in given.items())
    seat = Score(subject="A1", side="A", criterion="individual", value=7.0)
    changes = (("logic", -2.0), ("logic", 1.0), ("rhetoric", 0.5))
    adjustments = [
        Adjustment(name=f"n{at}", subject="t1", side="A", criterion=c, amount=by, reason="r")
        for at, (c, by) in enumerate(changes)
    ]
    adjustments.append(Adjustment(name="rule", subject="A1", side="A", amount=-2, reason="r"))
    record = make_record()
    record = replace(record, scores=(*scores, seat), adjustments=tuple(adjustments))
    found = {row["criterion"]: (row["value"], row["adjusted"]) for row in rows("scores", record)}
    assert found == {
        "logic": (30.0, 29.0),
        "rhetoric": (20.0, 20.5),
        "total": (50.0, 49.5),
        "individual": (7.0, 7.0),
    }
    there = {"subject": record.turns[0].step}
    record = replace(
        record,
        scores=tuple(one.model_copy(update=there) for one in scores),
        adjustments=tuple(one.model_copy(update=there) for one in adjustments),
    )
    standing = {score["criterion"]: score["score"] for score in rows("turns", record)[0]["scores"]}
    assert standing == {"logic": 29.0, "rhetoric": 20.5, "total": 49.5}


def test_a_record_is_read_back_without_people_places_and_ids_of_the_platform() -> None:
    record = make_record()
    (row,) = rows("records", record)
    read = read_record(row["record"])
    assert (read.turns, read.verdict, read.scores) == (record.turns, record.verdict, record.scores)
    assert read.debate.request == record.debate.request
    assert read.people == people_of(record)
    assert read.people.tally.counts == {"A": 3, "B": 1, "tie": 1, "weak": 0}
    assert (read.answers, read.calls, read.questions, read.opted_out) == ((), (), (), frozenset())
    for secret in ("7000000000000", "88000", "88001"):
        assert secret not in row["record"]


@pytest.mark.parametrize("table", ["artifacts", "records"])
def test_a_mention_that_begins_a_line_of_a_finding_is_in_no_export(table: str) -> None:
    finding = Artifact(name="a", kind="k", body={"said": "Ask:\n@maria or <@7>"})
    (row,) = rows(table, replace(make_record(), artifacts=(finding,)))
    assert "maria" not in str(row)
    assert "@7" not in str(row)
