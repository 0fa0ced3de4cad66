"""Layouts for other tools, licences and recipes: what is in them, and what never is."""

import re
import string
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from hypothesis import given, strategies as st

from engine.dataset.card import describe, front_matter
from engine.dataset.entry import Keys
from engine.dataset.folder import FileFormat, Manifest, check_replaceable
from engine.dataset.layouts import ANSWERS, LAYOUTS, unquote
from engine.dataset.license import read_license
from engine.dataset.tables import ExportRequest
from engine.dataset.writer import write_export
from engine.store import DebateRecord
from engine.values.debate import Model, Status, Violation
from engine.values.errors import NotFoundError, UsageError
from engine.values.verdicts import Verdict
from tests.doubles.archive import MemoryArchive
from tests.kit import MAPLE, make_ballot, make_debate, make_record, make_turn, make_vote
from tests.pages.reference import DATASET, dataset

LABELLING = ("argilla", "label-studio")
CANARY = Model.parse("canary-backend/canary-large")
TURNS = [make_turn(1, "As canary-large I say: ask <@880010>."), make_turn(2, "Side A errs.")]
THREE = make_debate(40, sides={"1": MAPLE, "2": CANARY, "3": MAPLE})
RECORDS = (
    *(make_record(make_debate(n, sides={"A": CANARY, "B": MAPLE}), turns=TURNS) for n in range(30)),
    make_record(make_debate(30, Status.PARTIAL)),
    make_record(make_debate(31), votes=[make_vote(1, "A")]),  # below the quorum
    make_record(THREE, votes=[]),
)


def write(out: Path, **wanted: Any) -> Manifest:
    keys = Keys(splits=b"splits", master=b"master")
    return write_export(MemoryArchive(*RECORDS), ExportRequest(**wanted), out, keys, version="1")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("layouts")
    for name in LAYOUTS:
        write(top / name, layout=name)
    write(top / "tables", tables=("debates", "preference"))
    return {path.name: path for path in top.iterdir()}


def records(folder: Path, name: str) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for split in ("train", "validation", "test"):
        path = folder / LAYOUTS[name].path(split)
        text = path.read_bytes() if path.is_file() else b""
        if LAYOUTS[name].array:
            found[split] = orjson.loads(text or b"[]")
        else:
            found[split] = [orjson.loads(line) for line in text.splitlines()]
    return found


