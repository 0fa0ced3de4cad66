"""What makes an export ready to be cited: code that runs, a citation, an archive that repeats."""

import hashlib
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd  # type: ignore[import-untyped]
import pytest
import yaml

from bot import __version__
from bot.commands.choice import EVERY_DEBATE
from bot.record.filters import ExportChoices
from engine.dataset.bundle import ROOT, beside_archive, write_archive
from engine.dataset.entry import Keys
from engine.dataset.tables import TABLES, ExportRequest, every_table
from engine.dataset.writer import write_export
from engine.store import DebateRecord
from engine.values.errors import RostrumError, UsageError
from engine.values.topics import SPLITS
from tests.doubles.archive import MemoryArchive
from tests.kit import make_ballot, make_debate, make_record, make_turn, make_vote

HOME = Path(__file__).parents[2]
KEYS = Keys(splits=b"splits", master=b"master")
RECORDS = tuple(make_record(make_debate(number)) for number in range(1, 25))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
WHERE = "path/to/this/folder"
EVERY = (*(table.name for table in TABLES), "settings")


def write(out: Path, *records: DebateRecord, license: str = "CC-BY-4.0", **asked: Any) -> Path:
    wanted = ExportRequest(license=license, **asked)
    archive = MemoryArchive(*(records or RECORDS))
    write_export(archive, wanted, out, KEYS, version="1.2.3")
    return out


def pack(out: Path, *records: DebateRecord, authors: tuple[str, ...] = (), **asked: Any) -> Path:
    with beside_archive(out) as folder:
        write(folder, *records, tables=EVERY, **asked)
        write_archive(folder, out, authors)
    return out


def files_in(out: Path) -> dict[str, bytes]:
    with ZipFile(out) as packed:
        return {name.removeprefix(f"{ROOT}/"): packed.read(name) for name in packed.namelist()}


def valid(citation: Path) -> bool:
    checker = Path(sys.executable).with_name("check-jsonschema")
    name = "vendor.citation-file-format"
    command = (checker, "--builtin-schema", name, citation)
    return subprocess.run(command, capture_output=True, timeout=120).returncode == 0


