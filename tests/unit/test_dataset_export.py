"""An export folder: whole or not there, the same when repeated, and giving nobody away."""

import errno
import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from engine.dataset import folder
from engine.dataset.columns import SCHEMA_VERSION
from engine.dataset.entry import Keys
from engine.dataset.folder import Manifest
from engine.dataset.tables import TABLES, ExportRequest
from engine.dataset.writer import write_export
from engine.store import DebateRecord, ExportFilter
from engine.values.debate import Model, Status
from engine.values.errors import NotFoundError, RostrumError, StoppedError, StoreError, UsageError
from engine.values.verdicts import Verdict
from tests.doubles.archive import MemoryArchive
from tests.kit import (
    BIRCH,
    MAPLE,
    NOON,
    id_of,
    make_ballot,
    make_debate,
    make_record,
    make_turn,
    make_vote,
    real,
)

KEYS = Keys(splits=b"splits", master=b"master")
RECORDS = tuple(make_record(make_debate(number)) for number in range(1, 25))


def write(
    out: Path,
    *records: DebateRecord,
    wanted: ExportFilter | ExportRequest | None = None,
    keys: Keys = KEYS,
    **where: Any,
) -> Manifest:
    archive = MemoryArchive(*(records or RECORDS))
    return write_export(archive, wanted or ExportFilter(**where), out, keys, version="1.2.3")


def contents(out: Path) -> dict[str, bytes]:
    files = (path for path in out.rglob("*") if path.is_file())
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def card_in(out: Path) -> str:
    return (out / "README.md").read_text()


def table(out: Path, name: str) -> list[dict[str, Any]]:
    text = b"".join(path.read_bytes() for path in sorted(out.glob(f"data/{name}/*.jsonl")))
    return [orjson.loads(line) for line in text.splitlines()]


def voters(out: Path) -> set[str]:
    return {row["voter"] for row in table(out, "votes")}


def test_holds_card_manifest_and_a_file_for_each_table_and_split(tmp_path: Path) -> None:
    manifest = write(tmp_path)
    assert {file.path for file in manifest.files} | {"manifest.json"} == set(contents(tmp_path))
    assert sum(manifest.rows["debates"].values()) == len(RECORDS)
    assert sum(manifest.rows["votes"].values()) == 5 * len(RECORDS)
    splits = {row["debate_id"]: row["split"] for row in table(tmp_path, "debates")}
    paths = {
        (name, split): f"data/{name}/{split}.jsonl"
        for name, by_split in manifest.rows.items()
        for split in by_split
    }
    for (name, split), path in paths.items():
        rows = [orjson.loads(line) for line in (tmp_path / path).read_bytes().splitlines()]
        assert len(rows) == manifest.rows[name][split]
        assert {splits[row["debate_id"]] for row in rows} == {split}
        assert {row.get("split", split) for row in rows} == {split}
    head = read_front_matter(card_in(tmp_path))
    assert paths == {
        (config["config_name"], entry["split"]): entry["path"]
        for config in head["configs"]
        for entry in config["data_files"]
    }
    for info in head["dataset_info"]:
        (row, *_) = table(tmp_path, info["config_name"])
        assert [feature["name"] for feature in info["features"]] == list(row)
        assert all(("list" in feature) != ("dtype" in feature) for feature in info["features"])
    assert (head["license"], head["license_name"]) == ("other", "set-by-publisher")
    assert (head["language"], head["size_categories"]) == (["en"], ["n<1K"])
    assert "agreement: too few debates" in card_in(tmp_path)


def test_an_empty_split_and_an_empty_table_are_left_out(tmp_path: Path) -> None:
    manifest = write(tmp_path / "out", RECORDS[0])
    (split,) = manifest.rows["debates"]
    assert set(manifest.rows["votes"]) == {split}
    empty = {name for name, by_split in manifest.rows.items() if not by_split}
    answers = {"guesses", "questions"}
    assert empty == answers | {"preference_same_side", "unpaired", "sources", "quotations"}
    assert len(list(tmp_path.glob("out/data/*/*.jsonl"))) == len(TABLES) - len(empty)
    write(tmp_path / "out", make_record(make_debate(2, Status.PARTIAL)))
    head = read_front_matter(card_in(tmp_path / "out"))
    assert [one["config_name"] for one in head["configs"]] == [
        "debates",
        "turns",
        "calls",
        "records",
    ]


