"""An export is published on a dataset hub: huggingface_hub itself against a hub on loopback."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.record.exchange import run_push
from bot.record.filters import ExportChoices
from engine.dataset.entry import Keys
from engine.dataset.folder import Manifest
from engine.dataset.tables import ExportRequest
from engine.dataset.writer import write_export
from engine.values.errors import RostrumError, UsageError
from tests.doubles.archive import MemoryArchive
from tests.doubles.hub import SIGNATURE, TOKEN, Hub
from tests.kit import make_debate, make_record

# huggingface_hub sends large files in a way that httpx2 would like it to spell otherwise.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")
REPO = "ann/debates"
RECORDS = [make_record(make_debate(number)) for number in range(1, 5)]


def write(
    out: Path,
    debates: int = 4,
    tables: tuple[str, ...] = ("debates", "turns", "votes", "preference"),
) -> Manifest:
    keys = Keys(splits=b"splits", master=b"master")
    archive = MemoryArchive(*RECORDS[:debates])
    return write_export(archive, ExportRequest(tables=tables), out, keys, version="1")


def contents(out: Path) -> dict[str, bytes]:
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    write(tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
async def hub(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[Hub]:
    """A hub without Xet; whatever happens, neither token nor signed address is logged."""
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", f"sqlite+aiosqlite:///{tmp_path}/none.db")
    caplog.set_level(logging.DEBUG)
    async with Hub() as opened:
        monkeypatch.setenv("HF_ENDPOINT", opened.origin)
        yield opened
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpc"))]
    said = "\n".join(record.getMessage() for record in ours)
    assert TOKEN not in said
    assert SIGNATURE not in said


async def push(folder: Path, *, repo: str = REPO, private: bool = False, on: str = "") -> None:
    await run_push(repo, folder, ExportChoices(), private=private, revision=on or None, yes=True)


async def test_an_export_is_there_as_it_was_written_and_its_next_one_replaces_it(
    hub: Hub, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await push(out, private=True)
    assert hub.files(REPO) == await asyncio.to_thread(contents, out)
    assert hub.private[REPO]
    assert hub.stored  # the large ones, apart
    assert f"{REPO} has the export now: {hub.origin}/datasets/{REPO}" in capsys.readouterr().out
    await push(out)  # the same again is no commit
    assert len(hub.commits) == 1
    await asyncio.to_thread(write, out, 1)
    await push(out)
    assert hub.files(REPO) == await asyncio.to_thread(contents, out)  # old splits are gone
    hub.files(REPO)[".gitattributes"] = b"kept"
    await push(out, on="v2")
    assert set(hub.branches[REPO]) == {"main", "v2"}


async def test_what_was_cut_off_goes_on_where_it_was(hub: Hub, out: Path) -> None:
    hub.script["/upload/"] = [200, 200, *["cut"] * 60]
    with pytest.raises(RostrumError, match="connection to the hub was lost; run the same command"):
        await push(out)
    assert hub.files(REPO) == {}
    before = set(hub.stored)
    assert len(before) > 0
    hub.script.clear()
    hub.asked.clear()
    await push(out)
    assert hub.files(REPO) == await asyncio.to_thread(contents, out)
    again = {asked.rpartition("/")[2] for asked in hub.asked if asked.startswith("PUT")}
    assert again
    assert not again & before


@pytest.mark.parametrize("place", ["/preupload/", "/batch", "/upload/", "/repos/create"])
async def test_a_limited_rate_is_waited_for_then_said(hub: Hub, out: Path, place: str) -> None:
    hub.script[place] = [429] * 100
    with pytest.raises(RostrumError, match="limits how often it is asked") as raised:
        await push(out)
    assert SIGNATURE not in str(raised.value)
    if place != "/repos/create":
        hub.script[place] = [429, 503]  # passing: it is asked again by itself
        await push(out)
        assert hub.files(REPO) == await asyncio.to_thread(contents, out)


async def test_a_token_without_rights_is_told_so(
    hub: Hub, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="may not write to bob/debates"):
        await push(out, repo="bob/debates")
    monkeypatch.setenv("HF_TOKEN", "hf_CANARYwrong")
    with pytest.raises(UsageError, match="does not accept the token") as raised:
        await push(out)
    assert "CANARY" not in str(raised.value)


@pytest.mark.parametrize("name", ["a/b/c", "debates", "ann/my debates", "ann/-", "ann/x.git"])
async def test_a_bad_name_is_told_before_anything_is_asked(hub: Hub, out: Path, name: str) -> None:
    """A name without an owner made a repository, and then failed."""
    with pytest.raises(UsageError, match="is no repository's name; write it as owner/name"):
        await push(out, repo=name)
    assert hub.asked == []


async def test_no_token_is_not_called_a_wrong_one(
    hub: Hub, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(out / "none"))
    with pytest.raises(UsageError, match="there is none here; set HF_TOKEN"):
        await push(out)
    assert hub.asked == []


async def test_a_hub_that_is_not_there_is_not_a_connection_that_was_lost(
    hub: Hub, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(RostrumError, match="hub cannot be reached; check the network"):
        await push(out)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UsageError, match="HF_HUB_OFFLINE is set"):
        await push(out)


async def test_nothing_but_an_unchanged_export_leaves_and_none_becomes_public_by_mistake(
    hub: Hub, out: Path
) -> None:
    with pytest.raises(UsageError, match="no export of Rostrum"):
        await push(out.parent)
    empty = out.with_name("empty")
    await asyncio.to_thread(write, empty, 1, ("guesses",))
    with pytest.raises(UsageError, match="nothing to publish"):
        await push(empty)
    await push(out)
    with pytest.raises(UsageError, match="is public; make it private"):
        await push(out, private=True)
    (out / "private-notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"private-notes\.txt"):
        await push(out)
    (out / "private-notes.txt").unlink()
    (out / "README.md").write_text("---\nchanged\n")
    with pytest.raises(UsageError, match="not as it was exported"):
        await push(out)
    assert len(hub.commits) == 1


async def test_chunked_uploads_of_small_files_are_published_and_skipped_too(
    hub: Hub, out: Path
) -> None:
    """The way that is taken where a hub has Xet: commits in parts."""
    hub.large, hub.xet = 1_000_000_000, hub.origin
    hub.script["/commit/"] = ["cut", 503]
    await push(out)
    assert hub.files(REPO) == await asyncio.to_thread(contents, out)
    await push(out)
    assert len(hub.commits) == 1


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (ConnectionError, "connection to the hub was lost; run the same command"),
        (TimeoutError, "connection to the hub was lost; run the same command"),
        (PermissionError, "may not write to ann/debates"),
        (RuntimeError, "answered with an error; try again later"),
    ],
)
async def test_what_hf_xet_raises_is_said_without_its_addresses(
    hub: Hub, out: Path, monkeypatch: pytest.MonkeyPatch, raised: type[Exception], said: str
) -> None:
    """Its storage speaks a protocol of its own, and it takes minutes to give one up."""

    def fail(*_: object, **__: object) -> None:
        raise raised(f"Network error: http://127.0.0.1/v1/xorbs?{SIGNATURE}")

    hub.xet = hub.origin
    monkeypatch.setattr("huggingface_hub.HfApi.upload_folder", fail)
    with pytest.raises(RostrumError, match=said) as found:
        await push(out)
    assert SIGNATURE not in str(found.value)


async def test_an_answer_of_the_hub_that_does_not_end_is_not_read(
    hub: Hub, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.hub.MOST_BYTES", 10)
    with pytest.raises(RostrumError, match="connection to the hub was lost"):
        await push(out)