def rows_of(folder: Path, table: str) -> dict[str, dict[str, Any]]:
    files = (folder / "data" / table).iterdir()
    rows = [orjson.loads(line) for file in files for line in file.read_bytes().splitlines()]
    return {row["debate_id"]: row for row in rows}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_an_export_with_the_same_splits(folders: dict[str, Path], name: str) -> None:
    folder, debates = folders[name], rows_of(folders["tables"], "debates")
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    assert manifest["layout"] == name
    listed = {file["path"] for file in manifest["files"]} | {"manifest.json"}
    assert listed == {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    found = records(folder, name)
    assert manifest["rows"][name] == {split: len(rows) for split, rows in found.items() if rows}
    for split, rows in found.items():
        for row in rows:
            told = row.get("metadata") or row.get("data") or {"debate_id": row["id"][:26]}
            assert debates[told["debate_id"]]["split"] == split
    check_replaceable(folder)
    card = (folder / "README.md").read_text()
    assert card.startswith("---\n")
    assert f"## The layout `{name}`" in card
    assert "license: other" in card


def test_the_same_layout_again_has_the_same_bytes(tmp_path: Path) -> None:
    for name in LAYOUTS:
        one, two = tmp_path / "one", tmp_path / "two"
        for place in (one, two):
            write(place, layout=name)
        files = [path for path in one.rglob("*") if path.is_file()]
        for path in files:
            assert path.read_bytes() == (two / path.relative_to(one)).read_bytes()
        assert len(files) == sum(path.is_file() for path in two.rglob("*"))


@pytest.mark.parametrize("name", [*LABELLING, "inspect"])
def test_readers_see_no_model_no_person_and_no_side(folders: dict[str, Path], name: str) -> None:
    found = records(folders[name], name)
    text = orjson.dumps(found).decode() + (folders[name] / "README.md").read_text()
    for secret in ("canary-", "maple", "880010", "side a"):
        assert secret not in text.casefold()
    assert "Lagoon" in text  # its neutral name


@pytest.mark.parametrize("name", LABELLING)
def test_tasks_to_label_have_no_label_and_show_each_side_first_as_often(
    folders: dict[str, Path], name: str
) -> None:
    rows = [row for rows in records(folders[name], name).values() for row in rows]
    told = [row.get("metadata") or row["data"] for row in rows]
    orders = [one["order"] for one in told]
    assert len(rows) == 31  # the whole debates of two sides, whether people decided or not
    assert 8 < orders.count("AB") < 23
    for row, one in zip(rows, told, strict=True):
        shown = row.get("fields") or row["data"]
        names = {"A": "Lagoon", "B": "Meadow"}
        assert [shown["first"], shown["second"]] == [names[side] for side in one["order"]]
        assert not row.get("responses")
        assert "annotations" not in row
        said = shown["debate"]
        if isinstance(said, str):
            opening = said.index(f"### {shown['first']}"), said.index(f"### {shown['second']}")
            assert opening[0] < opening[1]
        else:
            speakers = [each["author"] for each in said if "spoke" in each["author"]]
            assert [shown["first"] in author for author in speakers[:2]] == [True, False]
    assert set(ANSWERS) == {"first", "second", "tie", "weak"}


@pytest.mark.parametrize("name", [*LABELLING, "inspect"])
def test_where_one_answer_is_right_tools_ask_which(tmp_path: Path, name: str) -> None:
    records_of = [make_record(make_debate(1)), make_record(make_debate(2, protocol="debate"))]
    keys = Keys(splits=b"splits", master=b"master")
    write_export(
        MemoryArchive(*records_of), ExportRequest(layout=name), tmp_path / "o", keys, version="1"
    )
    found = [row for rows in records(tmp_path / "o", name).values() for row in rows]
    asked = [(row.get("fields") or row.get("data") or {"asked": row["input"]}) for row in found]
    assert sum("Which answer is right" in one["asked"] for one in asked) == len(asked) / 2
    assert sum("ho debated better" in one["asked"] for one in asked) == len(asked) / 2


def test_rewardbench_has_the_pairs_of_the_table_preference(folders: dict[str, Path]) -> None:
    pairs = rows_of(folders["tables"], "preference")
    rows = [row for rows in records(folders["rewardbench"], "rewardbench").values() for row in rows]
    assert len(rows) == len(pairs) == 30
    for row in rows:
        pair = pairs[row["id"][:26]]
        assert row["chosen"] == pair["prompt"] + pair["chosen"]
        assert row["rejected"] == pair["prompt"] + pair["rejected"]
        assert (row["margin"], row["chosen_model"]) == (pair["margin"], CANARY.ref)


def test_rewardbench_has_flawed_pairs_only_if_asked(tmp_path: Path) -> None:
    broken = (Violation(kind="cut_off", measured=1, limit=0),)
    record = make_record(turns=[make_turn(1, violations=broken), make_turn(2)])
    archive, keys = MemoryArchive(record), Keys(splits=b"splits", master=b"master")
    wanted = ExportRequest(layout="rewardbench", flawed=True)
    manifest = write_export(archive, wanted, tmp_path / "out", keys, version="1")
    assert sum(manifest.rows["rewardbench"].values()) == 1
    assert manifest.filters.flawed
    with pytest.raises(NotFoundError):
        write_export(archive, replace(wanted, flawed=False), tmp_path / "two", keys, version="1")


def test_inspect_asks_in_both_orders_and_knows_the_human_winner(folders: dict[str, Path]) -> None:
    rows = [row for rows in records(folders["inspect"], "inspect").values() for row in rows]
    assert len(rows) == 60
    for row in rows:
        first = row["metadata"]["order"][0]
        assert row["choices"] == (
            ["Lagoon", "Meadow", "tie"] if first == "A" else ["Meadow", "Lagoon", "tie"]
        )
        assert row["target"] == ("A" if first == "A" else "B")  # people chose A
        assert row["metadata"]["share_first"] == (0.75 if first == "A" else 0.25)
        assert row["metadata"]["p_first"] == (0.8 if first == "A" else 0.2)
        assert row["input"].count("\n> ") >= 3  # what was said is quoted, so that it is no order


def test_what_has_no_meaning_is_refused(tmp_path: Path) -> None:
    for wanted in (
        {"layout": "argila"},
        {"layout": "argilla", "tables": ("votes",)},
        {"layout": "inspect", "file_format": FileFormat.PARQUET},
    ):
        with pytest.raises(UsageError, match=r"layout"):
            write(tmp_path / "out", **wanted)
    assert not (tmp_path / "out").exists()


def test_unquoting_is_the_reverse_of_quoting() -> None:
    assert unquote("> one\n>\n> > two") == "one\n\n> two"


def test_the_document_is_what_make_docs_writes() -> None:
    assert DATASET.read_text("utf-8") == dataset(), "docs/dataset.md is not as declared: make docs"


@pytest.mark.parametrize(
    ("typed", "id", "card"),
    [
        ("cc-by-4.0", "CC-BY-4.0", {"license": "cc-by-4.0"}),
        (" CC0-1.0 ", "CC0-1.0", {"license": "cc0-1.0"}),
        ("ODC-By-1.0", "ODC-By-1.0", {"license": "odc-by"}),
        ("odbl-1.0", "ODbL-1.0", {"license": "odbl"}),
        ("GPL-3.0-or-later", "GPL-3.0-or-later", {"license": "gpl-3.0"}),
        (
            "CC-BY-1.0",
            "CC-BY-1.0",
            {
                "license": "other",
                "license_name": "cc-by-1.0",
                "license_link": "https://spdx.org/licenses/CC-BY-1.0.html",
            },
        ),
        (
            "LicenseRef-Club",
            "LicenseRef-Club",
            {"license": "other", "license_name": "licenseref-club"},
        ),
        ("Other", None, {"license": "other", "license_name": "set-by-publisher"}),
    ],
)
def test_an_spdx_id_becomes_the_hubs_id(typed: str, id: str | None, card: dict[str, str]) -> None:
    assert read_license("--license", typed) == id
    assert yaml.safe_load("\n".join(front_matter(id))) == card
    assert (id or "up to the publisher") in describe(id)


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("odc-by", "did you mean ODC-By-1.0?"),
        ("cc by 4.0", "did you mean CC-BY-4.0?"),
        ("MIT OR Apache-2.0", "did you mean Apache-2.0?"),
        ("", "write one such as CC-BY-4.0, or other."),
        (f"LicenseRef-{'x' * 100}", "write one such as CC-BY-4.0, or other."),
    ],
)
def test_anything_else_is_refused_with_the_closest_id(typed: str, hint: str) -> None:
    with pytest.raises(UsageError) as told:
        read_license("--license", typed)
    assert str(told.value).startswith("--license is “")
    assert str(told.value).endswith(f"which is not an SPDX id; {hint}")