def test_without_debates_there_is_no_export(tmp_path: Path) -> None:
    with pytest.raises(
        NotFoundError, match="No debate to export has ended yet, so nothing was exported"
    ):
        write_export(MemoryArchive(), ExportFilter(), tmp_path / "out", KEYS, version="1.2.3")
    assert list(tmp_path.iterdir()) == []


def test_croissant_lists_every_data_file_and_column(tmp_path: Path) -> None:
    manifest = write(tmp_path / "out", wanted=ExportRequest(license="CC-BY-4.0"))
    found = orjson.loads((tmp_path / "out" / "croissant.json").read_bytes())
    listed = {one["@id"]: one["sha256"] for one in found["distribution"]}
    beside = {"README.md", "croissant.json"}
    data = {one.path: one.sha256 for one in manifest.files if one.path not in beside}
    assert listed == data
    columns = {
        one["@id"]: [field["@id"].rpartition("/")[2] for field in one["field"]]
        for one in found["recordSet"]
    }
    assert columns == {
        f"{table.name}/{split}": [column.name for column in table.columns]
        for table in TABLES
        for split in manifest.rows[table.name]
    }
    assert found["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert found["datePublished"] == str(manifest.cutoff)[:10]


def test_rehearsals_are_marked_and_can_be_left_out_whoever_of_them_rehearses(
    tmp_path: Path,
) -> None:
    sides = {"A": Model.parse("online/acme-1"), "B": Model.parse("online/bolt-1")}
    debates = (make_debate(1), make_debate(2, sides=sides), real(make_debate(3)))
    records = [make_record(debate) for debate in debates]
    write(tmp_path / "all", *records)
    marked = [row["rehearsal"] for row in table(tmp_path / "all", "debates")]
    assert sorted(marked) == [False, True, True]
    assert "with a speaker, juror or judge of it: 2 of 3" in card_in(tmp_path / "all")
    manifest = write(tmp_path / "real", *records, without_rehearsal=True)
    assert [row["debate_id"] for row in table(tmp_path / "real", "debates")] == [debates[2].id]
    assert manifest.filters.without_rehearsal


def test_the_manifest_is_true(tmp_path: Path) -> None:
    where: dict[str, Any] = {"languages": ("en",), "platform": "discord", "since": NOON}
    returned = write(tmp_path, quorum_met=True, **where)
    found = contents(tmp_path)
    manifest = orjson.loads(found.pop("manifest.json"))
    assert Manifest.model_validate_json(orjson.dumps(manifest)) == returned
    for file in manifest["files"]:
        text = found.pop(file["path"])
        assert file["sha256"] == hashlib.sha256(text).hexdigest()
        assert file["bytes"] == len(text)
    assert not found
    assert (manifest["schema_version"], manifest["rostrum"]) == (SCHEMA_VERSION, "1.2.3")
    assert manifest["cutoff"] == "2026-03-02T12:00:30Z"
    filters = returned.filters
    assert {name: getattr(filters, name) for name in where} == where
    assert (filters.until, filters.quorum_met) == (None, True)


def test_a_debate_that_ended_early_is_in_it_with_its_turns(tmp_path: Path) -> None:
    partial = make_record(make_debate(2, Status.PARTIAL), turns=[make_turn(1)])
    write(tmp_path / "out", RECORDS[0], partial)
    assert sorted(row["status"] for row in table(tmp_path / "out", "debates")) == [
        "closed",
        "partial",
    ]
    for name, expected in (("turns", 1), ("verdicts", 0), ("votes", 0)):
        rows = table(tmp_path / "out", name)
        assert sum(row["debate_id"] == partial.debate.id for row in rows) == expected


@pytest.mark.parametrize("status", [Status.VOTING, Status.RUNNING, Status.QUEUED])
def test_a_sealed_debate_is_not_in_it(tmp_path: Path, status: Status) -> None:
    sealed = make_record(make_debate(2, status, topic="still secret"))
    write(tmp_path / "out", RECORDS[0], sealed)
    assert b"still secret" not in b"".join(contents(tmp_path / "out").values())


def test_progress_counts_the_debates_and_then_the_pairs(tmp_path: Path) -> None:
    firsts = [held(number) for number in range(1, 25)]
    mirrors = [held(100 + number, number) for number in range(1, 25)]
    told: list[tuple[str, int, int]] = []
    archive = MemoryArchive(*firsts, *mirrors)
    write_export(
        archive,
        ExportFilter(),
        tmp_path / "out",
        KEYS,
        lambda *done: told.append(done),
        version="1",
    )
    *lines, first, last = told
    assert [first, last] == [("MIRRORS", done, 24) for done in (0, 20)]
    seen = [done for _, done, _ in lines]
    assert sorted(set(seen)) == list(range(48 + 1))
    assert seen == sorted(seen)
    assert {(stage, total) for stage, _, total in lines} == {("LINES", 48)}
    assert len(pairs(tmp_path / "out")) == 2 * len(mirrors)


def test_only_the_tables_that_were_asked_for(tmp_path: Path) -> None:
    manifest = write(tmp_path / "out", wanted=ExportRequest(tables=("votes", "debates")))
    assert list(manifest.rows) == ["debates", "votes"]
    assert {path.name for path in tmp_path.glob("out/data/*")} == {"debates", "votes"}
    assert "### `votes`" in card_in(tmp_path / "out")
    assert "### `turns`" not in card_in(tmp_path / "out")
    with pytest.raises(UsageError, match=r"“vote”; choose from debates, turns"):
        write(tmp_path / "other", wanted=ExportRequest(tables=("vote",)))
    assert not (tmp_path / "other").exists()


def held(number: int, mirror_of: int | None = None, **asked: Any) -> DebateRecord:
    """A debate, or the mirror of another, with the sides exchanged."""
    models = (MAPLE, BIRCH) if mirror_of is None else (BIRCH, MAPLE)
    asked = {"topic": "Is tea good?", "sides": dict(zip("AB", models, strict=True))} | asked
    votes = "AAAAB" if mirror_of is None else "ABB"
    linked = None if mirror_of is None else id_of(mirror_of)
    return make_record(
        make_debate(number, mirror_of=linked, **asked),
        votes=[make_vote(n, option) for n, option in enumerate(votes)],
    )


def pairs(out: Path) -> list[tuple[str, str, str]]:
    rows = table(out, "preference_same_side")
    return [(row["side"], row["debate_id"][-2:], row["rejected_debate_id"][-2:]) for row in rows]


def test_each_side_of_a_pair_is_a_row_in_the_split_of_both(tmp_path: Path) -> None:
    records = [held(1), *RECORDS[4:9], held(2, 1)]
    write(tmp_path / "out", *records)
    assert pairs(tmp_path / "out") == [("A", "01", "02"), ("B", "02", "01")]
    splits = {row["debate_id"]: row["split"] for row in table(tmp_path / "out", "debates")}
    (split,) = {row["split"] for row in table(tmp_path / "out", "preference_same_side")}
    assert split == splits[records[0].debate.id] == splits[records[-1].debate.id]
    write(tmp_path / "out", held(1, 2), held(2))  # whichever is read first
    assert pairs(tmp_path / "out") == [("A", "02", "01"), ("B", "01", "02")]


@pytest.mark.parametrize(
    ("second", "where"),
    [
        (held(3, sides={"A": BIRCH, "B": MAPLE}), {}),  # by chance
        (held(2, 1, quorum=9), {}),  # which people did not decide
        (held(2, 1), {"since": NOON + timedelta(hours=1)}),  # whose other half is not exported
    ],
)
def test_what_is_no_mirror_or_not_decided_or_not_exported_makes_no_pair(
    tmp_path: Path, second: DebateRecord, where: dict[str, Any]
) -> None:
    write(tmp_path / "out", held(1), second, **where)
    assert pairs(tmp_path / "out") == []


@pytest.mark.parametrize("first", [1, 2])
def test_no_half_is_written_while_its_mirror_is_open(tmp_path: Path, first: int) -> None:
    statuses = {first: Status.CANCELLED, 3 - first: Status.VOTING}
    pair = (
        make_record(make_debate(1, statuses[1])),
        make_record(make_debate(2, statuses[2], mirror_of=id_of(1))),
    )
    alone = make_record(make_debate(3, Status.CANCELLED))
    write(tmp_path / "out", *pair, alone)
    written = [row["debate_id"] for row in table(tmp_path / "out", "debates")]
    assert written == [alone.debate.id]


def test_the_same_data_gives_the_same_bytes_and_other_filters_or_keys_other_pseudonyms(
    tmp_path: Path,
) -> None:
    write(tmp_path / "one", languages=("en", "tr"))
    write(tmp_path / "two", *reversed(RECORDS), languages=("tr", "en"))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    write(tmp_path / "one", languages=("en", "tr"))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    write(tmp_path / "one")
    write(tmp_path / "two", languages=("en",))
    write(tmp_path / "three", keys=KEYS._replace(master=b"another"))
    sets = [voters(tmp_path / name) for name in ("one", "two", "three")]
    assert len(set.union(*sets)) == sum(len(found) for found in sets)


def test_a_debate_more_keeps_splits_and_changes_pseudonyms(tmp_path: Path) -> None:
    write(tmp_path / "one")
    write(tmp_path / "two", *RECORDS, make_record(make_debate(99)))
    splits = [
        {row["debate_id"]: row["split"] for row in table(tmp_path / name, "debates")}
        for name in ("one", "two")
    ]
    assert splits[0].items() <= splits[1].items()
    assert not voters(tmp_path / "one") & voters(tmp_path / "two")


def test_a_debate_revealed_while_it_is_written_waits_for_the_next(tmp_path: Path) -> None:
    class Growing(MemoryArchive):
        def newest(self, where: ExportFilter) -> datetime | None:
            found = super().newest(where)
            self.records = [*RECORDS, make_record(make_debate(99))]
            return found

    write(tmp_path / "one")
    archive = Growing(*RECORDS)
    write_export(archive, ExportFilter(), tmp_path / "two", KEYS, version="1.2.3")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_no_id_or_mention_is_anywhere(tmp_path: Path) -> None:
    mention = "<@U0CANARY01> <#700000000000000009|plaza> @everyone <!channel> @jane.canary"
    debate = make_debate(topic=f"Is it {mention}?", conditions=mention, language="tr")
    ballot = make_ballot(raw=mention, reasons=mention, problem=mention)
    record = make_record(
        debate,
        turns=[make_turn(1, mention)],
        ballots=[ballot],
        votes=[make_vote(880010, starter=True)],
    )
    write(tmp_path / "out", record, community="700000000000000001")
    everything = b"".join(contents(tmp_path / "out").values())
    names = b"".join(str(path).encode() for path in tmp_path.rglob("*"))
    for canary in ("U0CANARY01", "70000000000000000", "880010", "880001", "jane", "plaza"):
        assert canary.encode() not in everything + names
    for call in (b"everyone", b"<!channel>", b"<@"):
        assert call not in b"".join(
            path.read_bytes() for path in tmp_path.glob("out/data/*/*.jsonl")
        )


def test_keys_are_not_in_it(tmp_path: Path) -> None:
    keys = Keys(splits=b"canary of splits", master=b"canary of master")
    write(tmp_path / "out", keys=keys)
    everything = b"".join(contents(tmp_path / "out").values())
    for key in keys:
        assert key not in everything
        assert key.hex().encode() not in everything


def test_an_earlier_export_is_replaced_whole(tmp_path: Path) -> None:
    write(tmp_path / "out")
    write(tmp_path / "out", RECORDS[0])
    assert len(table(tmp_path / "out", "debates")) == 1
    write(tmp_path / "fresh", RECORDS[0])
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")
    assert {path.name for path in tmp_path.iterdir()} == {"out", "fresh"}


def test_an_empty_folder_is_used_folders_above_are_made_and_links_go_on_pointing(
    tmp_path: Path,
) -> None:
    out, link = tmp_path / "above" / "out", tmp_path / "link"
    link.symlink_to(out, target_is_directory=True)
    write(link)
    write(link)
    assert link.is_symlink()
    assert table(out, "debates")
    (tmp_path / "empty").mkdir()
    write(tmp_path / "empty")
    assert table(tmp_path / "empty", "debates")


@pytest.mark.parametrize("manifest", [None, b"{}", b"not JSON", b'{"kind": "other"}'])
def test_a_foreign_folder_is_refused(tmp_path: Path, manifest: bytes | None) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    if manifest is not None:
        (out / "manifest.json").write_bytes(manifest)
    before = contents(out)
    with pytest.raises(UsageError, match="other files than an export"):
        write(out)
    assert contents(out) == before
    assert list(tmp_path.iterdir()) == [out]


def test_what_was_added_to_an_export_is_not_lost_nor_a_file_in_its_place(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out)
    (out / "data" / "notes.txt").write_text("mine")
    (out / "debate").mkdir()
    (out / "debate" / "demo.db").write_text("mine too")
    lost = "other files, such as data/notes.txt, which would be lost; name another folder"
    with pytest.raises(UsageError, match=lost):
        write(out)
    assert (out / "data" / "notes.txt").read_text() == "mine"
    with pytest.raises(UsageError, match="is a file"):
        write(out / "data" / "notes.txt")


def test_a_failed_reading_leaves_the_old_export_whole_and_a_stopped_one_nothing(
    tmp_path: Path,
) -> None:
    write(tmp_path / "out", RECORDS[0])
    before = contents(tmp_path / "out")
    archive = MemoryArchive(*RECORDS, fails_after=12)
    with pytest.raises(StoreError, match="The database is gone"):
        write_export(archive, ExportFilter(), tmp_path / "out", KEYS, version="1")
    assert contents(tmp_path / "out") == before

    def stop(stage: str, done: int, total: int) -> None:
        if done == 3:
            raise StoppedError("enough")

    archive, out = MemoryArchive(*RECORDS), tmp_path / "two"
    with pytest.raises(StoppedError):
        write_export(archive, ExportFilter(), out, KEYS, stop, version="1")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_full_disk_or_a_swap_that_fails_is_one_clear_sentence_and_the_old_export_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "out", RECORDS[0])
    before = contents(tmp_path / "out")
    rename, failed = Path.rename, threading.Event()

    class Full(folder._Measured):
        def write(self, text: bytes) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    def refuse_once(path: Path, target: Path) -> Path:
        if target.name == "out" and not failed.is_set():
            failed.set()
            raise PermissionError(errno.EACCES, "Permission denied")
        return rename(path, target)

    for place, name, broken, said in (
        (folder, "_Measured", Full, r"No space left on device\. Free space"),
        (Path, "rename", refuse_once, "Permission denied"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(place, name, broken)
            with pytest.raises(RostrumError, match=said) as caught:
                write(tmp_path / "out")
        assert str(tmp_path / "out") in str(caught.value)
        assert contents(tmp_path / "out") == before
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
    (tmp_path / "file").write_text("")
    with pytest.raises(RostrumError, match=r"could not be written .+ directory\. Choose another"):
        write(tmp_path / "file" / "out")


def test_exports_to_one_place_leave_one_of_them_whole(tmp_path: Path) -> None:
    def attempt(count: int) -> object:
        try:
            return write(tmp_path / "out", *RECORDS[:count])
        except RostrumError as error:
            return error

    with ThreadPoolExecutor() as pool:
        done = list(pool.map(attempt, (3, 9, 20, 4, 8, 16)))
    assert any(isinstance(result, Manifest) for result in done)
    manifest = Manifest.model_validate_json((tmp_path / "out" / "manifest.json").read_bytes())
    assert len(table(tmp_path / "out", "debates")) == sum(manifest.rows["debates"].values())
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_languages_come_from_the_data(tmp_path: Path) -> None:
    spoken = ("no", "tr", "zh-Hant")
    records = [make_record(make_debate(n, language=code)) for n, code in enumerate(spoken)]
    write(tmp_path / "out", *records)
    assert read_front_matter(card_in(tmp_path / "out"))["language"] == ["no", "tr", "zh"]


def test_enough_debates_give_the_share_of_agreement(tmp_path: Path) -> None:
    other = Verdict(winner="B", p={"A": 0.1, "B": 0.9}, z=-2.0, valid=2, invalid=0)
    records = [make_record(make_debate(number)) for number in range(1, 41)]
    records[:10] = [replace(record, verdict=other) for record in records[:10]]
    records.append(make_record(make_debate(50), votes=[make_vote(1)]))
    write(tmp_path / "out", *records)
    card = card_in(tmp_path / "out")
    assert "decided by both: 40\n" in card
    assert "agreement: 75.0% (30 of 40; Wilson 95 % interval 59.8% to 85.8%)" in card
    late = make_debate(3).model_copy(update={"revealed_at": NOON + timedelta(days=9)})
    assert write(tmp_path / "out", make_record(late), *records[8:]).cutoff == late.revealed_at


def test_describes_every_column_and_repeats_nothing_that_was_said(tmp_path: Path) -> None:
    debate = make_debate(topic="---\nlicense: stolen {version}")
    record = make_record(debate, turns=[make_turn(1, "| a | table |")])
    write(tmp_path / "out", record)
    card = card_in(tmp_path / "out")
    assert "stolen" not in card
    assert "a | table" not in card
    for name in ("debates", "turns", "verdicts", "votes"):
        for column in table(tmp_path / "out", name)[0]:
            assert f"| `{column}` |" in card


def read_front_matter(card: str) -> dict[str, Any]:
    _, head, _ = card.split("---\n", 2)
    found: dict[str, Any] = yaml.safe_load(head)
    return found