class Loaded:
    """A split as pandas reads it: `make test-datasets` runs the same code on the library itself."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    def to_pandas(self) -> pd.DataFrame:
        return self.frame

    def select_columns(self, names: list[str]) -> "Loaded":
        return Loaded(self.frame[names])


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(folder: str, name: str, split: str = "") -> Any:
        head = yaml.safe_load((Path(folder) / "README.md").read_text().split("---\n")[1])
        (config,) = [one for one in head["configs"] if one["config_name"] == name]
        frames = {
            file["split"]: pd.read_json(Path(folder) / file["path"], lines=True)
            for file in config["data_files"]
        }
        frames["all"] = pd.concat(frames.values())
        return Loaded(frames[split]) if split else frames

    double = types.ModuleType("datasets")
    double.__dict__["load_dataset"] = load_dataset
    monkeypatch.setitem(sys.modules, "datasets", double)


def run_card(out: Path) -> tuple[dict[str, Any], list[str]]:
    found: dict[str, Any] = {}
    blocks = BLOCK.findall((out / "README.md").read_text())
    for block in blocks:
        exec(block.replace(WHERE, str(out)), found)  # noqa: S102
    return found, blocks


def test_the_card_opens_with_code_that_runs_on_its_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = write(tmp_path / "out")
    text = (out / "README.md").read_text()
    headings = re.findall(r"^#+ .+", text, re.MULTILINE)
    assert headings[:2] == ["# Rostrum debates", "## First steps"]
    found, (_, agreement, pairs) = run_card(out)
    assert (agreement.count("\n"), pairs.count("\n")) == (5, 3)
    assert capsys.readouterr().out.startswith("100.0% of 24 debates decided by both\nby topic 100")
    assert "- agreement: too few debates" in text
    assert list(found["pairs"].frame) == ["prompt", "chosen", "rejected"]
    assert len(found["pairs"].frame)


@pytest.mark.parametrize(
    ("records", "asked", "blocks"),
    [
        ((make_record(make_debate(1), votes=[]),), {}, 1),  # decided by nobody
        ((), {"tables": ("votes",)}, 1),
        ((), {"tables": ("guesses",)}, 0),  # a table without a row
        ((RECORDS[0],), {}, 3),  # in one split
    ],
    ids=["undecided", "votes", "empty", "one"],
)
def test_the_card_has_no_code_for_what_is_not_there(
    tmp_path: Path, records: tuple[DebateRecord, ...], asked: dict[str, Any], blocks: int
) -> None:
    assert len(run_card(write(tmp_path / "out", *records, **asked))[1]) == blocks


@pytest.mark.parametrize("records", [RECORDS, RECORDS[:1], RECORDS[:6]], ids=len)
def test_every_table_has_every_split_or_the_card_says_why_not(
    tmp_path: Path, records: tuple[DebateRecord, ...]
) -> None:
    out = write(tmp_path / "out", *records)
    text = (out / "README.md").read_text()
    (nowhere,) = re.findall(r"^No debate here is in (.+), and so no table is", text, re.M) or [""]
    for table in TABLES:
        (why,) = re.findall(rf"^- `{table.name}` has no (.+): no debate there has", text, re.M) or [
            ""
        ]
        for split in SPLITS:
            there = (out / "data" / table.name / f"{split}.jsonl").exists()
            assert there + (f"`{split}`" in nowhere) + (f"`{split}`" in why) == 1


def test_an_archive_is_the_same_whenever_it_is_made_and_proves_itself_whole(
    tmp_path: Path,
) -> None:
    first = pack(tmp_path / "one.zip", authors=("Ada Lovelace", 'Grün: "x"\n- y'))
    second = pack(tmp_path / "above" / "two.zip", authors=("Ada Lovelace", 'Grün: "x"\n- y'))
    assert first.read_bytes() == second.read_bytes()
    files = files_in(first)
    lines = [line.split("  ") for line in files["SHA256SUMS"].decode().splitlines()]
    sums = {path: hashed for hashed, path in lines}
    assert set(sums) == set(files) - {"SHA256SUMS"}
    for path, text in files.items():
        assert path == "SHA256SUMS" or sums[path] == hashlib.sha256(text).hexdigest()
    assert {path.name for path in tmp_path.iterdir()} == {"one.zip", "above"}
    write(tmp_path / "plain", tables=EVERY)
    added = {"CITATION.cff", "SHA256SUMS"}
    plain = {str(path.relative_to(tmp_path / "plain")) for path in tmp_path.glob("plain/**/*.*")}
    assert set(files) - added == plain


@pytest.mark.parametrize("license", ["CC-BY-4.0", "LicenseRef-ours", None])
def test_the_citation_of_an_archive_is_valid(tmp_path: Path, license: Any) -> None:
    authors = ("Ada Lovelace", 'Grün: "x"\n- y') if license else ()
    files = files_in(pack(tmp_path / "one.zip", authors=authors, license=license))
    (tmp_path / "CITATION.cff").write_bytes(files["CITATION.cff"])
    assert valid(tmp_path / "CITATION.cff")
    cited = yaml.safe_load(files["CITATION.cff"])
    assert [one["name"] for one in cited["authors"]] == (
        list(authors) or ["The publisher of this dataset"]
    )
    assert ("license-url" in cited) == (license == "CC-BY-4.0")
    assert cited["identifiers"][0]["value"] == (
        f"sha256:{hashlib.sha256(files['manifest.json']).hexdigest()}"
    )
    assert cited["references"][0]["version"] == "1.2.3"


def test_the_citation_of_the_software_is_valid_and_of_this_version() -> None:
    assert valid(HOME / "CITATION.cff")
    assert yaml.safe_load((HOME / "CITATION.cff").read_text())["version"] == __version__


def test_settings_are_exact_and_name_no_one_and_no_model_that_took_no_part(
    tmp_path: Path,
) -> None:
    key, mention = "sk-canary0123456789abcdef", "<@U0CANARY01> @jane.canary"
    debate = make_debate(topic=f"Is it {mention}?", conditions=mention, language="tr")
    panel = debate.setup.panel
    absent = panel.roster[0].model_copy(update={"name": "absent-canary"})
    setup = debate.setup.model_copy(
        update={
            "menu": ("online/menu-canary",),
            "limits": {"words": 321.0},
            "panel": panel.model_copy(update={"roster": (*panel.roster, absent)}),
            "request": debate.setup.request.model_copy(update={"options": {"note": key}}),
        }
    )
    record = make_record(
        debate.model_copy(update={"setup": setup}),
        turns=[make_turn(1, mention)],
        ballots=[make_ballot(raw=mention, reasons=mention, problem=mention)],
        votes=[make_vote(880010, starter=True)],
    )
    files = files_in(pack(tmp_path / "one.zip", record))
    (text,) = [text for path, text in files.items() if path.startswith("data/settings/")]
    assert b'\\"words\\":321.0' in text
    assert setup.templates.encode() in text
    assert b"[key]" in text
    everything = b"".join(files[path] for path in files if "records" not in path)
    for canary in (b"U0CANARY01", b"jane", b"880010", b"absent-canary", b"menu-canary"):
        assert canary not in everything
    assert key.encode() not in text


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("out", None, r"--archive writes one file; name it .*out\.zip"),
        ("out.zip", b"not a zip", "no archive of an export; name another"),
        ("out.zip", b"", "no archive of an export; name another"),
    ],
)
def test_an_archive_replaces_nothing_but_an_archive(
    tmp_path: Path, name: str, text: bytes | None, said: str
) -> None:
    if text is not None:
        (tmp_path / name).write_bytes(text)
    with pytest.raises(UsageError, match=said):
        pack(tmp_path / name)
    assert text is None or (tmp_path / name).read_bytes() == text
    first = pack(tmp_path / "again.zip", RECORDS[0]).read_bytes()
    assert pack(tmp_path / "again.zip").read_bytes() != first


def test_an_archive_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RostrumError, match=r"could not be written .+ Choose another"):
        pack(tmp_path / "file" / "out.zip")


def test_an_archive_has_tables_and_authors_are_for_it_alone() -> None:
    assert every_table()[-1].name in ExportChoices(archive=True).wanted().tables
    for choices, said in (
        (ExportChoices(archive=True, kind="inspect"), "leave out --as inspect or --archive"),
        (ExportChoices(EVERY_DEBATE, authors="Ada"), "add --archive"),
    ):
        with pytest.raises(UsageError, match=said):
            choices.wanted()