@given(st.one_of(st.text(), st.text(alphabet=string.ascii_letters + string.digits + ".+-:")))
def test_no_text_gets_into_the_card_as_more_than_one_value(typed: str) -> None:
    try:
        id = read_license("license", typed)
    except UsageError:
        return
    card = yaml.safe_load("\n".join(front_matter(id)))
    assert set(card) <= {"license", "license_name", "license_link"}


RECIPES = Path(__file__).parents[2] / "docs" / "recipes.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def recorded(number: int) -> DebateRecord:
    """A debate that A won with people, whose case is the longer; every third time the jury errs.

    Its juror is always for the side shown first, but by two points only where that is A.
    """
    low, high = (
        dict.fromkeys(("logic", "evidence", "responsiveness", "honesty"), n) for n in (5, 7)
    )
    ballots = [
        make_ballot("AB", scores={"A": high, "B": low}, verdict="A"),
        make_ballot("BA", scores={"A": low, "B": low}, verdict="B", audit=True),
    ]
    made = make_record(
        make_debate(number),
        turns=[make_turn(1, "Because it is so, and so, and so again."), make_turn(2, "No.")],
        ballots=ballots,
        votes=[make_vote(n, option) for n, option in enumerate(("A", "A", "A", "B"), 1)],
    )
    winner, p = ("A", 0.8) if number % 3 else ("B", 0.2)
    verdict = Verdict(winner=winner, p={"A": p, "B": 1 - p}, valid=2, invalid=0)
    return replace(made, verdict=verdict)


def test_the_recipes_find_what_is_in_an_export_of_sixty_debates(tmp_path: Path) -> None:
    keys = Keys(splits=b"splits", master=b"master")
    archive = MemoryArchive(*map(recorded, range(60)))
    write_export(archive, ExportRequest(), tmp_path / "export", keys, version="1")
    found: dict[str, Any] = {"FOLDER": str(tmp_path / "export")}
    blocks = BLOCK.findall(RECIPES.read_text(encoding="utf-8"))
    assert len(blocks) == 5
    for block in blocks:
        exec(block, found)  # noqa: S102
    assert found["reward_accuracy"] == 1.0  # the longer case always won
    expected = (40 * 0.2**2 + 20 * 0.8**2) / 60
    assert found["score"] == pytest.approx(expected)
    low, high = found["score_interval"]
    assert low < expected < high
    assert found["temperature"] == pytest.approx(2.0, abs=0.6)  # right two times of three
    assert found["reliability"][0.8][1] == 1.0
    assert found["reliability"][0.2] == (pytest.approx(0.2), 1.0)
    (bias,) = found["bias"].values()
    assert (bias["audited"], bias["consistent"], bias["first_share"]) == (60, 0.0, 1.0)
    assert bias["lean"] == pytest.approx(1.0)  # (2 - 0) / 2
    (one,) = found["agreement"].values()  # a juror and the panel, on the same debates
    assert (one["debates"], one["juror"]) == (60, 1.0)
    assert one["panel"] == pytest.approx(2 / 3)
    low, high = one["difference"]
    assert low <= -1 / 3 <= high < 0
