"""Reading sets of judgments that jurors are calibrated on."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from bot.research.cases import CaseSource, _read_judgments
from engine.run.calibration import plan_questions, price_questions
from engine.values.debate import Model
from engine.values.errors import UsageError
from tests.scenario.conftest import DEFAULTS, JURORS, PRICE
from tests.scenario.test_calibrate import judgments


def write(file: Path, rows: list[dict[str, Any]]) -> Path:
    match file.suffix:
        case ".json":
            file.write_text(json.dumps(rows), encoding="utf-8")
        case ".csv":
            with file.open("w", encoding="utf-8", newline="") as out:
                lines = csv.DictWriter(out, rows[0])
                lines.writeheader()
                chats = ("conversation_a", "conversation_b")
                texts = ({name: json.dumps(row[name]) for name in chats} for row in rows)
                lines.writerows(row | text for row, text in zip(rows, texts, strict=True))
        case ".parquet":
            pa = pytest.importorskip("pyarrow")
            pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(rows), file)
        case _:
            file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def read(folder: Path, rows: list[dict[str, Any]], kind: str = "jsonl") -> CaseSource:
    return _read_judgments(write(folder / f"set.{kind}", rows))


@pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
def test_every_kind_of_file_gives_the_same_cases(tmp_path: Path, kind: str) -> None:
    lines = read(tmp_path, judgments(3)).cases
    assert read(tmp_path, judgments(3), kind).cases == lines
    assert [(case.human, len(case.turns), case.rubric) for case in lines] == [
        ("1", 2, "answers")
    ] * 3
    assert lines[0].sides["1"] == Model.parse("import/gpt-4")
    assert "why is the sky blue" in lines[0].topic


def test_people_are_counted_whatever_the_order_and_models_are_no_people(tmp_path: Path) -> None:
    rows = judgments(1)
    people = [row for row in rows if row["judge"] != "gpt4_pair"]
    assert {row["model_a"] for row in people} == {"gpt-4", "vicuna-13b"}
    tied = [*people, people[-1] | {"judge": "expert_9"}]
    assert read(tmp_path, tied).cases[0].human == "tie"
    assert read(tmp_path, [rows[-1]]).cases[0].human is None


def test_a_second_turn_is_judged_with_the_first_unless_an_answer_lacks(tmp_path: Path) -> None:
    rows = judgments(2)
    for row in rows[:4]:
        for chat in (row["conversation_a"], row["conversation_b"]):
            chat += [{"role": "user", "content": "And at night?"}]
            chat += [{"role": "assistant", "content": "It is dark."}]
        row["turn"] = 2
    rows[4:] = [row | {"conversation_b": []} for row in rows[4:]]
    found = read(tmp_path, rows)
    assert [turn.round for turn in found.cases[0].turns] == ["answer1"] * 2 + ["answer2"] * 2
    assert (len(found.cases), found.left_out) == (1, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"model_a": "x"}', "judgment 1: there is no conversation_a"),
        ("not json", "cannot be read"),
        ("", "has no judgments"),
        ("\n", r"set\.json is empty; name a file that holds judgments"),
    ],
)
def test_a_file_without_judgments_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / ("set.json" if text == "\n" else "set.jsonl")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        _read_judgments(file)


def test_two_jurors_meet_as_often_in_either_order_at_their_price(tmp_path: Path) -> None:
    cases = read(tmp_path, judgments(60)).cases
    questions = plan_questions(cases, JURORS, [], readers=3)
    assert {len(one.readings) for one in questions} == {3}
    assert questions == plan_questions(cases, JURORS, [], readers=3)
    met = {
        frozenset((one.juror.ref, other.juror.ref))
        for question in questions
        for one in question.readings
        for other in question.readings
    }
    assert len(met) == 6 + 15
    every = [reading for one in plan_questions(cases, JURORS, []) for reading in one.readings]
    shown_first = [reading.juror for reading in every if reading.order == ("1", "2")]
    assert {shown_first.count(juror) for juror in JURORS} == {30}
    own = Model.parse("near/x#openai")
    assert plan_questions(cases, [own], []) == []
    prices = {juror.ref: PRICE for juror in JURORS}
    bill = price_questions(questions, dict(prices), DEFAULTS.sampling["juror"])
    assert len(questions) == 60
    assert bill is not None
    assert 0 < bill[0] < bill[1]
    assert price_questions(questions, {}, DEFAULTS.sampling["juror"]) is None
