"""Debates go out to be labelled in other tools, and the labels come back as votes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from engine.dataset.label_files import read_labels
from engine.dataset.writer import ExportRequest, export
from engine.store import Store
from engine.values.errors import UsageError
from engine.values.judging import Question
from engine.votes.imported import Imported, ImportedLabel, LabelFault, import_labels
from tests.kit import NOON, record_of
from tests.scenario.test_export import hold_debate, table, write

NOW = datetime(2026, 4, 1, tzinfo=UTC)


async def export_tasks(store: Store, out: Path, layout: str) -> dict[str, dict[str, Any]]:
    """Return the tasks of a layout by debate."""
    await export(store, out, ExportRequest(layout=layout), None, version="1")
    return read_tasks(out)


def read_tasks(out: Path) -> dict[str, dict[str, Any]]:
    files = sorted({*out.glob("data/*/records.json"), *out.glob("data/*.json")})
    tasks = [task for file in files for task in orjson.loads(file.read_bytes())]
    return {(task.get("metadata") or task["data"])["debate_id"]: task for task in tasks}


def as_answered(task: dict[str, Any], meant: str) -> str:
    """Return the answer by which a labeller means a side."""
    order = (task.get("metadata") or task["data"])["order"]
    return {order[0]: "first", order[1]: "second"}.get(meant, meant)


async def bring(store: Store, rows: Any, *, blind: bool = False) -> Imported:
    content = rows if isinstance(rows, bytes) else orjson.dumps(rows)
    tool, read = read_labels(content)
    return await import_labels(store, read, tool, NOW, blind=blind)


async def test_argillas_answers_are_votes_of_the_right_side_and_only_once(
    store: Store, tmp_path: Path
) -> None:
    held = [await hold_debate(store, number) for number in (1, 2, 3, 4)]
    tasks = await export_tasks(store, tmp_path / "tasks", "argilla")
    assert set(tasks) == set(held)
    orders = {task["metadata"]["order"] for task in tasks.values()}
    assert orders == {"AB", "BA"}
    answered = [
        task
        | {
            "responses": {
                "winner": [
                    {"value": as_answered(task, side), "user_id": f"CANARY-{n}"}
                    for n, side in enumerate(("B", "B", "tie"))
                ]
            }
        }
        for task in tasks.values()
    ]
    found = await bring(store, answered)
    assert (found.outcomes, found.debates, found.people) == ({"new": 12}, 4, 3)
    assert found.faults == ()
    again = await bring(store, answered)
    assert again.outcomes == {"same": 12}
    await write(store, tmp_path / "out")
    votes = table(tmp_path / "out", "votes")
    brought = [row for row in votes if row["platform"] == "import"]
    assert len(brought) == 12
    assert len({row["voter"] for row in brought}) == 3
    for row in brought:
        assert (row["phase"], row["recovery"]) == ("imported", "imported")
        assert (row["gold"], row["reason"]) == (False, "imported")
    assert [row["option"] for row in brought].count("B") == 8
    for debate in table(tmp_path / "out", "debates"):
        assert (debate["n_b"], debate["gold_b"], debate["human_winner"]) == (3, 1, "A")
    assert b"CANARY-" not in b"".join(
        path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()
    )
    blind = await bring(store, answered, blind=True)
    assert blind.outcomes == {"changed": 12}
    await write(store, tmp_path / "out")
    for debate in table(tmp_path / "out", "debates"):
        assert (debate["gold_a"], debate["gold_b"], debate["gold_tie"]) == (4, 3, 1)


async def test_label_studios_annotations_come_back(store: Store, tmp_path: Path) -> None:
    held = await hold_debate(store, 1)
    ((_, task),) = (await export_tasks(store, tmp_path / "tasks", "label-studio")).items()

    def annotate(user: Any, answer: str, **more: Any) -> dict[str, Any]:
        value = {"choices": [answer]}
        result = {"from_name": "winner", "to_name": "debate", "type": "choices", "value": value}
        return {"completed_by": user, "result": [result], "created_at": "2026-03-09T10:00Z", **more}

    answer = as_answered(task, "B")
    annotations = [
        annotate(1, answer),
        annotate({"id": 2, "email": "canary@example.org"}, "weak"),
        annotate(3, answer, was_cancelled=True),
    ]
    found = await bring(store, [task | {"id": 7, "annotations": annotations}])
    assert (found.outcomes, found.faults) == ({"new": 2}, ())
    flat = {"annotator": 1, "winner": "tie", **task["data"], "annotation_id": 5}
    del flat["debate"]
    # The same person, in the tool's short form, thinks otherwise now.
    csv = ",".join(flat) + "\n" + ",".join(map(str, flat.values())) + "\n"
    for content in ([flat], csv.encode()):
        await bring(store, content)

    votes = (await record_of(store, held)).asked(Question.VOTE)
    imported = sorted(one.option for one in votes if one.recovery == "imported")
    assert imported == ["tie", "weak"]
    # It is data of that person, who can have it forgotten.
    await store.people.forget("import", "label-studio:1")
    gone = await bring(store, [flat])
    assert gone.faults == (LabelFault(1, "its person asked to be forgotten"),)


async def test_each_bad_line_is_said_with_its_number_and_the_others_count(store: Store) -> None:
    held = await hold_debate(store, 1)
    good = {"debate_id": held, "order": "BA", "winner": "first", "voter": "ann"}
    lines = [
        good,
        good | {"winner": "A"},
        good | {"order": "AC"},
        good | {"debate_id": "01J00000000000000000000000"},
        {**good, "winner": {"choices": ["first", "tie"]}},
        {**good, "voter": ""},
        {"winner": "first"},
    ]
    text = b"\n".join([*(orjson.dumps(line) for line in lines), b"{ no", b""])
    found = await bring(store, text)
    assert found.outcomes == {"new": 1}
    problems = {fault.number: fault.problem for fault in found.faults}
    assert list(problems) == [2, 3, 4, 5, 6, 7, 8]
    for number, word in enumerate(
        ("no answer", "no order", "no debate", "no one answer", "who gave", "no debate_id", "JSON"),
        start=2,
    ):
        assert word in problems[number]


@pytest.mark.each_case
@pytest.mark.parametrize("content", [b"[1, 2", b"a,b\n1,2\n", b"\xff\xfe", b""])
def test_a_file_of_another_kind_is_refused(content: bytes) -> None:
    with pytest.raises(UsageError):
        read_labels(content)


def test_an_empty_file_is_said_to_be_empty() -> None:
    for content in (b"", b"\n"):
        with pytest.raises(UsageError, match="The file is empty; export labels as JSON or CSV"):
            read_labels(content)


def test_times_and_orders_are_read_as_they_were_written() -> None:
    row = {"debate_id": "X", "order": "AB", "winner": "tie", "voter": 5}
    stamped = row | {"created_at": "2026-03-01T13:00:30+01:00"}
    (_, (one, other)) = read_labels(orjson.dumps([row, stamped]))
    assert one == ImportedLabel(1, "X", "AB", "tie", "5", None)
    assert other == ImportedLabel(2, "X", "AB", "tie", "5", NOON)
